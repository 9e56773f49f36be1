"""The example of the models paper: a three-dimensional FFT with planes or with pencils, from models of an all-to-all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scalkit.perfmodels import PerformanceModel, PointToPoint, Range, collective
from scalkit.perfmodels.formulas.quantities import format_value

PLANES, PENCILS = "planes: one transpose among all", "pencils: two among sqrt(P)"
_NUMBER = {"b": "16 B"}


def transforms(
    message: PointToPoint, N: int, *, algorithm: str = "pairwise", alltoall: PerformanceModel | None = None
) -> dict[str, PerformanceModel]:
    """Return models of the communication of an FFT of ``N^3`` complex numbers on P processes.

    `N`: points along each dimension; planes need P <= N, pencils P <= N^2.
    `algorithm`: of the all-to-all.
    `alltoall`: in place of both: a model over S, the block for each process, and P.
    Returns: over N and P, in s.

    Source: Hoefler et al. 2010, section 5 (docs/references.md).
    """
    one = alltoall if alltoall is not None else collective("alltoall", algorithm, message)
    planes = one.of(S="b*N^3/P^2", constants=_NUMBER)
    pencils = 2 * one.of(S="b*N^3/P^(3/2)", P="sqrt(P)", constants=_NUMBER)
    limited = replace(planes, valid={**planes.valid, "P": Range(low=1.0, high=float(N))})
    return {PLANES: limited, PENCILS: pencils}


def choice_of(models: Mapping[str, PerformanceModel], at: Mapping[str, float]) -> str:
    """Return which of the models is fastest at a setting, in words."""
    times = {}
    for name, model in models.items():
        value = float(model(outside="nan", **{key: at[key] for key in model.parameters}))
        if value == value:
            times[name] = value
    where = ", ".join(f"{key} = {value:g}" for key, value in at.items())
    if not times:
        return f"At {where} none of them is possible."
    best = min(times, key=lambda name: times[name])
    others = [
        f"{name.partition(':')[0]} {format_value(value, 's')}, {value / times[best]:.3g} times as long"
        for name, value in times.items()
        if name != best
    ]
    missing = [f"{name.partition(':')[0]} impossible" for name in models if name not in times]
    said = "; ".join([*others, *missing])
    return f"At {where}: {best.partition(':')[0]} {format_value(times[best], 's')}{f'; {said}' if said else ''}."


def crossings(models: Mapping[str, PerformanceModel], N: int, processes: Any) -> list[str]:
    """Return the numbers of processes from which another of the models is fastest, in words."""
    import numpy as np

    at = np.unique(np.asarray(processes, dtype=float))
    table = np.array([model(outside="nan", N=np.full_like(at, N), P=at) for model in models.values()])
    names = [name.partition(":")[0] for name in models]
    best = np.nanargmin(table, axis=0)
    found = [f"{names[best[0]]} from P = {at[0]:g}"]
    found += [f"{names[best[k]]} from P = {at[k]:g}" for k in range(1, len(at)) if best[k] != best[k - 1]]
    return found
