"""Keeps the results of many runs and machines in one folder, compares them, and tells which operation to choose."""

import argparse
import json
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr
from rich.table import Table

import scalkit as sk
from scalkit.bundled import here_or_bundled
from scalkit.cli import page
from scalkit.cli.history import require_tolerance, tell
from scalkit.cli.terminal.printed import printed, terminal
from scalkit.errors import DataError, UsageError
from scalkit.measure import write_netcdf
from scalkit.store.store import Store
from scalkit.store.views.curves import value_of
from scalkit.store.views.explorer import fixed_words
from scalkit.store.wire import is_url
from scalkit.text import counted, plain


def verify(args: argparse.Namespace, store: Store) -> int:
    """Say whether every file is what was filed, and who signed it; return 1 if one is not."""
    verified, signed = store.verify(), store.signed()
    trusted = {run_id: one.signer for run_id, one in signed.items() if one.is_trusted}
    unknown = {run_id: one.signer for run_id, one in signed.items() if not one.is_trusted}
    unsigned = sorted(set(verified.intact) - signed.keys())
    lines = [f"  {counted(n, 'run')} signed by {name}." for name, n in sorted(Counter(trusted.values()).items())]
    lines += [
        f"  {counted(n, 'run')} signed under the name {name!r} by nobody whom you trust; "
        f"'scalkit store trust {name} KEY.pub' lets a key of that name count."
        for name, n in sorted(Counter(unknown.values()).items())
    ]
    lines += [f"  {counted(len(unsigned), 'run')} without a signature."] if unsigned else []
    if store.folder.has_signers:
        lines.append("  The list of signers in the store is ignored: only your own list counts.")
    told = {**verified.to_json(), "trusted": trusted, "unknown": unknown, "unsigned": unsigned}
    _print(args, told, str(verified), *lines)
    return 0 if verified.ok else 1


def sign(args: argparse.Namespace, store: Store) -> int:
    """Sign runs."""
    found = store.sign(args.key, args.runs, args.name)
    return _print(args, {"signed": found}, f"signed {counted(len(found), 'run')}.")


def trust(args: argparse.Namespace) -> int:
    """Let the signatures of a key count."""
    path = sk.store.trust(args.name, args.public_key)
    told = {"trusted": args.name, "signers": str(path)}
    return _print(args, told, f"signatures of {args.name} count for you in all stores; {path} lists whom you trust.")


def state(args: argparse.Namespace, store: Store) -> int:
    """Retract a run, or restore it."""
    full = store.resolve(args.run_id)
    (store.retract if args.action == "retract" else store.restore)(full, args.reason, by=args.by, key=args.key)
    done = f"{args.action}ed" if args.action == "retract" else "restored"
    return _print(args, {done: full, "reason": args.reason}, f"{done} {full}: {args.reason}")


def _print(args: argparse.Namespace, value: Any, *lines: str) -> int:
    """Print a value as JSON, or lines."""
    for text in [json.dumps(value, indent=2, ensure_ascii=False)] if args.json else lines:
        sys.stdout.write(plain(text) + "\n")
    return 0


def report(args: argparse.Namespace) -> int:
    """Write the report of a run."""
    from scalkit.reports import write_report

    path = write_report("run", args.out, force=args.force, store=args.store, run=args.run_id, title=args.title).html
    return _print(args, {"path": str(path)}, f"wrote {path}")


def explore(args: argparse.Namespace) -> int:
    """Become Voila on the notebook of the explorer."""
    page.checked(args)
    opened = sk.store.open(args.store, readonly=True)  # what is wrong with it is said here, and not in the page
    if is_url(args.store):
        raise UsageError(
            f"the explorer needs a store that is here; 'scalkit store merge FOLDER {opened.folder.shown}' makes a copy."
        )
    store = str(here_or_bundled(Path(args.store)).absolute())
    page.show("notebooks/store_explorer.ipynb", args.store, args, {"SCALKIT_STORE": store})
    return 0


_NO_COLUMNS = frozenset(("retracted", "run_ids", "level", "keep_flagged", "by", "tolerance"))
_OF_ADVISE = frozenset(("op", "statistic", "confidence", "store"))
"""Arguments that no filter of the action may take the place of."""


