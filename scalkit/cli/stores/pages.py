"""The actions of `scalkit store` that show it: a report of one run, and the explorer as a page."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from scalkit.bundled import here_or_bundled
from scalkit.cli import page


def report(args: argparse.Namespace) -> int:
    """Write the report of a run."""
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


def explore(args: argparse.Namespace) -> int:
    """Become Voila on the notebook of the explorer."""
    import scalkit as sk

    page.checked(args)
    sk.store.open(args.store, readonly=True)  # what is wrong with it is said here, and not in the page
    store = str(here_or_bundled(Path(args.store)).absolute())
    page.show("notebooks/store_explorer.ipynb", args.store, args, {"SCALKIT_STORE": store})
    return 0
