"""Predictions of collective operations whose algorithms are not known: found at some sizes, predicted at the others."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from scalkit.arrays import Floats
from scalkit.errors import DataError
from scalkit.perfmodels.collectives.cells import Cells
from scalkit.perfmodels.collectives.identify import OTHER, identify
from scalkit.perfmodels.collectives.model import collectives_of
from scalkit.perfmodels.models.point_to_point import PointToPoint


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Cells that were predicted without having been used.

    `cells`: only those that were predicted.
    `predicted` of shape (cells,), in s: NaN where no algorithm was found, or its model does not hold.
    `algorithms`: which one each prediction rests on; ``"other"`` where none fits.
    """

    cells: Cells
    predicted: Floats
    algorithms: tuple[str, ...]

    @property
    def errors(self) -> Floats:
        """Relative errors of the predictions that there are."""
        found = np.abs(self.predicted / self.cells.time - 1)
        return np.asarray(found[np.isfinite(found)])

    def __str__(self) -> str:
        known = len(self.errors)
        if not known:
            return f"no prediction for {len(self.cells)} cells: no algorithm fits"
        most = 100 * np.quantile(self.errors, 0.9)
        return (
            f"{known} of {len(self.cells)} cells predicted, median error {100 * np.median(self.errors):.0f} %, 90 % of them "
            f"within {most:.0f} %"
        )


def held_out(cells: Cells, message: PointToPoint, **options: Any) -> HeldOut:
    """Return predictions at every other size, by the algorithm that `identify` finds at the next smaller one.

    `cells`: at least two sizes.
    `message`: fitted to messages alone, on the same machine.
    `**options`: of `collectives_of`.
    Raises DataError if there are fewer than two sizes.
    """
    sizes = cells.sizes
    if cells.operation == "barrier":
        raise DataError(f"{cells.function} is a barrier and has no size; predictions at other sizes need one.")
    if len(sizes) < 2:
        raise DataError(f"{cells.function} has {len(sizes)} size; predictions at other sizes need two or more.")
    used, left = sizes[::2], sizes[1::2]
    known = cells.where(np.isin(cells.S, used))
    found = {
        (one.P, one.S): one.likeliest
        for one in identify(cells.operation, known.S, known.P, known.times, message, **options).cells
    }
    wanted = cells.where(np.isin(cells.S, left))
    models = collectives_of(cells.operation, message, **options)
    predicted, names = np.full(len(wanted), np.nan), []
    for k, (S, P) in enumerate(zip(wanted.S.tolist(), wanted.P.tolist(), strict=True)):
        before = float(used[np.searchsorted(used, S) - 1])
        name = found.get((P, before), OTHER)
        names.append(name)
        if name != OTHER:
            predicted[k] = models[name](S=S, P=P, outside="nan")
    return HeldOut(wanted, predicted, tuple(names))
