"""Finds out who waits for whom in a trace, above all for the progress of one-sided communication."""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import xarray as xr

from scalkit.cli.terminal.printed import aligned, print_either
from scalkit.cli.terminal.profiles import profile_text
from scalkit.cli.terminal.progress import terminated_like_interrupted
from scalkit.cli.terminal.ranks import launched
from scalkit.errors import DataError, UsageError
from scalkit.support.text import as_percent, counted, plain
from scalkit.support.units import format_quantity
from scalkit.trace import Options, analyse, read_result, write_result
from scalkit.trace.calls.profile import HEADER, read_profile
from scalkit.trace.files.cube import write_cube
from scalkit.trace.files.otf2 import read_otf2, write_otf2
from scalkit.trace.files.perfetto import write_perfetto
from scalkit.trace.files.reader import read_header
from scalkit.trace.local.ranks import over_world
from scalkit.trace.results.summary import TITLES, lacks_progress, share, summary
from scalkit.why import Prediction, predict

_OF_ANALYSIS = ("out", "keep_going", "no_causes", "no_progress")


def run(args: argparse.Namespace) -> int:
    """Do what the word says and return the exit status."""
    return {"analyse": _analyse, "convert": _convert, "predict": _predict, "report": _report}[args.word](args)


def _analyse(args: argparse.Namespace) -> int:
    path = Path(args.trace)
    is_result = path.is_file() and path.suffix != ".otf2"
    is_profile = (path / HEADER).is_file()
    if is_result or is_profile:
        stray = [name for name in _OF_ANALYSIS if getattr(args, name)] + ["search"] * (args.search != "posting")
        if stray:
            raise UsageError(f"{path} is no trace, and --{stray[0].replace('_', '-')} goes with one; leave it out.")
    if is_profile:
        profile = read_profile(path)
        print_either(args.json, profile.to_dict(), profile_text(profile))
        return 0
    ds = read_result(path) if is_result else _analysed(args)
    if args.fail_above is not None and lacks_progress(ds):
        raise DataError("waiting for progress is not known where calls were left out; record all, or leave --fail-above out.")
    told = _told(ds)
    waited = sum(share(ds, name) for name in ("wait_for_progress", "wait_for_grant") if name in told["totals"])
    print_either(args.json, told, plain(_text(told)))
    return 1 if args.fail_above is not None and 100 * waited > args.fail_above else 0


def text_of(ds: xr.Dataset) -> str:
    """Return the totals of a result, and its longest waits, as text."""
    return plain(_text(_told(ds))) + "\n"


def _told(ds: xr.Dataset) -> dict[str, Any]:
    more = {name: json.loads(ds.attrs[name]) for name in ("problems", "options")}
    return {**summary(ds), **more}


def _analysed(args: argparse.Namespace) -> xr.Dataset:
    options = Options(args.search, tuple(args.no_progress))
    how: dict[str, Any] = {"keep_going": args.keep_going, "causes": not args.no_causes}
    here = launched()
    if args.trace.endswith(".otf2"):
        if here is not None:
            raise UsageError("several processes share a trace, not an archive; make one of it with scalkit trace convert.")
        ds = _of_archive(args.trace, options, how)
    elif here is None:
        ds = analyse(args.trace, options, **how)
    else:
        with over_world(here.size) as comm:
            ds = analyse(args.trace, options, comm=comm, **how)
    if args.out and (here is None or here.rank == 0):
        write_result(ds, args.out)
    return ds


def _of_archive(archive: str, options: Options, how: dict[str, Any]) -> xr.Dataset:
    with tempfile.TemporaryDirectory(prefix="scalkit-") as made:
        read_otf2(archive, Path(made) / "trace", keep_going=how["keep_going"])
        return analyse(Path(made) / "trace", options, **how)


