"""All that models say of the collective operations in a Dataset: algorithms, predictions, the folklore."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import xarray as xr

from scalkit.errors import DataError, ScalkitError
from scalkit.perfmodels.collectives.cells import FUNCTIONS, Cells, cells_of
from scalkit.perfmodels.collectives.folklore import Folklore, folklore
from scalkit.perfmodels.collectives.identify import OTHER, Identified, identify
from scalkit.perfmodels.collectives.in_context import fit_in_context
from scalkit.perfmodels.collectives.model import collectives_of
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.perfmodels.models.point_to_point import PointToPoint
from scalkit.support.arrays import Floats
from scalkit.support.text import as_percent


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Cells that were predicted without having been used.

    `cells`: only those that were predicted.
    `predicted` of shape (cells,), in s: NaN where no algorithm was found, or its model does not hold.
    """

    cells: Cells
    predicted: Floats

    @property
    def errors(self) -> Floats:
        """Relative errors of the predictions that there are."""
        found = np.abs(self.predicted / self.cells.time - 1)
        return np.asarray(found[np.isfinite(found)])

    @property
    def alone(self) -> "HeldOut | None":
        """The predictions for cells with a core for each process; None if these are none or all."""
        own = ~self.cells.crowded
        return HeldOut(self.cells.where(own), self.predicted[own]) if own.any() and not own.all() else None

    def __str__(self) -> str:
        known = len(self.errors)
        if not known:
            return f"no prediction for {len(self.cells)} cells: no algorithm fits"
        most = 100 * np.quantile(self.errors, 0.9)
        return (
            f"{known} of {len(self.cells)} cells predicted, median error {as_percent(np.median(self.errors))}, 90 % of them "
            f"within {most:.0f} %"
        )


def held_out(cells: Cells, message: PointToPoint) -> HeldOut:
    """Return predictions at every other size, by the algorithm that `identify` finds at the next smaller one.

    `cells`: at least two sizes.
    `message`: fitted to messages alone, on the same machine.
    Raises DataError if there are fewer than two sizes.
    """
    known, wanted = _halves(cells)
    used = known.sizes
    found = {(one.P, one.S): one.likeliest for one in identify(known, message).cells}
    models = collectives_of(cells.operation, message)
    predicted = np.full(len(wanted), np.nan)
    for k, (S, P) in enumerate(zip(wanted.S.tolist(), wanted.P.tolist(), strict=True)):
        name = found.get((P, float(used[np.searchsorted(used, S) - 1])), OTHER)
        if name != OTHER:
            predicted[k] = models[name](S=S, P=P, outside="nan")
    return HeldOut(wanted, predicted)


def held_out_in_context(cells: Cells, message: PointToPoint) -> HeldOut:
    """Return predictions at every other size, by algorithms and constants fitted to the sizes between; see `fit_in_context`.

    Raises DataError if there are fewer than two sizes, or fewer than three to fit to.
    """
    known, wanted = _halves(cells)
    fits = fit_in_context(known, message)
    predicted = np.full(len(wanted), np.nan)
    for P, fit in fits.items():
        here = wanted.P == P
        predicted[here] = fit.model(S=wanted.S[here], P=wanted.P[here], outside="nan")
    return HeldOut(wanted, predicted)


def _halves(cells: Cells) -> tuple[Cells, Cells]:
    """Return the cells with an even rank among the sizes, and the others."""
    sizes = cells.sizes
    if cells.operation == "barrier":
        raise DataError(f"{cells.function} is a barrier and has no size; predictions at other sizes need one.")
    if len(sizes) < 2:
        raise DataError(f"{cells.function} has {len(sizes)} size; predictions at other sizes need two or more.")
    return cells.where(np.isin(cells.S, sizes[::2])), cells.where(np.isin(cells.S, sizes[1::2]))


_T = TypeVar("_T")
_LORE = ("broadcast", "allreduce")
_MOST = 3


