"""Tells what is slower than it should be: guidelines such as MPI_Bcast <= MPI_Scatter + MPI_Allgather, on several runs.

SOURCE is a run folder or run files that `scalkit measure` wrote, also of neighbourhood campaigns, with one or several message
sizes and MPI libraries; a folder of such folders, or of netCDF files; a file of another benchmark (docs/readers.md); or a CSV
file with the columns run, time and one for each parameter:

    operation,p,size,run,time
    my_bcast,8,1024,0,1.31e-05

    scalkit guidelines runs/sizes                                    the bundled guidelines that the measurements allow
    scalkit guidelines t.csv --guideline "my_bcast <= my_scatter + my_allgather" --guideline mine.toml
    scalkit guidelines t.csv --snippet fast.c --profile fast.json    what to call instead, as C and as a file
    scalkit guidelines t.csv --predict p --fail-on predicted         from which scale on models see a violation
    scalkit guidelines t.csv --report guidelines.html                everything as one page
    scalkit guidelines --list                                        the bundled guidelines
    scalkit guidelines --use fast.json -- mpiexec -n 4 ./prog        a program that calls what is faster, without a change

A cell of the table reads violated tests / tests (groups with a violation / groups); a group is all sizes of one setting.

Exit status: 1 a guideline is violated by measurements that may decide, or the program of --use fails; 2 wrong input or use;
0 otherwise. Measurements with more processes than cores, or beside other programs, do not decide; those of virtual time
always do.
"""

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

HELP = "what is slower than it should be, and what to use instead"

_FAIL_ON = ("inconclusive", "undecidable", "untested", "predicted")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `scalkit guidelines`."""
    parser.add_argument(
        "sources", nargs="*", metavar="SOURCE", help="run folder, run file, CSV file, or another benchmark's file"
    )
    parser.add_argument("--list", action="store_true", help="show the bundled guidelines and what they mean, and end")
    _add_judging(parser.add_argument_group("which guidelines, and how they are judged"))
    _add_predicting(parser.add_argument_group("what models say of larger scales"))
    _add_output(parser.add_argument_group("what is printed and written"))
    guidelines_use.add_arguments(parser.add_argument_group("a program that follows a profile"))


def _add_judging(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--guideline",
        action="append",
        default=[],
        metavar="TEXT",
        help="as in 'MPI_Gather <= MPI_Allgather' or 'a ~ b', a TOML file, or a bundled set, neighbourhood or classic; may be "
        "repeated (default: both sets)",
    )
    group.add_argument(
        "--p-threshold",
        type=float,
        default=0.001,
        metavar="P",
        help="most that a violation's adjusted p may be (default: 0.001)",
    )
    group.add_argument(
        "--v-threshold",
        type=float,
        default=1.03,
        metavar="V",
        help="least that a violation's ratio may be (default: 1.03)",
    )
    group.add_argument(
        "--test",
        choices=("auto", "rank-sum", "paired"),
        default="auto",
        help="paired compares run by run; auto does so where both sides share enough runs to show a single violation among all "
        "tests of a guideline (default: auto)",
    )
    group.add_argument(
        "--adjust",
        choices=("bh", "by", "none"),
        default="bh",
        help="p-values for the number of tests: Benjamini and Hochberg, Benjamini and Yekutieli, or not (default: bh)",
    )
    group.add_argument(
        "--varied", default="size", metavar="NAME", help="parameter whose values make up a group (default: size)"
    )
    group.add_argument(
        "--value", default="time", metavar="NAME", help="column or metric of the measured values (default: time)"
    )
    group.add_argument(
        "--ignore", action="append", default=[], metavar="NAME", help="a column that is no parameter; may be repeated"
    )
    group.add_argument(
        "--fail-on",
        action="append",
        default=[],
        choices=_FAIL_ON,
        help="exit with 1 also on tests without a clear answer, on guidelines without a test, or, with --predict, on a "
        "violation that only models see; may be repeated",
    )


def _add_predicting(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--predict", metavar="NAME", help="fit models along this parameter, such as p; it needs 5 values"
    )
    group.add_argument(
        "--up-to", type=float, metavar="X", help="how far to look (default: 256 times the largest measured value)"
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--by", metavar="NAME", help="a column of the table for each value of this parameter, such as p")
    group.add_argument(
        "--most", type=int, default=20, metavar="N", help="most violations that are told in sentences (default: 20)"
    )
    group.add_argument("--json", action="store_true", help="print JSON instead of the table")
    group.add_argument("--report", metavar="FILE", help="also write a page in HTML, with JSON and JUnit XML beside it")
    group.add_argument("--title", metavar="TEXT", help="title of the page")
    group.add_argument(
        "--profile", type=Path, metavar="FILE", help="also write the fastest choice for each p and size as JSON"
    )
    group.add_argument("--snippet", type=Path, metavar="FILE", help="also write C functions that call what is faster")
    group.add_argument("--force", action="store_true", help="replace existing files")


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