def run(args: argparse.Namespace) -> int:
    """Do what is asked and return the exit status."""
    return _ACTIONS[args.action](args)


def _opened(args: argparse.Namespace, *, writes: bool = False, sources: Sequence[str] = ()) -> Store:
    """Return the store; one is made only if it is written and all `sources` of what goes into it are there."""
    for source in sources:
        if not is_url(source) and not Path(source).exists():
            raise DataError(f"there is nothing at {source!r}; check the path.")
    if writes and not sources:
        sk.store.open(args.store, readonly=True)  # says so if there is none
    return sk.store.open(args.store, readonly=not writes)


def _filters(args: argparse.Namespace) -> dict[str, Any]:
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
    options = {
        key: getattr(args, key) for key in ("machine", "site", "network", "topology", "user", "contributor", "licence", "notes")
    }
    filed = store.put(args.inputs, **options)
    said = [f"added {run_id}" for run_id in filed.added] + [f"there already {run_id}" for run_id in filed.known]
    said += [f"retracted {run_id}: replaced by a run with more launches" for run_id in filed.replaced]
    said += [f"flagged {run_id}: {text}" for run_id, text in filed.flagged]
    if filed.flagged:
        said += ["No answer has a flagged run until you accept it: scalkit store restore STORE RUN --reason '...'"]
    lacking = store.runs(run_id=list(filed.added), network="", clock="real") if filed.added else []
    if len(lacking):
        said += [f"The network of {counted(len(lacking), 'run')} is unknown; put takes --network and --topology."]
    told: dict[str, Any] = {"added": filed.added, "known": filed.known, "replaced": filed.replaced}
    told |= {"flagged": [{"run_id": run_id, "text": text} for run_id, text in filed.flagged], "runs": len(store)}
    return _print(args, told, *said, f"{args.store}: {counted(len(store), 'run')}.")


def _runs(args: argparse.Namespace) -> int:
    store = _opened(args)
    return _table(
        args,
        store,
        store.runs(retracted=args.retracted, **_filters(args)),
        {"run_id": "Run", "platform": "Platform", "started": "Started", "suites": "Suites", "measurements": "Points"}
        | {"repetitions": "Repetitions", "site": "Site", "notes": "Notes"},
        "No run fits; leave out --where, or file some with 'scalkit store put'.",
    )


def _suites(args: argparse.Namespace) -> int:
    store = _opened(args)
    frame = store.suites(**_filters(args))
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


def _history(args: argparse.Namespace) -> int:
    require_tolerance(args)
    return tell(_opened(args).history(args.by, tolerance=args.tolerance, **_filters(args)), args)


def _load(args: argparse.Namespace) -> int:
    loaded = _opened(args).load(level=args.level, **_filters(args))
    if isinstance(loaded, xr.DataTree):
        names = "; ".join(str(node.name) for node in loaded.leaves)
        raise UsageError(f"what fits cannot be one file: {names}; choose one with --where, as in platform='...'.")
    write_netcdf(loaded, args.out)
    told = {"path": args.out, "functions": [str(name) for name in loaded["function"].values]}
    sizes = f"{counted(loaded.sizes['function'], 'function')}, {counted(loaded.sizes['run'], 'run')}"
    return _print(args, told, f"wrote {args.out}: {sizes}")


def _compare(args: argparse.Namespace) -> int:
    comparison = _opened(args).compare(args.choices, where=_filters(args), statistic=args.statistic)
    saved = None
    if args.out:
        from scalkit.plots.store.suites import save

        saved = str(save(comparison, args.out))
    one, *others = (curve.label for curve in comparison.curves)
    alone = f"{1 + len(others)} curves of one choice" if others else f"one curve, {one}"
    said = str(comparison) or f"{alone}; name another to compare it with."
    return _print(args, {**comparison.to_json(), "saved": saved}, said, *([f"wrote {saved}"] if saved else []))


def _advise(args: argparse.Namespace) -> int:
    advice = _opened(args).advise(args.op, statistic=args.statistic, confidence=args.confidence, **_filters(args))
    code = getattr(advice, f"c_{args.c}")() if args.c else None
    if code is not None and not args.json:
        sys.stdout.write(code)
        return 0
    lacking = [f"Not measured: {', '.join(advice.missing)}."] if advice.missing else []
    return _print(args, {**advice.to_json(), "c": code}, str(advice), *lacking)


