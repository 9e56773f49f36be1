"""Choose the algorithms of an MPI library: forced, measured, written as the library's own file, and measured again."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from scalkit.bench.campaign.folder import write_whole
from scalkit.bench.libraries.targets import find_targets
from scalkit.bench.tuning.tuning import Gain, Tuner, Tuning
from scalkit.cli.options.measuring_rules import counts_of
from scalkit.cli.terminal.printed import aligned
from scalkit.cli.terminal.progress import resumable, terminated_like_interrupted
from scalkit.errors import UsageError
from scalkit.measure.virtual_time import LEFT_OUT, numbers_in_words
from scalkit.support.task_bar import task_bar
from scalkit.support.text import capital

_SIZES = "64,1024,8192,65536,262144"


def run(args: argparse.Namespace) -> int:
    """Tune, write, print; return 0 or 2."""
    counts, out = counts_of(args.processes, "-n"), Path(args.out)
    try:
        sizes = tuple(sorted({int(word) for word in args.size.split(",")}))
    except ValueError as error:
        raise UsageError(f"--size {args.size!r:.60}: whole numbers of bytes are needed, as in {_SIZES}.") from error
    with terminated_like_interrupted():
        (target,) = find_targets([args.mpi] if args.mpi else [], clock=args.clock, network=args.network)
        with resumable(out), task_bar(sys.stderr, "measure") as bar:
            tuner = Tuner(out, target.mpi, counts, sizes, tuple(args.op), target.mpi.usual_runs, on_progress=bar)
            found = tuner.run()
    content = _content(tuner, found)
    write_whole(out / "tune.json", json.dumps(content, indent=1) + "\n")
    for text in found.failures[:5]:
        sys.stderr.write(f"scalkit model: {text}\n")
    sys.stdout.write(json.dumps(content, indent=1) + "\n" if args.json else _text(tuner, found))
    return 2 if found.failures else 0


def _content(tuner: Tuner, found: Tuning) -> dict[str, Any]:
    return {
        "library": tuner.mpi.name,
        "clock": "virtual" if tuner.mpi.is_virtual else "real",
        **tuner.mpi.facts,
        "runs": tuner.runs,
        "least": tuner.least,
        "rules": [
            {"operation": op, "algorithm": one.choice.name, "word": one.choice.word, "p": list(one.p), "size_B": list(one.size)}
            for op, those in found.rules.items()
            for one in those
        ],
        "predicted": [_plain(one) for one in found.predicted],
        "measured": [_plain(one) for one in found.measured],
        "refused": [_plain(one) for one in found.refused],
        "files": [str(path) for path in found.files],
        "failures": list(found.failures),
    }


def _plain(one: Gain) -> dict[str, Any]:
    operation, p, size = one.place
    ratios = {"ratio": one.ratio, "low": one.low, "high": one.high}
    return {"operation": operation, "p": p, "size_B": size, "algorithm": one.algorithm.name, **ratios}


def _text(tuner: Tuner, found: Tuning) -> str:
    clock = f"virtual time: {numbers_in_words(tuner.mpi.facts['virtual'])}" if tuner.mpi.is_virtual else "real time"
    lines = [f"{tuner.mpi.name}, {clock}"]
    if not found.measured:
        return "\n".join(
            [*lines, f"Nothing is faster than what the library does by itself, by {tuner.least:g} times and the noise.", ""]
        )
    before = {one.place: one for one in found.predicted}
    rows = [("operation", "p", "size", "algorithm", "forced", "with the file", "95 %")]
    for one in found.measured:
        op, p, size = one.place
        forced = before.get(one.place)
        ratio = f"{forced.ratio:.2f}" if forced else "between"
        span = "exact" if one.low == one.high else f"{one.low:.2f} to {one.high:.2f}"
        rows.append((op, str(p), "" if op == "barrier" else f"{size} B", one.algorithm.name, ratio, f"{one.ratio:.2f}", span))
    lines += ["How many times as fast as by itself: the algorithm forced, and the library with its file"]
    lines += aligned(rows)
    if found.refused:
        lines.append(f"{len(found.refused)} choices were no gain when they were measured again, or between, and were taken out.")
    if tuner.mpi.is_virtual:
        lines.append(f"{capital(LEFT_OUT)}.")
    names = [str(path) for path in found.files]
    return "\n".join([*lines, f"Written: {', '.join([*names, str(tuner.out / 'tune.json')])}", ""])
