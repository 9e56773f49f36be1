"""The actions of `scalkit store` that show it: a report of one run, and the explorer as a page."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from scalkit.bundled import here_or_bundled
from scalkit.cli import page

Action = Callable[[str, str, Callable[[argparse.Namespace], int]], argparse.ArgumentParser]


def add_pages(action: Action) -> None:
    """Declare both actions; `action` adds one, with the store as its first argument."""
    report = action("report", "one run as a page: scalkit store report results 3f2a --out run.html", _report)
    report.add_argument("run_id", nargs="?", default="", metavar="RUN", help="id of the run, or its beginning (newest)")
    report.add_argument("--out", default="run.html", metavar="FILE", help="the page to write (default: run.html)")
    report.add_argument("--title", default="", help="of the page (default: made from the run)")
    report.add_argument("--force", action="store_true", help="replace an existing file")
    report.add_argument("--progress", action="store_true", help="say on standard error how far it is")
    explore = action("explore", "the explorer as a page in the browser, by Voila; reads only", _explore)
    page.add_arguments(explore)


def _report(args: argparse.Namespace) -> int:
    from scalkit.reports.store_run.report import run_report

    path = run_report(
        args.store,
        args.run_id,
        args.out,
        title=args.title,
        force=args.force,
        progress=_say_progress if args.progress else None,
    )
    text = json.dumps({"path": str(path)}, indent=2) if args.json else f"wrote {path}"
    sys.stdout.write(text + "\n")
    return 0


def _say_progress(done: int, total: int) -> None:
    print(f"[{done}/{total}] report", file=sys.stderr, flush=True)  # noqa: T201


def _explore(args: argparse.Namespace) -> int:
    """Become Voila on the notebook of the explorer."""
    import scalkit as sk

    page.checked(args)
    sk.store.open(args.store, readonly=True)  # what is wrong with it is said here, and not in the page
    store = str(here_or_bundled(Path(args.store)).absolute())
    page.show("notebooks/store_explorer.ipynb", args.store, args, {"SCALKIT_STORE": store})
    return 0
