"""Keeps the results of many runs and machines in one folder, compares them, and tells which operation to choose.

put        files campaign folders, run files, and files of other programs that `scalkit validate` reads
runs       lists the runs; suites: what they measured; both can be filtered, as in --where machine=juwels* op=MPI_Bcast
load       writes chosen runs as one netCDF file, for scalkit and others
compare    curves in one plot and their ratios, with intervals and corrected significance
advise     an operation or one of its substitutes? per platform, processes and message size; and C to paste
validate   tell whether a submission can be merged; a process with limits and no network reads it; nothing is repaired
merge      takes over valid runs and retractions of another store, a folder or a zip
publish    writes a zip that can be cited, deposited and opened again, or a page that needs no server
report     writes a page about one run: its user and switches, all suites with quartiles, caveats
explore    shows the explorer as a page in the browser, by Voila, without JupyterLab
verify     checks every file of a store down to the bit, and who signed which run
sign       signs runs with an SSH key; trust: lets the signatures of a key count
retract    takes a run out of all answers; restore: undoes that
reindex    makes the index anew, which is never needed

A store is a folder of Parquet files, one for each run, that never change. Exit status: 0, 1 if something is refused, 2 for
wrong input or use.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit.cli.stores.pages import add_pages
from scalkit.cli.stores.statements import add_statements
from scalkit.errors import DataError, UsageError
from scalkit.text import counted, plain

if TYPE_CHECKING:
    import pandas as pd

    from scalkit.store.store import Store

HELP = "results of many machines: file, compare, advise, merge"

_NO_COLUMNS = frozenset(("retracted", "run_ids", "level", "keep_flagged"))
_OF_ADVISE = frozenset(("op", "statistic", "confidence", "n_draws", "seed", "store"))
"""Arguments that no filter of the action may take the place of."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `scalkit store`."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    put = _action(actions, "put", "file measurements: scalkit store put results runs/here", _put)
    put.add_argument("inputs", nargs="+", metavar="IN", help="campaign folders, run files, files of other programs")
    put.add_argument("--machine", help="name of the machine (default: its host name)")
    put.add_argument("--site", help="name of the place")
    put.add_argument("--user", help="name of the user who ran it (default: your login name)")
    put.add_argument("--contributor", default="", help="ORCID or name of the person who files it")
    put.add_argument("--licence", default="", help="SPDX name, as CC-BY-4.0")
    put.add_argument("--notes", default="", help="free text")
    runs = _action(actions, "runs", "list the runs", _runs)
    runs.add_argument("--retracted", action="store_true", help="also those that were retracted")
    _where(runs)
    _where(_action(actions, "suites", "list what was measured", _suites))
    load = _action(actions, "load", "write chosen runs as netCDF: scalkit store load results --out all.nc", _load)
    load.add_argument("--out", required=True, metavar="FILE", help="netCDF file to write")
    load.add_argument("--level", choices=("rep", "point"), default="rep", help="all repetitions, or a median each")
    _where(load)
    compare = _action(actions, "compare", "curves in one plot, and their ratios to the first", _compare)
    compare.add_argument(
        "choices",
        nargs="+",
        metavar="CHOICE",
        help="a curve: MPI_Gather, or name=value between commas, as in op=MPI_Gather,machine=vm,p=8 or op=MPI_Gather,run=3f2a; "
        "what leaves p or msg_By open becomes a curve for each",
    )
    _where(compare, "of all curves; ")
    compare.add_argument("--out", metavar="FILE", help="also save the joint plot: .svg .pdf .eps .csv")
    _statistic(compare)
    advise = _action(actions, "advise", "which to call: scalkit store advise results MPI_Gather", _advise)
    advise.add_argument("op", metavar="OP", help="operation of MPI, as MPI_Gather")
    advise.add_argument(
        "--c", choices=("ifdef", "runtime"), help="print C: platform known when compiled, or when it runs"
    )
    advise.add_argument(
        "--confidence", type=float, default=0.9, help="of intervals, and from which P on it is sure (0.9)"
    )
    advise.add_argument("--seed", type=int, default=0, help="of the bootstrap (0)")
    _where(advise)
    _statistic(advise)
    validate = _action(actions, "validate", "can it be merged?", _validate, what="a store, a zip of one, a run's file")
    validate.add_argument("--quiet", action="store_true", help="only the exit status")
    merge = _action(actions, "merge", "take over another store: scalkit store merge results theirs.zip", _merge)
    merge.add_argument("others", nargs="+", metavar="OTHER", help="stores, or zips of them")
    which = merge.add_mutually_exclusive_group()
    which.add_argument(
        "--all-retractions",
        action="store_true",
        help="also those that no trusted signer signed take runs out that are here; for stores of one group",
    )
    which.add_argument("--no-retractions", action="store_true", help="none takes out runs that are here")
    _add_publish(actions)
    add_pages(lambda name, text, act: _action(actions, name, text, act, "folder or zip of the store"))
    add_statements(lambda name, text, act: _action(actions, name, text, act), _opened)
    _action(actions, "reindex", "make the index anew", _reindex)


