"""Algorithms of collective operations with two constants of their implementation, fitted to their own runs."""

from dataclasses import dataclass

import numpy as np

from scalkit.errors import DataError
from scalkit.perfmodels.collectives.cells import Cells
from scalkit.perfmodels.collectives.model import CollectiveModel, collectives_of
from scalkit.perfmodels.fits.affine import relative_squares
from scalkit.perfmodels.models.exact import ExactModel
from scalkit.perfmodels.models.model import Composite
from scalkit.perfmodels.models.point_to_point import PointToPoint

_FEWEST = 3
"""Sizes for two constants and a residual."""


@dataclass(frozen=True)
class InContext:
    """An algorithm and two constants of its implementation: ``factor * model + per_byte * S``.

    `factor`: of what its messages take; a library has other ways than messages, such as shared memory.
    `per_byte` in s/B: what the operation copies beside its messages, such as a process's own block.
    `misfit`: root mean square of the relative residuals.
    """

    algorithm: str
    factor: float
    per_byte: float
    misfit: float
    model: Composite


def fit_in_context(cells: Cells, message: PointToPoint) -> dict[float, InContext]:
    """Return for each number of processes the algorithm whose two constants fit best; relative errors count.

    After Nuriyev and Lastovetsky 2021 (docs/references.md), who fit the parameters of each algorithm to its own runs.

    `cells`: numbers of processes with fewer than three sizes are left out.
    `message`: fitted to messages alone, on the same machine.
    Raises DataError if no number of processes has three sizes.
    """
    fits: dict[float, InContext] = {}
    for P in cells.processes.tolist():
        mine = cells.where(cells.P == P)
        if len(mine.sizes) >= _FEWEST:
            tried = [_fitted(name, model, mine) for name, model in collectives_of(cells.operation, message).items()]
            if known := [one for one in tried if one is not None]:
                fits[P] = min(known, key=lambda one: one.misfit)
    if not fits:
        raise DataError(f"{cells.function}: no number of processes has {_FEWEST} sizes; two constants need as many.")
    return fits


def _fitted(name: str, model: CollectiveModel, cells: Cells) -> InContext | None:
    """Return the fit of one algorithm, None where it does not exist for these processes."""
    known = np.asarray(model(S=cells.S, P=cells.P, outside="nan"))
    if not np.isfinite(known).all():
        return None
    (factor, per_byte), left = relative_squares(np.stack([known, cells.S], axis=1), cells.time)
    copied = ExactModel("c*S", {"c": f"{float(per_byte)!r} s/B"}, name="copied")
    misfit = left / len(known) ** 0.5
    return InContext(name, float(factor), float(per_byte), misfit, Composite(((float(factor), model), (1.0, copied))))
