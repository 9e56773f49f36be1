"""Tells what is slower than it should be: guidelines such as MPI_Bcast <= MPI_Scatter + MPI_Allgather, on several runs."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit.cli import guidelines_use
from scalkit.errors import ReportError, UsageError
from scalkit.whole_file import whole_file

if TYPE_CHECKING:
    from scalkit.guidelines import Assessment
    from scalkit.guidelines.predictions import Prediction


_FAIL_ON = ("inconclusive", "undecidable", "untested", "predicted")


def run(args: argparse.Namespace) -> int:
    """Assess, print and write; return 0 or 1."""
    if args.list:
        return _list(args.json)
    if args.use:
        return guidelines_use.run(args)
    if args.check or args.mpi:
        raise UsageError(
            f"--{'check' if args.check else 'mpi'} is about a program that follows a profile; name it with --use."
        )
    if not args.sources:
        raise UsageError("there is nothing to assess; name a run folder or a CSV file, or give --list.")
    if args.predict is None and ("predicted" in args.fail_on or args.up_to is not None):
        word = "--up-to" if args.up_to is not None else "--fail-on predicted"
        raise UsageError(f"{word} is about models; name the parameter to predict along, as in --predict p.")
    for path, option in ((args.profile, "--profile"), (args.snippet, "--snippet")):
        _require_place(path, option, args.force)
    from scalkit.cli.tables.guidelines import show

    found, predictions = _assessed(args)
    status = max(found.exit_status([w for w in args.fail_on if w != "predicted"]), _predicted(args, predictions))
    report = _report(args) if args.report else None
    written = _written(args, found)
    if args.json:
        content = found.to_dict() | {"exit_status": status, "predictions": [one.to_dict() for one in predictions]}
        content |= {"remedies": _remedies(found)} | ({"report": str(report)} if report else {})
        sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    else:
        paths = [*written, *([report] if report else [])]
        show(found, predictions, status, by=args.by, most=args.most, written=paths, along=args.predict)
    return status


def _assessed(args: argparse.Namespace) -> tuple[Assessment, tuple[Prediction, ...]]:
    from scalkit.guidelines import assess
    from scalkit.guidelines.catalogue import CATALOGUES
    from scalkit.guidelines.tables import read_tables

    found = assess(
        read_tables(args.sources, value=args.value),
        args.guideline or CATALOGUES,
        **_options(args),
        ignore=("repetition", *args.ignore),
    )
    if args.by is not None:
        found.table(args.by)  # refuses an unknown name before anything is written
    if args.predict is None:
        return found, ()
    from scalkit.guidelines.fitted import predictions

    return found, predictions(found, args.predict, highest=args.up_to)


def _predicted(args: argparse.Namespace, predictions: tuple[Prediction, ...]) -> int:
    return int("predicted" in args.fail_on and any(one.is_failure for one in predictions))


def _remedies(found: Assessment) -> list[dict[str, Any]]:
    from scalkit.guidelines.remedies import remedies

    return [
        {"instead_of": one.level, "use": one.use, "decides": one.decides, "sentence": one.sentence}
        for one in remedies(found)
    ]


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of an assessment that were given."""
    names = ("p_threshold", "v_threshold", "test", "adjust", "varied", "value")
    return {name: getattr(args, name) for name in names}


def _report(args: argparse.Namespace) -> Path:
    from scalkit.reports.guidelines.report import guidelines_report

    return guidelines_report(
        args.sources,
        args.guideline or None,
        args.report,
        force=args.force,
        title=args.title,
        **_options(args),
        ignore=args.ignore,
        predict=args.predict or "",
        up_to=args.up_to,
        fail_on=args.fail_on,
    ).html


def _written(args: argparse.Namespace, found: Assessment) -> list[Path]:
    """Write the snippet and the profile, and return where they are."""
    from scalkit.guidelines.profile import profile
    from scalkit.guidelines.snippet import c_snippet

    if args.snippet:
        _write(args.snippet, c_snippet(found), "--snippet")
    if args.profile:
        _write(args.profile, profile(found).to_json(), "--profile")
    return [path for path in (args.snippet, args.profile) if path]


def _require_place(path: Path | None, option: str, force: bool) -> None:
    if path is None:
        return
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise ReportError(f"cannot write {path}: it is no place for a file; choose another path for {option}.")
    if path.exists() and not force:
        raise ReportError(f"{path} is there already; choose another path for {option}, or allow it (--force).")


def _write(path: Path, text: str, option: str) -> None:
    with whole_file(path, ReportError, f"choose another path for {option}") as part:
        part.write_text(text, encoding="utf-8")


def _list(as_json: bool) -> int:
    """Print the bundled guidelines."""
    from scalkit.guidelines.catalogue import CATALOGUES, guidelines

    sets = {name: guidelines(name) for name in CATALOGUES}
    if as_json:
        rows = [
            {"set": name, "name": one.name, "guideline": str(one), "meaning": one.meaning, "metarule": one.metarule}
            for name, those in sets.items()
            for one in those
        ]
        sys.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
        return 0
    from scalkit.cli.tables.guidelines import show_catalogues

    show_catalogues(sets)
    return 0
