"""Models of collective operations in their context: what an algorithm takes beyond its messages, fitted to its own runs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from scalkit.errors import DataError
from scalkit.perfmodels.collectives.cells import Cells
from scalkit.perfmodels.collectives.model import collectives_of
from scalkit.perfmodels.models.exact import ExactModel
from scalkit.perfmodels.models.model import PerformanceModel
from scalkit.perfmodels.models.point_to_point import PointToPoint

_FEWEST = 3
"""Sizes for two constants and a residual."""


@dataclass(frozen=True)
class InContext:
    """An algorithm and two constants of its implementation with P processes: ``factor * model + per_byte * S``.

    `factor`: of what the messages of the algorithm take; other paths than those of messages, such as shared memory.
    `per_byte`, in s/B: what the operation copies beside its messages, such as a process's own block.
    `misfit`: root mean square of the relative residuals.
    """

    algorithm: str
    P: float
    factor: float
    per_byte: float
    misfit: float
    model: PerformanceModel

    @property
    def sentence(self) -> str:
        """The constants in words."""
        copied = f" and {1e12 * self.per_byte:.3g} ps for each byte" if self.per_byte else ""
        return f"P = {self.P:g}: {self.algorithm}, {self.factor:.3g} times its messages{copied}"


def fit_in_context(cells: Cells, message: PointToPoint, **options: Any) -> dict[float, InContext]:
    """Return the algorithm of each number of processes whose two constants fit best; relative errors count.

    After Nuriyev and Lastovetsky 2021 (docs/references.md), who fit the parameters of each algorithm to its own runs.

    `cells`: three sizes or more of a number of processes; others are left out.
    `message`: fitted to messages alone, on the same machine.
    `**options`: of `collectives_of`.
    Raises DataError if no number of processes has so many.
    """
    models = collectives_of(cells.operation, message, **options)
    found: dict[float, InContext] = {}
    for P in cells.processes.tolist():
        mine = cells.where(cells.P == P)
        if len(mine.sizes) >= _FEWEST:
            fits = [_fitted(name, model, mine, P) for name, model in models.items()]
            if known := [one for one in fits if one is not None]:
                found[P] = min(known, key=lambda one: one.misfit)
    if not found:
        raise DataError(f"{cells.function}: no number of processes has {_FEWEST} sizes; two constants need as many.")
    return found


def _fitted(name: str, model: PerformanceModel, cells: Cells, P: float) -> InContext | None:
    from scipy.optimize import nnls

    known = np.asarray(model(S=cells.S, P=cells.P, outside="nan"), dtype=np.float64)
    if not np.isfinite(known).all():
        return None
    columns = np.column_stack([known, cells.S]) / cells.time[:, None]
    scale = columns.max(axis=0)
    (factor, per_byte), left = nnls(columns / scale, np.ones(len(known)))
    factor, per_byte = factor / scale[0], per_byte / scale[1]
    copied = ExactModel("c*S", {"c": f"{float(per_byte)!r} s/B"}, name="copied")
    misfit = float(left) / len(known) ** 0.5
    return InContext(name, P, float(factor), float(per_byte), misfit, float(factor) * model + copied)