def _text(told: dict[str, Any]) -> str:
    def seconds(ns: int) -> str:
        return "0 s" if ns == 0 else format_quantity(ns * 1e-9, "s")

    totals = told["totals"]
    time = totals["time"]
    what = "simulated, " if told["simulated"] else ""
    lines = [f"{what}{told['locations']} locations, {told['paths']} call paths, {seconds(time)} of all locations together", ""]
    rows = []
    for name, title in sorted(TITLES.items(), key=lambda one: -totals.get(one[0], 0)):
        if totals.get(name):
            rows.append((title, seconds(totals[name]), as_percent(totals[name] / time, ".1f") if time else ""))
    if not rows and told["problems"]:
        lines.append("What is left of the trace shows no wait; that says nothing about what was left out.")
    elif not rows:
        lines.append("Nobody waited for anybody, as far as the patterns tell.")
    lines += _table(("waits", "time", "of all time"), rows)
    if "wait_for_progress" in totals:
        lines += ["", _progress_line(totals, seconds)]
    if totals.get("wait_for_grant_bound"):
        grants = totals["wait_for_grant"], totals["wait_for_grant_bound"]
        lines.append(f"Waiting for grants of locks is {_range(*grants, seconds)}.")
    if told["where"]:
        found = [
            (TITLES[row["metric"]], seconds(row["ns"]), f"{row['most_at']}: {seconds(row['most_ns'])}", row["path"])
            for row in told["where"]
        ]
        lines += ["", *_table(("longest waits", "time", "most at location", "in"), found)]
    if told["causes"]:
        found = [(TITLES[row["metric"]], seconds(row["ns"]), str(row["location"]), row["path"]) for row in told["causes"]]
        lines += ["", *_table(("caused", "time", "by location", "which was in"), found)]
    lines += _why(told, seconds)
    lines += ["", "left out:", *(f"  {one}" for one in told["problems"])] if told["problems"] else []
    return "\n".join(lines)


def _why(told: dict[str, Any], seconds: Any) -> list[str]:
    """Return what delays others most, what that costs, and what being faster there would gain."""
    run = told["totals"].get("critical_path", 0)
    rows = [
        (
            row["path"],
            str(row["location"]),
            seconds(row["ns"]),
            f"{seconds(row['gain_ns'])}, {as_percent(row['gain_ns'] / run, '.1f')}",
        )
        for row in told.get("delay_cost", ())
        if "gain_ns" in row
    ]
    if not rows:
        return []
    on_it = told["critical_path"][0]
    most = f"{seconds(on_it['ns'])} of it {on_it['path']} of location {on_it['location']}"
    head = ("reasons of waiting", "location", "cost", "10 % faster, the run is shorter by at most")
    return ["", *_table(head, rows), "", f"The critical path, the run, is {seconds(run)} long, {most}."]


def _progress_line(totals: dict[str, Any], seconds: Any) -> str:
    wait, bound, unseen = (totals[name] for name in ("wait_for_progress", "wait_for_progress_bound", "without_progress"))
    more = f"; {unseen} calls ended without progress of a target being seen" if unseen else ""
    return f"Waiting for progress is {_range(wait, bound, seconds)}{more}."


def _range(wait: int, bound: int, seconds: Any) -> str:
    """Return in words how long a wait was; a call with several targets may wait for one while another is in a call."""
    if wait > bound:
        return f"{seconds(wait)}, in {seconds(bound)} of which at most no target was in any call"
    if wait == bound:
        return str(seconds(wait))
    return f"between {seconds(wait)} and {seconds(bound)}"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    return aligned([head, *rows]) if rows else []


