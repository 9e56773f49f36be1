"""Open the documentation, which is part of the wheel, in a browser; no network is needed.

    scalkit docs                 the first page
    scalkit docs howto/ci        a page by its path

Exit status: 0, or 2 if there is no such page, or no site, as in a checkout before `make docs`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scalkit.errors import UsageError

HELP = "open the documentation"

_SITE = Path(__file__).resolve().parents[1] / "_shipped/site"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `scalkit docs`."""
    parser.add_argument("page", nargs="?", default="index", metavar="PAGE", help="path of a page, such as start/python")
    parser.add_argument("--no-open", action="store_true", help="only print where the page is")


def run(args: argparse.Namespace) -> int:
    """Open a page."""
    import webbrowser

    if not (_SITE / "index.html").is_file():
        raise UsageError(f"the documentation is not at {_SITE}; in a checkout 'make docs' builds it.")
    page = _SITE / f"{args.page.removesuffix('.html')}.html"
    if not page.is_file():
        raise UsageError(f"the documentation has no page {args.page!r}; leave it out, and search from the first page.")
    sys.stdout.write(f"{page}\n")
    if not args.no_open and not webbrowser.open(page.as_uri()):
        sys.stdout.write("No browser could be opened; open that file by hand.\n")
    return 0
