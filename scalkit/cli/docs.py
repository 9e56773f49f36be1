"""Open the documentation, which is part of the wheel, in a browser; no network is needed."""

import argparse
import sys
import webbrowser
from pathlib import Path

from scalkit.errors import UsageError

_SITE = Path(__file__).resolve().parents[1] / "_shipped/site"


def run(args: argparse.Namespace) -> int:
    """Open a page."""
    if not (_SITE / "index.html").is_file():
        raise UsageError(f"the documentation is not at {_SITE}; in a checkout 'make docs' builds it.")
    page = _SITE / f"{args.page.removesuffix('.html')}.html"
    if not page.is_file():
        raise UsageError(f"the documentation has no page {args.page!r}; leave it out, and search from the first page.")
    sys.stdout.write(f"{page}\n")
    if not args.no_open and not webbrowser.open(page.as_uri()):
        sys.stdout.write("No browser could be opened; open that file by hand.\n")
    return 0
