"""Open the app on measurements as a page in the browser, without a notebook in sight."""

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path

from scalkit.cli import page
from scalkit.cli.options.expected import expected_of
from scalkit.session import Session
from scalkit.support.bundled import here_or_bundled

_SHOWN = "SCALKIT_EXPLORE"


def run(args: argparse.Namespace) -> int:
    """Open the session once here, so that what is wrong is said here and not in the page."""
    page.require_usable(args)
    chosen = [str(here_or_bundled(Path(one)).absolute()) for one in args.runs], args.expect, args.expectation
    if args.expect and Path(args.expect).exists():
        chosen = chosen[0], str(Path(args.expect).absolute()), args.expectation
    opened(*chosen)
    what = ", ".join(args.runs) or "the bundled example"
    page.show("notebooks/explore.ipynb", what, args, {_SHOWN: json.dumps(chosen)})
    return 0


def opened(runs: Sequence[str], expect: str | None = None, expectations: Sequence[str] = ()) -> Session:
    """Return the session of measurements, or the one that is saved in a file or a report."""
    from scalkit.reports import bundled
    from scalkit.reports.inputs import kind_of

    if len(runs) == 1 and kind_of(runs[0]) == "session":
        return Session.load(runs[0])
    return Session(list(runs) or str(bundled("data/quickstart")), expected_of(expect, None, expectations))


def shown(source: str = "") -> Session:
    """Return the session of a source, else the one that `scalkit explore` asked for, else the bundled example."""
    return opened([source]) if source else opened(*json.loads(os.environ.get(_SHOWN, "[[]]")))