def _add_publish(actions: Any) -> None:
    publish = _action(actions, "publish", "a citable zip: scalkit store publish results --out results.zip", _publish)
    publish.add_argument("--out", required=True, metavar="FILE", help="the zip to write; with .html only the page")
    publish.add_argument("--title", default="", help="of the data set")
    publish.add_argument("--author", action="append", default=[], metavar="NAME", help="may be repeated")
    publish.add_argument("--licence", default="", help="SPDX name, as CC-BY-4.0 (default: that of the runs)")
    publish.add_argument("--description", default="", help="a sentence on what was measured, and why")
    publish.add_argument("--no-plots", action="store_true", help="without pictures, which need Chromium")


def _action(
    actions: Any, name: str, text: str, act: Callable[[argparse.Namespace], int], what: str = "folder of the store"
) -> argparse.ArgumentParser:
    sub: argparse.ArgumentParser = actions.add_parser(name, help=text.partition(":")[0], description=text)
    sub.add_argument("store", metavar="STORE" if name != "validate" else "PATH", help=what)
    if name != "explore":
        sub.add_argument("--json", action="store_true", help="print JSON instead of text")
    sub.set_defaults(act=act)
    return sub


def _where(parser: argparse.ArgumentParser, of: str = "") -> None:
    parser.add_argument(
        "--where",
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help=f"{of}only these; * stands for anything, several values stand between |: op=MPI_Gather|MPI_Bcast, run=3f2a|80c1",
    )


def _statistic(parser: argparse.ArgumentParser) -> None:
    words = ("min", "q1", "med", "q3", "max", "mean", "cut_mean")
    parser.add_argument("--statistic", choices=words, default="med", help="stands for the repetitions of a run (med)")


def run(args: argparse.Namespace) -> int:
    """Do what is asked and return the exit status."""
    return int(args.act(args))


def _opened(args: argparse.Namespace, *, writes: bool = False, sources: Sequence[str] = ()) -> Store:
    """Return the store; one is made only if it is written and all `sources` of what goes into it are there."""
    import scalkit as sk

    for source in sources:
        if not Path(source).exists():
            raise DataError(f"there is nothing at {source!r}; check the path.")
    if writes and not sources:
        sk.store.open(args.store, readonly=True)  # says so if there is none
    return sk.store.open(args.store, readonly=not writes)


def _filters(args: argparse.Namespace) -> dict[str, Any]:
    from scalkit.store.views.choices import value_of

    found: dict[str, Any] = {}
    for text in args.where:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"--where {text!r:.60} is no NAME=VALUE, as in machine=vm.")
        if name in _NO_COLUMNS or (args.action == "advise" and name in _OF_ADVISE):
            raise UsageError(f"--where cannot choose by {name!r}; see 'scalkit store {args.action} --help'.")
        found[name] = [value_of(part) for part in value.split("|")]
    return found


