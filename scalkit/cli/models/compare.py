"""Compare models with measured collective operations, over message sizes and numbers of processes.

RUN are campaigns of several sizes: scalkit measure collectives --sizes 8..65536 --out runs. The model of a message
comes from the same machine: a model card, a catalogue with the model point-to-point (.toml), a platform of SimGrid (.xml),
or a table of known algorithms (.csv). For every function it is said

  which algorithm each cell seems to use, where that switches, and where another one is predicted to be faster,
  how well times at sizes that were held out are predicted from messages alone,
  how latency and time per byte grow with the processes, and whether O(S log P) or O(S + log P) holds.

    scalkit model compare runs --message card.toml
    scalkit model compare runs --message card.toml --function MPI_Bcast --report models.html

Exit status: 0, or 2 for wrong input or use; with --report 1 as `scalkit report` ends.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scalkit.perfmodels.collectives.study import Studied

HELP = "models against measured collective operations"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `scalkit model compare`."""
    add = parser.add_argument
    add(
        "runs",
        nargs="+",
        metavar="RUN",
        help="a folder of campaigns, campaigns of one size each, or a file over p and S",
    )
    add("--message", required=True, metavar="FILE", help="model of a message: .toml, .xml or .csv")
    add("--function", action="append", metavar="NAME", help="only this one; may be given several times")
    add("--report", metavar="FILE", help="also write a report as one HTML file")
    add(
        "--expect",
        metavar="FILE",
        help="of the report: a TOML file or a catalogue (default: the best known algorithms)",
    )
    add("--force", action="store_true", help="replace an existing report")
    add("--json", action="store_true", help="print JSON instead of text")


def run(args: argparse.Namespace) -> int:
    """Print what the models say, and return 0; with a report its status."""
    import scalkit as sk
    from scalkit.perfmodels.collectives.study import EXPECTED, study
    from scalkit.perfmodels.files.sources import message_of

    if args.report is not None:
        from scalkit.reports.writer.target import Target

        Target.of(args.report, force=args.force)
    message = message_of(args.message)
    runs: Any = args.runs if len(args.runs) > 1 else args.runs[0]
    data = sk.read(runs, parameter=["p", "S"])
    found = study(data, message, args.function)
    if args.json:
        sys.stdout.write(json.dumps([_told(one) for one in found], indent=2) + "\n")
    else:
        sys.stdout.write("\n".join(_text(one) for one in found) + "\n")
    if args.report is None:
        return 0
    result = sk.report(
        args.runs,
        args.expect or {one.function: EXPECTED[one.function] for one in found if one.function in EXPECTED},
        args.report,
        template="models",
        force=args.force,
        parameter=["p", "S"],
        message=args.message,
        functions=args.function or (),
    )
    (sys.stderr if args.json else sys.stdout).write(f"report: {result.html}\n{result.answer}\n")
    return result.status


def _told(one: Studied) -> dict[str, Any]:
    cells = []
    if one.identified is not None:
        cells = [
            {
                "S": cell.S,
                "P": cell.P,
                "time_s": cell.time,
                "algorithms": list(cell.algorithms),
                "likeliest": cell.likeliest,
                "probability": cell.probability,
                "best": cell.best,
                "best_time_s": _number(cell.best_time),
            }
            for cell in one.identified.cells
        ]
    return {
        "function": one.function,
        "operation": one.cells.operation,
        "simulated": one.cells.simulated,
        "cells": cells,
        "median_error": None if one.predicted is None else _median(one.predicted.errors),
        "folklore": None if one.lore is None else {"verdict": one.lore.verdict, **one.lore.probabilities},
        "sentences": list(one.sentences),
        "remarks": list(one.remarks),
    }


def _number(value: float) -> float | None:
    return value if value == value else None


def _median(errors: Any) -> float | None:
    import numpy as np

    return float(np.median(errors)) if len(errors) else None


def _text(one: Studied) -> str:
    cells = one.cells
    kind = "simulated" if cells.simulated else "measured"
    head = f"{one.function} ({cells.operation}, {len(cells)} {kind} cells)"
    lines = [head, *(f"  {text}" for text in one.sentences), *(f"  note: {text}" for text in one.remarks)]
    return "\n".join(lines)
