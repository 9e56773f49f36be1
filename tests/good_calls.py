"""Calls of public functions that succeed, so that a wrong optional argument is all that is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import scalkit as sk
from scalkit.bench.functions.sampling import Effort
from scalkit.perfmodels.fits.strides import fit_strides
from scalkit.perfmodels.models.point_to_point import Protocol
from scalkit.support.options import OPTIONS

DATA = Path(__file__).parents[1] / "data"

JUDGING = tuple(OPTIONS)
MESSAGE = ("gap", "reduce_per_byte", "name", "source", "exchange", "both")
FILTERS = ("machine", "p", "run", "op")

KEYWORDS: dict[str, tuple[str, ...]] = {
    "scalkit.validate": JUDGING,
    "scalkit.check": JUDGING,
    "scalkit.report": JUDGING,
    "scalkit.Session": JUDGING,
    "scalkit.explore": (*JUDGING, "rules", "parameter", "session"),
    "Session.judge_by": JUDGING,
    "scalkit.bench.measure_callable": tuple(one.name for one in fields(Effort)),
    "scalkit.trace.TraceBuilder": ("simulated",),
    "Store.advise": ("statistic", *FILTERS),
    "Store.compare": ("where", "statistic"),
    "Store.history": ("tolerance", *FILTERS),
    "Store.publish": ("title", "authors", "licence", "page"),
    "Store.load": FILTERS,
    "Store.points": FILTERS,
    "Store.runs": FILTERS,
    "Store.suites": FILTERS,
    "ExactModel.bounds": ("S",),
    "RangeModel.bounds": ("S",),
    "AsymptoticModel.bounds": ("S", "P"),
    "BoundedModel.bounds": ("S",),
    "PointToPoint.hockney": MESSAGE,
    "PointToPoint.of_protocols": MESSAGE,
    "scalkit.perfmodels.substitute": ("S",),
    "Guideline.parse": ("name", "kind", "where", "apart_from", "meaning", "metarule", "published"),
    "Verdict.interval": ("p",),
    "SeveralVerdict.interval": ("p", "n"),
}
"""Names that a function takes besides, as ``**options``."""

MAY_FAIL = {"scalkit.bench.find_mpi", "scalkit.bench.prepare", "Store.sign", "Store.history"}
"""Functions that need an MPI library, a key, or runs of several versions."""

TAKES_LONG = {"scalkit.check", "scalkit.report", "scalkit.store.validate", "Store.merge"}
"""Functions that are called only with values that no argument takes, and so never to their end."""

NOT_TRIED = {("scalkit.report", "out")}
"""Arguments that take any text, after which the call lasts long."""


@dataclass(frozen=True)
class GoodCalls:
    """Arguments of good calls.

    `arguments`: by the name of the function; all others need none.
    `instances`: by class, what makes one, where good calls need one of their own.
    """

    arguments: dict[str, dict[str, Any]]
    instances: dict[str, Callable[[], Any]]


def filed(folder: Path) -> tuple[Any, list[str]]:
    """Return a store of four runs, of which one is retracted, and their ids."""
    store = sk.store.open(folder / "store")
    added = [one for name in ("a", "b") for one in store.put(DATA / "quickstart", machine=name).added]
    store.retract(added[-1], "A")
    return store, added


def messages(folder: Path) -> Path:
    """Return a folder with times of messages."""
    trip = {"rec": "trip", "op": "Round_trip", "p": 2, "verified": True, "messages": 10}
    rows = [{**trip, "size_B": size, "t_ns": [2000 + size, 2004 + size]} for size in (1, 64, 1024)]
    lines = [{"rec": "env", "mpi_library": "MPICH 5"}, *rows, {"rec": "end", "records": 4}]
    folder.mkdir()
    text = "".join(json.dumps(one) + "\n" for one in lines)
    (folder / "messages-p0002-r00.jsonl").write_text(text)
    return folder


def good_calls(made: dict[str, Any], data: Any, folder: Path) -> GoodCalls:
    """Return good calls of all functions.

    `made`: instances of public classes. `data`: measurements of ``MPI_Bcast`` over p.
    `folder`: an empty one, for files that are read.
    """
    models, growth = sk.perfmodels, {"expectation": made["Expectation"]}
    trace = sk.trace.TraceBuilder(2)
    trace.call(0, "MPI_Init", 0, 1)
    trace.write(folder / "trace")
    ds = sk.trace.analyse(folder / "trace")
    (folder / "key.pub").write_text(f"ssh-ed25519 {'A' * 68} someone\n")
    store, (run_id, *_, retracted) = filed(folder)
    measuring = {"func": abs, "values": [1, 2, 3, 4, 5], "budget_s": 0.02}
    checked = {"func": sum, "expectation": "n", "setup": lambda n: list(range(n))}
    ticks = sk.Session(data, "log p").spaces["p"].ticks
    affine = Protocol(models.Range(), 1e-6, 1e-9)
    arguments = {
        "scalkit.read": {"path": {"p": [2, 4], "time": [1.0, 2.0]}},
        "scalkit.validate": {"data": data, "expectations": "log p"},
        "scalkit.Growth": {"text": "p"},
        "Growth.of": {"parameter": "p"},
        "Baseline.compare": {"result": made["Validation"]},
        "scalkit.Expectation": {"expression": "log p"},
        "scalkit.piecewise": {"data": data},
        "SearchSpace.around": growth,
        "SearchSpace.paper": growth,
        "SearchSpace.preset": {"name": "ics15"},
        "scalkit.measurements": {"x": [1, 2], "y": [1, 2]},
        "scalkit.check": {**checked, "n": [2000, 4000, 8000, 16000, 32000], "budget": 0.1},
        "scalkit.report": {"source": data, "expectations": "log p", "out": "report.json"},
        "scalkit.Session": {"data": data, "expectations": "log p"},
        "Session.add_tick": {"growth": "p^(1/5)"},
        "Session.compare": {"before": "A"},
        "Session.expect": {"text": "log p"},
        "Session.load": {"source": sk.Session(data, "log p").to_dict(with_data=True)},
        "Session.move_tick": {"old": str(ticks[-1]), "new": "p^(2/7)"},
        "Session.remove_tick": {"growth": str(ticks[-2])},
        "Session.save": {"path": "session.json"},
        "Session.select": {"function": "MPI_Bcast"},
        "Session.set_ticks": {"growths": ["1", "p"]},
        "scalkit.Ruler": {"expectation": "log p"},
        "Ruler.show": {"verdict": None},
        "scalkit.explore": {"data": data, "expectations": "log p"},
        "scalkit.trace.analyse": {"folder": folder / "trace"},
        "scalkit.trace.TraceBuilder": {"locations": 2},
        "TraceBuilder.call": {"location": 0, "name": "MPI_Init", "enter": 0, "leave": 1},
        "TraceBuilder.clock": {"location": 0, "local": 0, "offset": 0},
        "TraceBuilder.transfer": {"location": 0, "operation": "put", "call": 0, "peer": 1},
        "TraceBuilder.write": {"folder": "trace"},
        "scalkit.trace.over_processes": {"results": [ds]},
        "scalkit.bench.Arguments": {"kinds": ("collectives",), "counts": (2, 4), "runs": 1, "seed": 0},
        "scalkit.bench.prepare": {"out": "c", "arguments": made["Arguments"], "mpi": made["Mpi"]},
        "scalkit.bench.Refinement": {"over": "sizes"},
        "scalkit.bench.measure_callable": measuring,
        "scalkit.bench.Mpi": dict.fromkeys(("mpicc", "mpiexec", "kind", "library", "standard", "launcher"), "x"),
        "Mpi.command": {"n": 2, "program": "a.out"},
        "scalkit.store.open": {"path": "store"},
        "scalkit.store.trust": {"name": "a", "public_key": folder / "key.pub", "signers": "list"},
        "scalkit.store.Store": {"folder": store.folder},
        "Store.advise": {"op": "MPI_Bcast"},
        "Store.arrays": {"columns": ["p"], "filters": {"p": 32}},
        "Store.compare": {"choices": ["op=MPI_Bcast,machine=a"]},
        "Store.history": {"machine": "a", "clock": "real"},
        "Store.load": {"run": run_id},
        "Store.merge": {"other": folder / "store"},
        "Store.publish": {"path": "bundle.zip", "title": "A", "authors": ("A",), "licence": "CC0-1.0"},
        "Store.put": {"source": data},
        "Store.query": {"sql": "SELECT 1"},
        "Store.restore": {"run_id": retracted, "reason": "A"},
        "Store.retract": {"run_id": run_id, "reason": "A"},
        "Store.sign": {"key": folder / "key.pub"},
        "scalkit.store.validate": {"path": folder / "store"},
        "scalkit.perfmodels.Cells": {
            "operation": "broadcast",
            "function": "MPI_Bcast",
            "S": [1, 8],
            "P": [2, 4],
            "times": [1e-6, 2e-6],
        },
        "scalkit.perfmodels.cells_of": {"data": data, "function": "MPI_Bcast"},
        "scalkit.perfmodels.identify": {"cells": made["Cells"], "message": made["PointToPoint"]},
        "scalkit.perfmodels.name_messages": {
            "function": "MPI_Bcast",
            "operation": "broadcast",
            "P": 2,
            "S": 8,
            "messages": [(0, 1, 8, 0, 0)],
        },
        "scalkit.perfmodels.to_simgrid": {"message": made["PointToPoint"]},
        "scalkit.perfmodels.fit_folder": {"folder": messages(folder / "messages")},
        "scalkit.perfmodels.fit_messages": {"sizes": [1, 2, 4, 8, 16], "times": [[1.0, 2]] * 5},
        "scalkit.perfmodels.ExactModel": {"formula": "2*P"},
        "ExactModel.bounds": {"S": 2.0},
        "scalkit.perfmodels.RangeModel": {"parameter": "S", "pieces": [(made["Range"], made["ExactModel"])]},
        "RangeModel.bounds": {"S": 2.0},
        "scalkit.perfmodels.AsymptoticModel": {"expression": "log(P)"},
        "AsymptoticModel.bounds": {"S": 2.0, "P": 2.0},
        "scalkit.perfmodels.BoundedModel": {"lower": made["ExactModel"]},
        "BoundedModel.bounds": {"S": 2.0},
        "scalkit.perfmodels.LogGP": dict.fromkeys(("L", "o_send", "o_receive", "g", "G"), 1e-6),
        "scalkit.perfmodels.PointToPoint": {"time": made["ExactModel"]},
        "PointToPoint.hockney": {"latency": "1 us", "per_byte": "1 ns/B"},
        "PointToPoint.of_protocols": {"protocols": [affine]},
        "scalkit.perfmodels.substitute": {"model": made["ExactModel"], "S": "2*S"},
        "scalkit.guidelines.assess": {"source": data},
        "scalkit.guidelines.Guideline": {"left": made["Guideline"].left, "right": made["Guideline"].right},
        "Guideline.parse": {"text": "A <= B"},
        "scalkit.plots.model": {"models": made["ExactModel"], "between": (8, 65536)},
        "scalkit.plots.strides": {"fit": fit_strides(64, [0, 1, 2], [[2e-5], [2e-5], [4e-5]])},
        "scalkit.plots.trace_matrix": {"ds": ds},
        "scalkit.plots.divergence": {"of": made["Validation"]},
        "scalkit.plots.fit": {"verdict": made["Verdict"]},
        "scalkit.plots.scaling": {"result": made["Validation"]},
        "scalkit.widgets.Ruler": {"expectation": "log p"},
        "scalkit.widgets.TimelineView": {"trace": folder / "trace"},
        "PlotView.show": {"figure": {"data": []}},
        "Validation.advise": {"candidates": [256, 512]},
        "Validation.limit": {"metric": "time", "budget": 1.0},
        "Verdict.interval": {"p": 8.0},
        "SeveralVerdict.interval": {"p": 8.0, "n": 8.0},
    }
    return GoodCalls(arguments, {"Store": lambda: store, "TraceBuilder": lambda: sk.trace.TraceBuilder(2)})
