"""Prints a page to PDF with the Chromium that is installed; its figures stay vectors."""

import datetime as dt
import os
import re
import shutil
import subprocess
from pathlib import Path

from scalkit.errors import ReportError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_VARIABLE = "SCALKIT_CHROMIUM"
_TIMEOUT_S = 180
_OPTIONS = (
    "--headless --disable-gpu --disable-quic --disable-sync --disable-extensions --disable-background-networking "
    "--disable-component-update --no-first-run --no-default-browser-check --no-pdf-header-footer "
    "--run-all-compositor-stages-before-draw --virtual-time-budget=60000"
).split()
_DATE = re.compile(rb"/(CreationDate|ModDate) \(D:[0-9]{14}[^)]*\)")


def find_browser() -> str:
    """Return the path of Chromium: the one that the variable ``SCALKIT_CHROMIUM`` names, else the first on ``PATH``.

    Raises ReportError if there is none.
    """
    named = os.environ.get(_VARIABLE)
    for name in (named,) if named else BROWSERS:
        path = shutil.which(name)
        if path:
            return path
    if named:
        raise ReportError(f"{_VARIABLE} names the browser {named!r}, which cannot be started; correct or unset it.")
    raise ReportError(
        f"a PDF is printed by Chromium, and none of {', '.join(BROWSERS)} is on PATH; install chromium, name one in "
        f"{_VARIABLE}, or leave the PDF out."
    )


def print_page(page: Path, browser: str, folder: Path) -> bytes:
    """Return a page as PDF.

    `page`: HTML that needs nothing from outside.
    `browser`: path of Chromium.
    `folder`: for the browser's own files.
    Raises ReportError if the browser fails, hangs, or writes no PDF.

    ``SOURCE_DATE_EPOCH`` sets the dates in the PDF.
    """
    out = folder / "page.pdf"
    root = ("--no-sandbox",) if os.geteuid() == 0 else ()
    command = [browser, *_OPTIONS, *root, f"--user-data-dir={folder / 'browser'}", f"--print-to-pdf={out}"]
    try:
        done = subprocess.run([*command, page.absolute().as_uri()], capture_output=True, timeout=_TIMEOUT_S, check=False)
        said = done.stderr.decode(errors="replace").strip().splitlines()
        content = out.read_bytes() if out.is_file() else b""
    except subprocess.TimeoutExpired as error:
        raise ReportError(
            f"{browser} did not print the report within {_TIMEOUT_S} s; try it again, or leave the PDF out."
        ) from error
    except OSError as error:
        raise ReportError(
            f"{browser} cannot print the report: {error.strerror or error}; leave the PDF out, or name another browser "
            f"in {_VARIABLE}."
        ) from error
    if done.returncode or not content.startswith(b"%PDF-"):
        words = f", its last words are: {said[-1][:200]}" if said else ""
        raise ReportError(
            f"{browser} printed no PDF (status {done.returncode}){words}; leave the PDF out, or name another browser in "
            f"{_VARIABLE}."
        )
    return _dated(content)


def _dated(content: bytes) -> bytes:
    """Return a PDF with the dates that ``SOURCE_DATE_EPOCH`` says, which take as many bytes."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if not epoch:
        return content
    stamp = dt.datetime.fromtimestamp(int(epoch), dt.UTC).strftime("%Y%m%d%H%M%S").encode()

    def replaced(match: re.Match[bytes]) -> bytes:
        found = match.group(0)
        fixed = b"/%s (D:%s+00'00')" % (match.group(1), stamp)
        return fixed if len(fixed) == len(found) else found[: found.index(b"D:") + 2] + stamp + found[found.index(b"D:") + 16 :]

    return _DATE.sub(replaced, content)
