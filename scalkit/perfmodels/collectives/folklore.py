"""The folklore check: does an operation take O(S log P), as trees do, or O(S + log P), as the best algorithms do?"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scalkit.errors import DataError, UsageError
from scalkit.perfmodels.collectives.cells import Cells
from scalkit.perfmodels.fits.affine import relative_squares, shares_of
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.stats.pure_error import pure_error
from scalkit.support.arrays import Floats
from scalkit.support.markup import block, bullets, paragraph, table
from scalkit.support.text import as_percent, percent

FORMS = ("S*log(P)", "S + log(P)", "S + P", "S*P")
"""The forms that compete: trees, the bandwidth-optimal ones, rings and pipelines, and one process that does it all."""

_OPERATIONS = ("broadcast", "allreduce")
_SURE = 0.9
"""Probability from which on a form is named: the one that verdicts need, too."""

_MIN_SIZES, _MIN_PROCESSES = 3, 4
_SHARE = 0.1
"""A size counts as long if its bytes add this share to the latency; below, all forms look alike."""

_FLOOR = 0.01
"""No cell is trusted closer than 1 %: the forms leave out what headers and roundings cost."""


@dataclass(frozen=True, repr=False)
class Folklore:
    """What `folklore` returns.

    Attributes
    ----------
    cells : Cells
        What was judged.
    probabilities : mapping from form to float
    fitted : mapping from form to ndarray of shape (cells,), in s
        The best fit of each.
    misfit : mapping from form to float
        Root mean square of the relative errors of the best fit.
    """

    cells: Cells
    probabilities: Mapping[str, float]
    fitted: Mapping[str, Floats]
    misfit: Mapping[str, float]

    @property
    def best(self) -> str:
        """The most probable form."""
        return max(self.probabilities, key=lambda one: self.probabilities[one])

    @property
    def verdict(self) -> str:
        """The most probable form, or ``"cannot tell"`` below 90 %."""
        return self.best if self.probabilities[self.best] >= _SURE else "cannot tell"

    @property
    def growth(self) -> tuple[float, float, float]:
        """How many times longer the largest size takes with most processes than with fewest: measured, by a tree, at best."""
        cells = self.cells
        row = np.flatnonzero(cells.sizes[-1] == cells.S)
        few, many = row[np.argmin(cells.P[row])], row[np.argmax(cells.P[row])]
        time, low, high = cells.time, cells.P[few], cells.P[many]
        return float(time[many] / time[few]), math.log(high) / math.log(low), (1 - 1 / high) / (1 - 1 / low)

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        cells, (measured, tree, least) = self.cells, self.growth
        size = format_value(float(cells.sizes[-1]), "B")
        between = f"from {cells.processes[0]:g} to {cells.processes[-1]:g} processes"
        facts = (
            f"{size} take {measured:.3g} times as long {between}, {cells.origin}; "
            f"O(S log P) would be {tree:.3g} times, O(S + log P) for large S {least:.3g} times"
        )
        head = {
            "S*log(P)": f"{cells.function} takes O(S log P)",
            "S + log(P)": f"{cells.function} takes O(S + log P)",
            "cannot tell": f"Cannot tell whether {cells.function} takes O({self.best}) or another form",
        }.get(self.verdict, f"{cells.function} takes neither O(S log P) nor O(S + log P) but O({self.best})")
        return f"{head} ({percent(self.probabilities[self.best])}): {facts}."

    def __repr__(self) -> str:
        return f"Folklore({self.cells.function!r}: {self.verdict}, {percent(self.probabilities[self.best])})"

    def _repr_html_(self) -> str:
        rows = [
            (f"O({one})", percent(self.probabilities[one]), as_percent(self.misfit[one], ".2g"))
            for one in sorted(FORMS, key=lambda one: -self.probabilities[one])
        ]
        return block(
            paragraph(self.sentence),
            table(("form", "probability", "off by"), rows, self.cells.function),
            bullets(self.cells.caveats),
        )


def folklore(cells: Cells) -> Folklore:
    """Return which form the times of a broadcast or allreduce follow over S and P.

    Parameters
    ----------
    cells : Cells
        Of a broadcast or allreduce, at least three sizes with at least four numbers of processes each; large sizes tell.

    Raises
    ------
    UsageError
        If it is another operation.
    DataError
        If there are too few cells.

    Notes
    -----
    ``c + a log P + b(S) log P`` for trees, ``c + a log P + b(S) (1 - 1/P)`` for the best, the same with ``a P`` for rings, and
    ``c + a P + b(S) P``, where b is a value of its own for each size, so that protocols do not matter; none of them negative.
    Only sizes count that take noticeably longer than the smallest: among the others all forms are the same. The
    probabilities are from the likelihood of the relative errors; what a form misses at one number of processes it misses at all
    sizes, so that each number of processes counts once. A form is off by at least 1 %.

    References
    ----------
    Hoefler et al. 2010, section 3 (docs/references.md).
    """
    if not isinstance(cells, Cells):
        raise UsageError(f"the folklore is about {' and '.join(_OPERATIONS)}; make cells with cells_of(data, 'MPI_Bcast').")
    if cells.operation not in _OPERATIONS:
        raise UsageError(
            f"the folklore is about {' and '.join(_OPERATIONS)}, got {cells.operation}; their size is that of one vector."
        )
    kept = _telling(cells)
    noise = float(pure_error(kept.times, "median").error)
    floor = math.hypot(noise if math.isfinite(noise) else 0.0, _FLOOR)
    y = kept.time
    fitted, misfit, criterion = {}, {}, {}
    for form in FORMS:
        columns = _columns(form, kept)
        values = columns @ relative_squares(columns, y)[0]
        rss = float((((values - y) / y) ** 2).sum())
        fitted[form], misfit[form] = values, math.sqrt(rss / len(y))
        criterion[form] = len(kept.processes) * math.log(rss / len(y) + floor**2)
    return Folklore(kept, shares_of(criterion), fitted, misfit)


def _telling(cells: Cells) -> Cells:
    """Return the cells of at least two processes and of sizes that matter, complete enough."""
    cells = cells.where(cells.P >= 2)
    time, sizes = cells.time, cells.sizes
    base = {p: time[(p == cells.P) & (sizes[0] == cells.S)] for p in cells.processes}
    longer = [
        size
        for size in sizes
        if any(
            len(base[p]) and one > (1 + _SHARE) * base[p][0]
            for p, one in zip(cells.P[size == cells.S], time[size == cells.S], strict=True)
        )
    ]
    found = cells.where(np.isin(cells.S, [sizes[0], *longer])) if longer else cells
    counts = [int((size == found.S).sum()) for size in found.sizes]
    if len(counts) < _MIN_SIZES or min(counts) < _MIN_PROCESSES:
        raise DataError(
            f"{cells.function} has {len(counts)} sizes that tell, the smallest and those that take 10 % longer, with "
            f"{min(counts)} numbers of processes; {_MIN_SIZES} sizes with {_MIN_PROCESSES} are needed. Measure larger ones."
        )
    return found


def _columns(form: str, cells: Cells) -> Floats:
    log, pieces = np.log2(cells.P), 1 - 1 / cells.P
    own = {"S*log(P)": log, "S + log(P)": pieces, "S + P": pieces, "S*P": cells.P}[form]
    shared = log if "log" in form else cells.P
    each = [np.where(size == cells.S, own, 0.0) for size in cells.sizes[1:]]
    return np.stack([np.ones_like(log), shared, *each], axis=1)
