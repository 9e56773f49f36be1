"""A notebook as a page in the browser, by Voila: its code is not shown, and nothing is asked of another server."""

import argparse
import os
import secrets
import subprocess
import sys
from pathlib import Path

from scalkit.errors import UsageError


def require_usable(args: argparse.Namespace) -> None:
    """Check that a page can be shown.

    Raises UsageError if the port is invalid, MissingPackageError without Voila.
    """
    from scalkit.support.extras import require

    if not 1 <= args.port <= 65535:
        raise UsageError(f"--port {args.port}: a number from 1 to 65535 is needed.")
    require("voila")


def show(notebook: str, what: str, args: argparse.Namespace, environment: dict[str, str]) -> None:
    """Become Voila on a bundled notebook, which reads what to show from the environment.

    The address holds a token, without which nobody else on this machine gets at the kernel behind the page.
    """
    token = secrets.token_urlsafe(24)
    address = f"http://127.0.0.1:{args.port}/?token={token}"
    sys.stdout.write(f"Voila shows {what} at {address}; Ctrl-C ends it.\n")
    sys.stdout.flush()
    words = command(notebook, args.port)
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("JUPYTER_PATH")])]
    own = {"JUPYTER_PREFER_ENV_PATH": "1", "JUPYTER_PATH": os.pathsep.join(paths), "JUPYTER_TOKEN": token}
    os.environ |= own | environment
    if not args.no_browser:  # Voila itself would open the address without the token
        subprocess.Popen([sys.executable, "-c", _OPEN, str(args.port)])
    os.execv(words[0], words)


_OPEN = """
import os, socket, sys, time, webbrowser
for _ in range(600):
    time.sleep(0.1)
    with socket.socket() as door:
        if not door.connect_ex(("127.0.0.1", int(sys.argv[1]))):
            webbrowser.open(f"http://127.0.0.1:{sys.argv[1]}/?token={os.environ['JUPYTER_TOKEN']}")
            break
"""
"""Opens the page as soon as somebody listens; the token stays in the environment, which other users do not see."""


def command(notebook: str, port: int) -> list[str]:
    """Return the words that start Voila on a bundled notebook, with the Python that runs now."""
    from scalkit.reports import bundled

    words = [sys.executable, "-m", "voila", str(bundled(notebook)), f"--port={port}", "--Voila.ip=127.0.0.1"]
    return [*words, "--template=scalkit", "--no-browser", "--Voila.auto_token=True"]
