"""Compare models with measured collective operations, over message sizes and numbers of processes."""

import argparse
import sys
from typing import Any

import numpy as np

import scalkit as sk
from scalkit.cli.terminal.printed import print_json
from scalkit.perfmodels.collectives.study import Studied, study
from scalkit.perfmodels.files.sources import message_of
from scalkit.support.json_values import json_fields, json_value


def run(args: argparse.Namespace) -> int:
    """Print what the models say, and return 0."""
    message = message_of(args.message)
    runs: Any = args.runs if len(args.runs) > 1 else args.runs[0]
    data = sk.read(runs, parameter=["p", "S"])
    found = study(data, message, args.function or None)
    if args.json:
        print_json([_told(one) for one in found])
    else:
        sys.stdout.write("\n".join(_text(one) for one in found) + "\n")
    return 0


def _told(one: Studied) -> dict[str, Any]:
    errors = () if one.predicted is None else one.predicted.errors
    cells = []
    if one.identified is not None:
        cells = [
            json_fields(cell, "S P")
            | {"time_s": cell.time}
            | json_fields(cell, "algorithms likeliest probability best")
            | {"best_time_s": json_value(cell.best_time)}
            for cell in one.identified.cells
        ]
    return {
        "function": one.function,
        "operation": one.cells.operation,
        "simulated": one.cells.simulated,
        "cells": cells,
        "median_error": float(np.median(errors)) if len(errors) else None,
        "folklore": None if one.lore is None else {"verdict": one.lore.verdict, **one.lore.probabilities},
        "sentences": list(one.sentences),
        "remarks": list(one.remarks),
    }


def _text(one: Studied) -> str:
    cells = one.cells
    kind = "simulated" if cells.simulated else "measured"
    head = f"{one.function} ({cells.operation}, {len(cells)} {kind} cells)"
    lines = [head, *(f"  {text}" for text in one.sentences), *(f"  note: {text}" for text in one.remarks)]
    return "\n".join(lines)
