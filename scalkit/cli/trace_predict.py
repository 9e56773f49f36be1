"""The word ``predict`` of `scalkit trace`: how long a recorded program would take on another network."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from scalkit.errors import UsageError

if TYPE_CHECKING:
    from scalkit.trace_prediction import Prediction


def run(args: argparse.Namespace) -> int:
    """Print how long the program would take on each network; the status is 0."""
    from dataclasses import asdict

    from scalkit.trace_prediction import predict

    algorithms = {}
    for text in args.algorithm:
        operation, is_named, name = text.partition("=")
        if not is_named:
            raise UsageError(f"--algorithm {text!r} names no algorithm; write OPERATION=NAME, as in allreduce=ring.")
        algorithms[operation.strip()] = name.strip()
    how: dict[str, Any] = {"scale": args.scale, "library": args.library, "algorithms": algorithms}
    found = {name: predict(args.folder, name, **how) for name in args.network or ["cluster"]}
    if args.json:
        sys.stdout.write(json.dumps({name: asdict(one) for name, one in found.items()}, indent=2) + "\n")
    else:
        sys.stdout.write(_text(found, args.scale))
    return 0


def _text(found: dict[str, Prediction], scale: float) -> str:
    from scalkit.text import counted

    first = next(iter(found.values()))
    rows = [("network", "run", "computing, at most", "messages")]
    rows += [(name, _s(one.time_s), _s(one.computing_s), f"{one.messages:,}") for name, one in found.items()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    computing = "computing as recorded" if scale == 1 else f"{scale:g} s for one of computing"
    lines.append(
        f"Predicted from the end of MPI_Init to the begin of MPI_Finalize, {computing}; recorded: {_s(first.recorded_s)}."
    )
    if first.left_out:
        calls = ", ".join(f"{name} ({counted(n, 'call')})" for name, n in sorted(first.left_out.items()))
        lines.append(f"These take no time here: {calls}.")
    return "\n".join(lines) + "\n"


def _s(value: float) -> str:
    from scalkit.units import format_quantity

    return format_quantity(value, "s", 4) if value else "0 s"