def _put(args: argparse.Namespace) -> int:
    store = _opened(args, writes=True, sources=args.inputs)
    options = {key: getattr(args, key) for key in ("machine", "site", "user", "contributor", "licence", "notes")}
    filed = store.put(args.inputs, **options)
    if args.json:
        return _print_json({"added": filed.added, "known": filed.known, "replaced": filed.replaced, "runs": len(store)})
    for run_id in filed.added:
        _say(f"added {run_id}")
    for run_id in filed.known:
        _say(f"there already {run_id}")
    for run_id in filed.replaced:
        _say(f"retracted {run_id}: replaced by a run with more launches")
    _say(f"{args.store}: {counted(len(store), 'run')}.")
    return 0


def _runs(args: argparse.Namespace) -> int:
    store = _opened(args)
    frame = store.runs(retracted=args.retracted, **_filters(args))
    if args.json:
        return _print_frame(frame)
    _table(
        frame,
        {"run_id": "Run", "platform": "Platform", "started": "Started", "suites": "Suites", "measurements": "Points"}
        | {"repetitions": "Repetitions", "site": "Site", "notes": "Notes"},
        "No run fits; leave out --where, or file some with 'scalkit store put'.",
    )
    return _problems(store)


def _suites(args: argparse.Namespace) -> int:
    store = _opened(args)
    frame = store.suites(**_filters(args))
    if args.json:
        return _print_frame(frame)
    from scalkit.store.views.explorer import fixed_words

    keys = ["platform", "op", "pattern", "metric", "x_name", "fixed", "datatype", "sync"]
    if len(frame):
        grouped = frame.groupby(keys, sort=False, dropna=False)
        frame = grouped.agg(
            runs=("run_id", "nunique"), points=("points", "max"), x_min=("x_min", "min"), x_max=("x_max", "max")
        )
        frame = frame.reset_index()
        frame["range"] = [f"{row.x_name} = {row.x_min} to {row.x_max}" for row in frame.itertuples()]
        frame["fixed"] = [fixed_words(text) for text in frame["fixed"]]
    _table(
        frame,
        {"platform": "Platform", "op": "Operation", "pattern": "Pattern", "metric": "Metric", "range": "Over"}
        | {"points": "Points", "fixed": "Fixed", "datatype": "Type", "runs": "Runs"},
        "No suite fits; leave out --where, or see 'scalkit store runs'.",
    )
    return _problems(store)


def _load(args: argparse.Namespace) -> int:
    import xarray as xr

    from scalkit.measure import write_netcdf

    loaded = _opened(args).load(level=args.level, **_filters(args))
    if isinstance(loaded, xr.DataTree):
        names = "; ".join(str(node.name) for node in loaded.leaves)
        raise UsageError(f"what fits cannot be one file: {names}; choose one with --where, as in platform='...'.")
    write_netcdf(loaded, args.out)
    if args.json:
        return _print_json({"path": args.out, "functions": [str(name) for name in loaded["function"].values]})
    _say(f"wrote {args.out}: {counted(loaded.sizes['function'], 'function')}, {counted(loaded.sizes['run'], 'run')}")
    return 0


def _compare(args: argparse.Namespace) -> int:
    comparison = _opened(args).compare(args.choices, where=_filters(args), statistic=args.statistic)
    saved = None
    if args.out:
        from scalkit.plots.store.suites import save

        saved = str(save(comparison, args.out))
    if args.json:
        return _print_json({**comparison.to_json(), "saved": saved})
    one, *others = (curve.label for curve in comparison.curves)
    alone = f"{1 + len(others)} curves of one choice" if others else f"one curve, {one}"
    _say(str(comparison) or f"{alone}; name another to compare it with.")
    if saved:
        _say(f"wrote {saved}")
    return 0


