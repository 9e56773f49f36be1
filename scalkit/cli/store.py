"""Keeps the results of many runs and machines in one folder, compares them, and tells which operation to choose."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr
from rich.table import Table

import scalkit as sk
from scalkit.cli.terminal.printed import printed, terminal
from scalkit.errors import DataError, StoreError, UsageError
from scalkit.measure import write_netcdf
from scalkit.store.store import Store
from scalkit.store.views.curves import fixed_words, value_of
from scalkit.support.text import counted, plain

_NO_COLUMNS = frozenset(("retracted", "by", "statistic", "tolerance", "store"))
"""Arguments of the store's methods that no filter may take the place of."""


def run(args: argparse.Namespace) -> int:
    """Do what is asked and return the exit status."""
    return _ACTIONS[args.action](args)


def filters(args: argparse.Namespace, *further: str) -> dict[str, Any]:
    """Return the filters that `--where` names; `further` are arguments that none may take the place of."""
    found: dict[str, Any] = {}
    for text in args.where:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"--where {text!r:.60} is no NAME=VALUE, as in machine=vm.")
        if name in _NO_COLUMNS or name in further:
            raise UsageError(f"--where cannot choose by {name!r}; see 'scalkit store --help'.")
        found[name] = [value_of(part) for part in value.split("|")]
    return found


def _opened(args: argparse.Namespace, *, writes: bool = False, sources: Sequence[str] = ()) -> Store:
    """Return the store, after a check that all `sources` of what goes into it are there."""
    for source in sources:
        if not Path(source).exists():
            raise DataError(f"there is nothing at {source!r}; check the path.")
    return sk.store.open(args.store, readonly=not writes)


def _print(args: argparse.Namespace, value: Any, *lines: str) -> int:
    """Print a value as JSON, or lines."""
    for text in [json.dumps(value, indent=2, ensure_ascii=False)] if args.json else lines:
        sys.stdout.write(plain(text) + "\n")
    return 0


def _put(args: argparse.Namespace) -> int:
    store = _opened(args, writes=True, sources=args.inputs)
    names = ("machine", "site", "network", "topology", "user", "contributor", "licence", "notes")
    filed = store.put(args.inputs, **{name: getattr(args, name) for name in names})
    said = [f"added {run_id}" for run_id in filed.added] + [f"there already {run_id}" for run_id in filed.known]
    said += [f"retracted {run_id}: replaced by a run with more launches" for run_id in filed.replaced]
    said += [f"flagged {run_id}: {text}" for run_id, text in filed.flagged]
    if filed.flagged:
        said += ["No answer has a flagged run until you accept it: scalkit store retract STORE RUN --restore --reason '...'"]
    lacking = store.runs(run_id=list(filed.added), network="", clock="real") if filed.added else []
    if len(lacking):
        said += [f"The network of {counted(len(lacking), 'run')} is unknown; put takes --network and --topology."]
    told: dict[str, Any] = {"added": filed.added, "known": filed.known, "replaced": filed.replaced}
    told |= {"flagged": [{"run_id": run_id, "text": text} for run_id, text in filed.flagged], "runs": len(store)}
    return _print(args, told, *said, f"{args.store}: {counted(len(store), 'run')}.")


def _runs(args: argparse.Namespace) -> int:
    store = _opened(args)
    if args.suites:
        return _suites(args, store)
    return _table(
        args,
        store,
        store.runs(retracted=args.retracted, **filters(args)),
        {"run_id": "Run", "platform": "Platform", "started": "Started", "suites": "Suites", "measurements": "Points"}
        | {"repetitions": "Repetitions", "site": "Site", "notes": "Notes"},
        "No run fits; leave out --where, or file some with 'scalkit store put'.",
    )


def _suites(args: argparse.Namespace, store: Store) -> int:
    frame = store.suites(**filters(args))
    keys = ["platform", "op", "pattern", "metric", "x_name", "fixed", "datatype", "sync"]
    if len(frame) and not args.json:
        grouped = frame.groupby(keys, sort=False, dropna=False)
        frame = grouped.agg(runs=("run_id", "nunique"), points=("points", "max"), x_min=("x_min", "min"), x_max=("x_max", "max"))
        frame = frame.reset_index()
        frame["range"] = [f"{row.x_name} = {row.x_min} to {row.x_max}" for row in frame.itertuples()]
        frame["fixed"] = [fixed_words(text) for text in frame["fixed"]]
    return _table(
        args,
        store,
        frame,
        {"platform": "Platform", "op": "Operation", "pattern": "Pattern", "metric": "Metric", "range": "Over"}
        | {"points": "Points", "fixed": "Fixed", "datatype": "Type", "runs": "Runs"},
        "No suite fits; leave out --where, or see 'scalkit store runs'.",
    )


def _table(args: argparse.Namespace, store: Store, frame: pd.DataFrame, columns: dict[str, str], nothing: str) -> int:
    """Print the columns that say something as a table; as JSON all."""
    if args.json or not len(frame):
        _print(args, json.loads(frame.to_json(orient="records")), nothing)
    else:
        shown = {key: title for key, title in columns.items() if (frame[key].astype(str) != "").any()}
        table = Table()
        for key, title in shown.items():
            is_number = frame[key].dtype.kind in "iu"
            table.add_column(title, justify="right" if is_number else "left", overflow="fold", no_wrap=key == "run_id")
        for row in frame[list(shown)].itertuples(index=False, name=None):
            cells = (str(cell)[:12] if key == "run_id" else str(cell) for key, cell in zip(shown, row, strict=True))
            table.add_row(*map(printed, cells))
        terminal().print(table)
    for text in [] if args.json else store.problems:
        print(f"scalkit store: {plain(text)}", file=sys.stderr)  # noqa: T201
    return 0