def _convert(args: argparse.Namespace) -> int:
    """Make a trace of an archive, or of a trace what the name of the target says, and say what is in it."""
    source, target, keep_going = args.source, args.target, args.keep_going
    more: list[str] = []
    if source.endswith(".otf2"):
        found = read_otf2(source, target, keep_going=keep_going)
        said = f"{counted(found['locations'], 'location')}, {counted(found['events'], 'event')}"
        said += f" in {target}; see the waits with: scalkit trace analyse {target}"
        more = read_header(target).not_read
    elif target.endswith(".json"):
        counts = write_perfetto(source, target, keep_going=keep_going)
        said = ", ".join(f"{n} {what}" for what, n in counts.items()) + f" in {target}; open it at ui.perfetto.dev"
    elif target.endswith(".cubex"):
        ds = analyse(source, keep_going=keep_going)
        said = f"{write_cube(ds, target)} metrics in {target}"
        more = json.loads(ds.attrs["problems"])
    else:
        events = write_otf2(source, target, keep_going=keep_going)
        said = f"{counted(events, 'event')} in {Path(target) / 'traces.otf2'}"
    sys.stdout.write("\n".join([said, *(f"left out: {one}" for one in more)]) + "\n")
    return 0


def _predict(args: argparse.Namespace) -> int:
    """Print how long the program would take on each network; the status is 0."""
    algorithms = {}
    for text in args.algorithm:
        operation, is_named, name = text.partition("=")
        if not is_named:
            raise UsageError(f"--algorithm {text!r} names no algorithm; write OPERATION=NAME, as in allreduce=ring.")
        algorithms[operation.strip()] = name.strip()
    how: dict[str, Any] = {"scale": args.scale, "library": args.library, "algorithms": algorithms}
    words = [word.strip() for word in (args.processes or "").split(",") if word.strip()]
    if bad := [word for word in words if not word.isdecimal()]:
        raise UsageError(f"--processes {args.processes!r}: {bad[0]!r} is no number; write numbers, as in 64,1024.")
    found: dict[str, Prediction] = {}
    for name in args.network or ["cluster"]:
        for count in words or [""]:
            key = f"{name}, {count} processes" if count else name
            found[key] = predict(args.folder, name, **how, processes=int(count) if count else None)
    print_either(args.json, {name: asdict(one) for name, one in found.items()}, _prediction_text(found, args.scale))
    return 0


def _prediction_text(found: dict[str, Prediction], scale: float) -> str:
    first = next(iter(found.values()))
    rows = [("network", "run", "computing, at most", "messages")]
    for name, one in found.items():
        between = f" ({_s(one.low_s)} to {_s(one.high_s)})" if one.high_s > one.low_s else ""
        rows.append((name, f"{_s(one.time_s)}{between}", _s(one.computing_s), f"{one.messages:,}"))
    lines = aligned(rows)
    computing = "computing as recorded" if scale == 1 else f"{scale:g} s for one of computing"
    lines.append(
        f"Predicted from the end of MPI_Init to the begin of MPI_Finalize, {computing}; recorded: {_s(first.recorded_s)}."
    )
    if first.left_out:
        calls = ", ".join(f"{name} ({counted(n, 'call')})" for name, n in sorted(first.left_out.items()))
        lines.append(f"These take no time here: {calls}.")
    return "\n".join(lines)


def _s(value: float) -> str:
    return format_quantity(value, "s", 4) if value else "0 s"


def _report(args: argparse.Namespace) -> int:
    """Write the page, say where it is, and return the exit status."""
    from scalkit.reports import write_report

    with terminated_like_interrupted():
        result = write_report(
            "waiting",
            args.out,
            runs=args.runs,
            region=args.region,
            expected=_expected(args.expect),
            fail_above=args.fail_above,
            keep_going=args.keep_going,
            force=args.force,
        )
    told = {"answer": result.answer, "exit_status": result.status, "report": str(result.html)}
    print_either(args.json, told, f"{result.answer}\nwrote {result.html}")
    return result.status


def _expected(texts: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        region, is_named, growth = text.rpartition("=")
        region = region.strip() if is_named else "program"
        if not region or not growth.strip():
            raise UsageError(f"--expect {text!r} says too little; write a growth, as in 'log(p)', or REGION=GROWTH.")
        if region in found:
            raise UsageError(f"--expect names {region!r} twice; write one growth for it.")
        found[region] = growth.strip()
    return found