def _advise(args: argparse.Namespace) -> int:
    advice = _opened(args).advise(
        args.op, statistic=args.statistic, confidence=args.confidence, seed=args.seed, **_filters(args)
    )
    if args.json:
        return _print_json({**advice.to_json(), "c": getattr(advice, f"c_{args.c}")() if args.c else None})
    if args.c:
        sys.stdout.write(getattr(advice, f"c_{args.c}")())
        return 0
    _say(str(advice))
    if advice.missing:
        _say(f"Not measured: {', '.join(advice.missing)}.")
    return 0


def _validate(args: argparse.Namespace) -> int:
    import scalkit as sk

    report = sk.store.validate(args.store)
    if args.json:
        _print_json(report.to_json())
    elif not args.quiet:
        _say(str(report))
    return 0 if report.ok else 1


def _merge(args: argparse.Namespace) -> int:
    store = _opened(args, writes=True, sources=args.others)
    which = True if args.all_retractions else False if args.no_retractions else None
    merged = {other: store.merge(other, retractions=which) for other in args.others}
    if args.json:
        _print_json({other: one.to_json() for other, one in merged.items()})
    else:
        for other, one in merged.items():
            _say(f"{other}: {one}")
        _say(f"{args.store}: {counted(len(store), 'run')}.")
    return 1 if any(one.refused for one in merged.values()) else 0


def _publish(args: argparse.Namespace) -> int:
    from scalkit.plots.store.site import page, pictures, write_page

    store = _opened(args)
    if not args.out.lower().endswith((".zip", ".html", ".htm")):
        raise UsageError(f"--out {args.out!r} is neither a zip nor a page; let it end with .zip or .html.")
    if args.out.lower().endswith((".html", ".htm")):
        written = write_page(store, args.out, args.title)
        if args.json:
            return _print_json({"path": str(written), "runs": len(store)})
        _say(f"wrote {written}: {counted(len(store), 'run')}.")
        return 0
    extra = {"site/index.html": page(store, args.title).encode(), **({} if args.no_plots else pictures(store))}
    authors = tuple(args.author)
    texts = {"title": args.title, "licence": args.licence, "description": args.description}
    done = store.publish(args.out, authors=authors, extra=extra, **texts)
    if args.json:
        return _print_json({**vars(done), "path": str(done.path)})
    _say(f"wrote {done.path}: {counted(done.runs, 'run')}, {done.files} files, {done.size / 1e6:.3g} MB.")
    _say(f"SHA-256 {done.sha256}")
    return 0


def _reindex(args: argparse.Namespace) -> int:
    store = _opened(args, writes=True)
    number = store.reindex()
    if args.json:
        return _print_json({"runs": number, "problems": store.problems})
    _say(f"the index has {counted(number, 'run')}.")
    return _problems(store)


def _problems(store: Store) -> int:
    for text in store.problems:
        print(f"scalkit store: {plain(text)}", file=sys.stderr)  # noqa: T201
    return 0


def _table(frame: pd.DataFrame, columns: dict[str, str], nothing: str) -> None:
    """Print the columns that say something as a table."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not len(frame):
        _say(nothing)
        return
    shown = {key: title for key, title in columns.items() if (frame[key].astype(str) != "").any()}
    table = Table()
    for key, title in shown.items():
        is_number = frame[key].dtype.kind in "iu"
        table.add_column(title, justify="right" if is_number else "left", overflow="fold", no_wrap=key == "run_id")
    for row in frame[list(shown)].itertuples(index=False, name=None):
        cells = (str(cell)[:12] if key == "run_id" else str(cell) for key, cell in zip(shown, row, strict=True))
        table.add_row(*(Text(plain(cell)) for cell in cells))
    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    console.print(table)


def _print_frame(frame: pd.DataFrame) -> int:
    return _print_json(json.loads(frame.to_json(orient="records")))


def _print_json(value: Any) -> int:
    sys.stdout.write(plain(json.dumps(value, indent=2, ensure_ascii=False)) + "\n")
    return 0


def _say(text: str) -> None:
    sys.stdout.write(plain(text) + "\n")