def _validate(args: argparse.Namespace) -> int:
    report = sk.store.validate(args.store)
    _print(args, report.to_json(), *([] if args.quiet else [str(report)]))
    return 0 if report.ok else 1


def _merge(args: argparse.Namespace) -> int:
    store = _opened(args, writes=True, sources=args.others)
    merged = {other: store.merge(other, retractions=not args.no_retractions) for other in args.others}
    said = [f"{other}: {one}" for other, one in merged.items()]
    told = {other: one.to_json() for other, one in merged.items()}
    _print(args, told, *said, f"{args.store}: {counted(len(store), 'run')}.")
    return 1 if any(one.refused for one in merged.values()) else 0


def _publish(args: argparse.Namespace) -> int:
    from scalkit.plots.store.site import page, pictures, write_page, write_site

    store = _opened(args)
    is_folder = args.out.endswith("/") or not Path(args.out).suffix
    if not is_folder and not args.out.lower().endswith((".zip", ".html", ".htm")):
        raise UsageError(f"--out {args.out!r} is neither a zip, a page nor a folder; let it end with .zip, .html or /.")
    if args.out.lower().endswith((".html", ".htm")):
        written = write_page(store, args.out, args.title)
        return _print(args, {"path": str(written), "runs": len(store)}, f"wrote {written}: {counted(len(store), 'run')}.")
    texts = {"title": args.title, "licence": args.licence, "description": args.description}
    if is_folder:
        site = write_site(store, args.out, authors=tuple(args.author), extra={} if args.no_plots else pictures(store), **texts)
        seen = f"to see it: python3 -m http.server --directory {shlex.quote(args.out)}"
        return _print(args, {"path": str(site), "runs": len(store)}, f"wrote {site}: {counted(len(store), 'run')}; {seen}")
    extra = {"site/index.html": page(store, args.title).encode(), **({} if args.no_plots else pictures(store))}
    done = store.publish(args.out, authors=tuple(args.author), extra=extra, **texts)
    said = f"wrote {done.path}: {counted(done.runs, 'run')}, {done.files} files, {done.size / 1e6:.3g} MB."
    return _print(args, {**vars(done), "path": str(done.path)}, said, f"SHA-256 {done.sha256}")


def _reindex(args: argparse.Namespace) -> int:
    store = _opened(args, writes=True)
    number = store.reindex()
    _print(args, {"runs": number, "problems": store.problems}, f"the index has {counted(number, 'run')}.")
    return _problems(args, store)


_ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "put": _put,
    "runs": _runs,
    "suites": _suites,
    "load": _load,
    "compare": _compare,
    "advise": _advise,
    "history": _history,
    "validate": _validate,
    "merge": _merge,
    "publish": _publish,
    "report": report,
    "explore": explore,
    "verify": lambda args: verify(args, _opened(args)),
    "sign": lambda args: sign(args, _opened(args, writes=True)),
    "trust": trust,
    "retract": lambda args: state(args, _opened(args, writes=True)),
    "restore": lambda args: state(args, _opened(args, writes=True)),
    "reindex": _reindex,
}


def _problems(args: argparse.Namespace, store: Store) -> int:
    for text in [] if args.json else store.problems:
        print(f"scalkit store: {plain(text)}", file=sys.stderr)  # noqa: T201
    return 0


def _table(args: argparse.Namespace, store: Store, frame: pd.DataFrame, columns: dict[str, str], nothing: str) -> int:
    """Print the columns that say something as a table; as JSON all."""
    if args.json or not len(frame):
        _print(args, json.loads(frame.to_json(orient="records")), nothing)
        return _problems(args, store)
    shown = {key: title for key, title in columns.items() if (frame[key].astype(str) != "").any()}
    table = Table()
    for key, title in shown.items():
        is_number = frame[key].dtype.kind in "iu"
        table.add_column(title, justify="right" if is_number else "left", overflow="fold", no_wrap=key == "run_id")
    for row in frame[list(shown)].itertuples(index=False, name=None):
        cells = (str(cell)[:12] if key == "run_id" else str(cell) for key, cell in zip(shown, row, strict=True))
        table.add_row(*map(printed, cells))
    terminal().print(table)
    return _problems(args, store)
