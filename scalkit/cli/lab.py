"""Open JupyterLab on a copy of the notebooks, beginning with 00_quickstart, which is run unless the user changed it."""

import argparse
import os
import sys
from pathlib import Path

from scalkit.errors import UsageError
from scalkit.support.extras import require

_FIRST = "00_quickstart.ipynb"


def run(args: argparse.Namespace) -> int:
    """Copy what is missing, say so, and become JupyterLab."""
    from scalkit.reports.copies import copy_notebooks

    if args.port is not None and not 1 <= args.port <= 65535:
        raise UsageError(f"--port {args.port}: a number from 1 to 65535 is needed.")
    require("lab")
    copies = copy_notebooks(args.dir)
    for sentence in copies.sentences:
        sys.stdout.write(f"{sentence}\n")
    sys.stdout.write(f"JupyterLab opens {_FIRST} in {copies.folder}; Ctrl-C ends it.\n")
    sys.stdout.flush()
    is_own = _FIRST not in copies.kept  # what somebody else wrote is not run unasked
    words = command(copies.folder, browser=not args.no_browser, port=args.port, runs_first=is_own)
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # the kernel of this Python goes before those of the user's home
    os.execv(words[0], words)


def command(folder: Path, *, browser: bool, port: int | None, runs_first: bool = False) -> list[str]:
    """Return the words that start JupyterLab on a folder, with the Python that runs now; the first notebook may be run."""
    words = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{_FIRST}",
        "--LabApp.news_url=None",  # no question whether to fetch Jupyter's news
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    if runs_first:
        words.append(f"--LabApp.extra_labextensions_path={Path(__file__).parent / 'labextensions'}")
    if not browser:
        words.append("--no-browser")
    if port is not None:
        words.append(f"--port={port}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        words.append("--allow-root")  # as in containers; it listens on this machine only, behind a token
    return words