def _load(args: argparse.Namespace) -> int:
    loaded = _opened(args).load(**filters(args))
    if isinstance(loaded, xr.DataTree):
        names = "; ".join(str(node.name) for node in loaded.leaves)
        raise UsageError(f"what fits cannot be one file: {names}; choose one with --where, as in platform='...'.")
    write_netcdf(loaded, args.out)
    told = {"path": args.out, "functions": [str(name) for name in loaded["function"].values]}
    sizes = f"{counted(loaded.sizes['function'], 'function')}, {counted(loaded.sizes['run'], 'run')}"
    return _print(args, told, f"wrote {args.out}: {sizes}")


def _compare(args: argparse.Namespace) -> int:
    comparison = _opened(args).compare(args.choices, where=filters(args), statistic=args.statistic)
    saved = None
    if args.out:
        from scalkit.plots.store.suites import save

        saved = str(save(comparison, args.out))
    one, *others = (curve.label for curve in comparison.curves)
    alone = f"{1 + len(others)} curves of one choice" if others else f"one curve, {one}"
    said = str(comparison) or f"{alone}; name another to compare it with."
    return _print(args, {**comparison.to_json(), "saved": saved}, said, *([f"wrote {saved}"] if saved else []))


def _advise(args: argparse.Namespace) -> int:
    advice = _opened(args).advise(args.op, statistic=args.statistic, **filters(args, "op"))
    code = getattr(advice, f"c_{args.c}")() if args.c else None
    if code is not None and not args.json:
        sys.stdout.write(code)
        return 0
    lacking = [f"Not measured: {', '.join(advice.missing)}."] if advice.missing else []
    return _print(args, {**advice.to_json(), "c": code}, str(advice), *lacking)


def _validate(args: argparse.Namespace) -> int:
    """Say what others could take over, and who signed it; return 1 if something is refused, or flagged and not accepted."""
    report = sk.store.validate(args.store)
    try:
        store = sk.store.open(args.store, readonly=True)
    except (DataError, StoreError):  # a run's file, or a store that is refused as a whole
        store = None
    told, lines = ({}, []) if store is None else _signers(store)
    _print(args, {**report.to_json(), **told}, str(report), *lines)
    return 0 if report.ok else 1


def _signers(store: Store) -> tuple[dict[str, Any], list[str]]:
    """Return who signed the runs of a store, as plain values and in lines."""
    signed = store.signed()
    trusted = {run_id: one.signer for run_id, one in signed.items() if one.is_trusted}
    unknown = {run_id: one.signer for run_id, one in signed.items() if not one.is_trusted}
    n_unsigned = len(set(store.folder.run_ids()) - signed.keys())
    lines = [f"  {counted(n, 'run')} signed by {name}." for name, n in sorted(Counter(trusted.values()).items())]
    lines += [
        f"  {counted(n, 'run')} signed under the name {name!r} by nobody whom you trust; "
        f"'scalkit store trust {name} KEY.pub' lets a key of that name count."
        for name, n in sorted(Counter(unknown.values()).items())
    ]
    lines += [f"  {counted(n_unsigned, 'run')} without a signature."] if n_unsigned and signed else []
    return {"trusted": trusted, "unknown": unknown}, lines


def _merge(args: argparse.Namespace) -> int:
    store = _opened(args, writes=True, sources=args.others)
    merged = {other: store.merge(other) for other in args.others}
    said = [f"{other}: {one}" for other, one in merged.items()]
    told = {other: one.to_json() for other, one in merged.items()}
    _print(args, told, *said, f"{args.store}: {counted(len(store), 'run')}.")
    return 1 if any(one.refused for one in merged.values()) else 0


def _publish(args: argparse.Namespace) -> int:
    """Write a zip, or its page alone."""
    from scalkit.plots.store.site import page, write_page

    store = _opened(args)
    if args.out.lower().endswith((".html", ".htm")):
        written = write_page(store, args.out, args.title)
        return _print(args, {"path": str(written), "runs": len(store)}, f"wrote {written}: {counted(len(store), 'run')}.")
    texts = {"title": args.title, "licence": args.licence, "authors": tuple(args.author)}
    done = store.publish(args.out, page=page(store, args.title), **texts)
    said = f"wrote {done.path}: {counted(done.runs, 'run')}, {done.files} files, {done.size / 1e6:.3g} MB."
    return _print(args, {**vars(done), "path": str(done.path)}, said, f"SHA-256 {done.sha256}")


def _sign(args: argparse.Namespace) -> int:
    found = _opened(args, writes=True).sign(args.key, args.runs, args.name)
    return _print(args, {"signed": found}, f"signed {counted(len(found), 'run')}.")


def _trust(args: argparse.Namespace) -> int:
    path = sk.store.trust(args.name, args.public_key)
    told = {"trusted": args.name, "signers": str(path)}
    return _print(args, told, f"signatures of {args.name} count for you in all stores; {path} lists whom you trust.")


def _retract(args: argparse.Namespace) -> int:
    store = _opened(args, writes=True)
    run_id, done = store.resolve(args.run_id), "restored" if args.restore else "retracted"
    (store.restore if args.restore else store.retract)(run_id, args.reason, by=args.by, key=args.key)
    return _print(args, {done: run_id, "reason": args.reason}, f"{done} {run_id}: {args.reason}")


_ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "put": _put,
    "runs": _runs,
    "load": _load,
    "compare": _compare,
    "advise": _advise,
    "validate": _validate,
    "merge": _merge,
    "publish": _publish,
    "sign": _sign,
    "trust": _trust,
    "retract": _retract,
}