@dataclass(frozen=True, eq=False)
class Studied:
    """What models say of one function; a part is None where the values do not allow it, and `remarks` says why.

    `identified`: which algorithm each cell seems to use.
    `predicted`: predictions at sizes that were held out, from messages alone.
    `in_context`: the same with two constants of each algorithm, fitted to the other sizes.
    `lore`: of broadcast and allreduce.
    """

    cells: Cells
    identified: Identified | None
    predicted: HeldOut | None
    in_context: HeldOut | None
    lore: Folklore | None
    remarks: tuple[str, ...]

    @property
    def function(self) -> str:
        """Its name."""
        return self.cells.function

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, in words."""
        found = [*self._algorithms()]
        for what, one in (
            ("Predictions from messages alone, at sizes that were held out", self.predicted),
            ("With two constants of each algorithm from its own runs at the other sizes", self.in_context),
        ):
            found += [f"{what}: {one}."] if one is not None else []
            found += [f"Of these, with a core for each process: {one.alone}."] if one is not None and one.alone else []
        if self.lore is not None:
            found.append(self.lore.sentence)
        return tuple(found)

    def _algorithms(self) -> list[str]:
        if self.identified is None:
            return []
        one = self.identified
        counts = Counter(" or ".join(cell.algorithms) for cell in one.cells)
        used = ", ".join(f"{name} in {n}" for name, n in counts.most_common(_MOST))
        sure = sum(cell.is_sure for cell in one.cells)
        said = [f"Of {len(one.cells)} cells {self.function} seems to use {used}; {sure} of them are sure."]
        places = [
            f"P = {s.P:g} above {format_value(s.after, 'B')} from {' or '.join(s.old)} to {' or '.join(s.new)}"
            for s in one.switches
        ]
        if places:
            more = f" and {len(places) - _MOST} more" if len(places) > _MOST else ""
            said.append(f"It switches at {'; '.join(places[:_MOST])}{more}.")
        better = sorted(one.better(), key=lambda cell: cell.best_time / cell.time)
        cells, is_crowded = self.cells, self.cells.crowded
        many = set(zip(cells.S[is_crowded].tolist(), cells.P[is_crowded].tolist(), strict=True))
        own = [cell for cell in better if (cell.S, cell.P) not in many]
        if own:
            cell = own[0]
            said.append(
                f"In {len(own)} cells another algorithm is predicted to be faster, most at P = {cell.P:g}, "
                f"S = {format_value(cell.S, 'B')}: {cell.best} with {format_value(cell.best_time, 's')} instead of "
                f"{format_value(cell.time, 's')}."
            )
        if len(own) < len(better):
            n = len(better) - len(own)
            are = f"{'more' if own else 'cell' if n == 1 else 'cells'} {'is' if n == 1 else 'are'}"
            said.append(f"{n} {are} slower than predicted with more processes than cores, which proves nothing.")
        return said


def study(data: xr.Dataset, message: PointToPoint, functions: Sequence[str] | None = None) -> tuple[Studied, ...]:
    """Return what models say of each collective operation in a Dataset.

    `data`: see `cells_of`.
    `message`: of the same machine, fitted to messages.
    `functions`: by default all whose operation is known.
    Raises DataError if there is no such function.
    """
    names = [str(name) for name in np.atleast_1d(data["function"].values)]
    chosen = list(functions) if functions is not None else [name for name in names if name in FUNCTIONS]
    if not chosen:
        raise DataError(f"none of {', '.join(names)} is an operation that models know; measure one of {', '.join(FUNCTIONS)}.")
    return tuple(_studied(cells_of(data, name), message) for name in chosen)


def _studied(cells: Cells, message: PointToPoint) -> Studied:
    remarks: list[str] = list(cells.caveats)
    if cells.virtual:
        remarks.append("In virtual time the messages themselves name the algorithm: scalkit model messages.")

    def tried(what: str, make: Callable[[], _T]) -> _T | None:
        try:
            return make()
        except ScalkitError as error:
            remarks.append(f"{what}: {error}")
            return None

    several = cells.where(cells.P >= 2)
    identified = tried("algorithms", lambda: identify(several, message))
    if cells.operation == "barrier":
        return Studied(cells, identified, None, None, None, tuple(remarks))
    predicted = tried("predictions", lambda: held_out(several, message))
    in_context = tried("predictions in context", lambda: held_out_in_context(several, message))
    lore = tried("folklore", lambda: folklore(cells)) if cells.operation in _LORE else None
    return Studied(cells, identified, predicted, in_context, lore, tuple(remarks))
