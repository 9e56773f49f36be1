"""Tables of the notebook on models of MPI: how well models do, and the bundled data behind them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from lessons.known import KnownAlgorithms
from lessons.model_sliders import ModelSliders
from scalkit.errors import ReportError
from scalkit.formats.read import read
from scalkit.perfmodels import PointToPoint, Range, cells_of, collective, folklore, substitute
from scalkit.perfmodels.collectives.folklore import Folklore
from scalkit.perfmodels.collectives.study import HeldOut, study
from scalkit.perfmodels.files.sources import message_of
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.perfmodels.models.model import PerformanceModel
from scalkit.support.bundled import bundled
from scalkit.support.text import as_percent

_MODELS = "data/models"


def folklore_here(library: str = "mpich") -> list[Any]:
    """Return the folklore check of a real library, measured on a machine of two cores; a sentence where nothing was measured."""
    try:
        path = bundled(f"{_MODELS}/collectives-{library}.nc")
    except ReportError:
        how = "measure with scalkit measure collectives --size 8 --out runs/8, and other sizes"
        return [f"no measurements of {library} are bundled; {how}"]
    return folklore_of(read(str(path), parameter=["p", "S"]))


def studied_here(library: str = "mpich") -> pd.DataFrame:
    """Return, for each operation of a real library on a machine of two cores, the algorithms and errors that models find."""
    data = read(str(bundled(f"{_MODELS}/collectives-{library}.nc")), parameter=["p", "S"])
    message = message_of(_card_of(library))
    rows = {}
    for one in study(data, message):
        cells = one.identified.cells if one.identified is not None else ()
        used = Counter(" or ".join(cell.algorithms) for cell in cells).most_common(1)
        named = ", ".join(f"{name} ({n} of {len(cells)})" for name, n in used)
        rows[one.function] = [named, _median(one.predicted), _median(one.predicted.alone if one.predicted else None)]
    return pd.DataFrame.from_dict(rows, orient="index", columns=["seems to use", "median error", "with a core each"])


def _card_of(library: str) -> Path:
    return next(iter(sorted(bundled(_MODELS).glob(f"{library}-*.toml"))))


def _median(predicted: HeldOut | None) -> str:
    errors = predicted.errors if predicted is not None else ()
    return as_percent(np.median(errors)) if len(errors) else "–"


def values(models: dict[str, PerformanceModel], **at: Any) -> pd.DataFrame:
    """Return the values of models at one setting for each column, as texts; ``values(models, S=[8, 65536], P=64)``."""
    wide = np.broadcast_arrays(*(np.atleast_1d(np.asarray(one, dtype=float)) for one in at.values()))
    heads = [", ".join(f"{key} = {one[k]:g}" for key, one in zip(at, wide, strict=True)) for k in range(len(wide[0]))]
    where = dict(zip(at, wide, strict=True))
    rows = {
        name: [_shown(v, one.unit) for v in one(outside="nan", **{key: where[key] for key in one.parameters})]
        for name, one in models.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=heads)


def _shown(value: float, unit: str) -> str:
    return "–" if np.isnan(value) else format_value(float(value), unit)


def accuracy(data: KnownAlgorithms) -> pd.DataFrame:
    """Return, for each operation and algorithm, how many cells were named right, by one name, and how far predictions are off."""
    rows, right, errors = {}, [], []
    for one in data.tried():
        right.append(one.right_alone)
        errors.append(one.errors)
        rows[f"{one.operation}, {one.algorithm}"] = _row(one.right_alone, one.errors)
    rows["all"] = _row(np.concatenate(right), np.concatenate(errors))
    return pd.DataFrame.from_dict(rows, orient="index", columns=["cells", "named right", "median error", "90 % within"])


def _row(right: Any, errors: Any) -> list[str]:
    share = as_percent(right.mean())
    return [str(len(right)), share, as_percent(np.median(errors), ".1f"), as_percent(np.quantile(errors, 0.9))]


def folklore_of(data: xr.Dataset, functions: Iterable[str] = ("MPI_Bcast", "MPI_Allreduce")) -> list[Folklore]:
    """Return the folklore check of each function."""
    return [folklore(cells_of(data, name)) for name in functions]


def fft_sliders(message: PointToPoint, grids: Sequence[int], counts: Sequence[int], **start: float) -> ModelSliders:
    """Return sliders for the size of a three-dimensional FFT and the processes: planes against pencils."""
    return ModelSliders(
        lambda at: transforms(message, int(at["N"])), {"N": list(grids), "P": list(counts)}, "P", choice_of, **start
    )


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
    planes = substitute(one, _NUMBER, S="b*N^3/P^2")
    pencils = 2 * substitute(one, _NUMBER, S="b*N^3/P^(3/2)", P="sqrt(P)")
    limited = replace(planes, valid={**planes.valid, "P": Range(low=1.0, high=float(N))})
    return {PLANES: limited, PENCILS: pencils}


def choice_of(models: Mapping[str, PerformanceModel], at: Mapping[str, float]) -> str:
    """Return a sentence that names the fastest of the models at a point."""
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
    at = np.unique(np.asarray(processes, dtype=float))
    table = np.array([model(outside="nan", N=np.full_like(at, N), P=at) for model in models.values()])
    names = [name.partition(":")[0] for name in models]
    best = np.nanargmin(table, axis=0)
    found = [f"{names[best[0]]} from P = {at[0]:g}"]
    found += [f"{names[best[k]]} from P = {at[k]:g}" for k in range(1, len(at)) if best[k] != best[k - 1]]
    return found
