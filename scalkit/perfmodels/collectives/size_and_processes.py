"""Xu's form of a collective operation, ``alpha(P) + S * beta(P)``: fitted, with the growth of both in the number of processes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import Floats
from scalkit.errors import DataError
from scalkit.fit.pure_error import pure_error
from scalkit.growth import Growth
from scalkit.markup import block, bullets, table
from scalkit.perfmodels.collectives.cells import cell_values
from scalkit.perfmodels.fits.affine import Affine, fit_affine, relative_squares, shares_of, with_interval
from scalkit.perfmodels.formulas.quantities import Range, level_in
from scalkit.perfmodels.models.exact import ExactModel
from scalkit.text import percent

_MIN_SIZES = 3
"""A line through two sizes has no residual, by which alpha and beta could be judged."""

_MIN_PROCESSES = 4
"""A growth of two parameters needs two more points than parameters to be told from another one."""

_GROWTHS = {
    "1": "1",
    "log2(P)": "log(P)",
    "cbrt(P)": "P^(1/3)",
    "sqrt(P)": "P^(1/2)",
    "P": "P",
    "P*log2(P)": "P*log(P)",
    "P^(4/3)": "P^(4/3)",
}
"""What latency and time per byte may grow as, as formula and as growth."""


@dataclass(frozen=True, repr=False)
class XuFit:
    """What `fit_xu` returns.

    Attributes
    ----------
    lines : mapping from number of processes to Affine
        alpha and beta of each, with intervals.
    weights : mapping from (growth of alpha, growth of beta) to float
        Probability of each pair of forms, from the Bayesian information criterion.
    model : ExactModel
        The most probable pair, over the range that was measured.
    noise : float
        Relative standard error of a time.
    """

    lines: Mapping[int, Affine]
    weights: Mapping[tuple[Growth, Growth], float]
    model: ExactModel
    noise: float

    @property
    def growths(self) -> tuple[Growth, Growth]:
        """The most probable growths of alpha and beta in P."""
        return max(self.weights, key=lambda pair: self.weights[pair])

    def probability(self, *, alpha: object = None, beta: object = None) -> float:
        """Return the probability that alpha, beta, or both grow as said, for example ``fit.probability(beta="log(P)")``."""
        wanted = [None if one is None else Growth.parse(one, "P") for one in (alpha, beta)]
        return sum(
            weight
            for pair, weight in self.weights.items()
            if all(w is None or w == one for w, one in zip(wanted, pair, strict=True))
        )

    def __repr__(self) -> str:
        alpha, beta = self.growths
        return f"XuFit(alpha ~ {alpha}, beta ~ {beta}, probability {self.weights[alpha, beta]:.2g}: {self.model.statement})"

    def _repr_html_(self) -> str:
        rows = [
            (
                str(p),
                with_interval(line.constant, line.constant_interval, "s"),
                with_interval(line.slope, line.slope_interval, "s/B"),
            )
            for p, line in self.lines.items()
        ]
        best = sorted(self.weights.items(), key=lambda item: -item[1])[:3]
        shares = [f"alpha as {a}, beta as {b}: {percent(weight)}" for (a, b), weight in best if weight > 0.001]
        return block(table(("P", "alpha", "beta"), rows), bullets(shares)) + self.model._repr_html_()


def fit_xu(S: ArrayLike, P: ArrayLike, times: ArrayLike, *, level: float = 0.9) -> XuFit:
    """Return ``alpha(P) + S * beta(P)`` of a collective operation.

    Parameters
    ----------
    S : array_like of shape (cells,), in B
    P : array_like of shape (cells,)
        Processes; at least four numbers of them, each at three sizes or more.
    times : array_like of shape (cells,) or (cells, repetitions), in s
        Positive.
    level : float
        Of the intervals.

    Raises
    ------
    DataError
        If there are too few cells, or a time is not positive.

    Notes
    -----
    A pair of forms, a constant plus a term of ``1, log P, P^(1/3), P^(1/2), P, P log P, P^(4/3)`` each, is fitted to all cells at
    once, by relative errors and without negative coefficients; the criterion weighs the pairs.

    References
    ----------
    Xu, Hwang 1996; Hoefler et al. 2010, section 4 (docs/references.md).
    """
    level = level_in(level)
    size, processes, data = cell_values(S, P, times)
    known = {int(p): np.unique(size[processes == p]) for p in np.unique(processes)}
    few = [p for p, sizes in known.items() if len(sizes) < _MIN_SIZES]
    if few or len(known) < _MIN_PROCESSES:
        short = f"P = {few[0]} has {len(known[few[0]])} sizes" if few else f"there are {len(known)} numbers of processes"
        raise DataError(
            f"alpha(P) and beta(P) need {_MIN_PROCESSES} numbers of processes at {_MIN_SIZES} sizes each, but {short}."
        )
    noise = pure_error(data, "median")
    y = np.nanmedian(data, axis=1)
    lines = {p: fit_affine(size[processes == p], y[processes == p], noise, level=level) for p in known}
    fits = {pair: _fitted(size, processes, y, pair) for pair in product(_GROWTHS, repeat=2)}
    criterion = {
        pair: float(noise.misfit(rss, len(y))) + len(coefficients) * math.log(len(y))
        for pair, (coefficients, rss) in fits.items()
        if _is_itself(pair, coefficients)
    }
    shares = shares_of(criterion)
    weights = {tuple(Growth.parse(_GROWTHS[g], "P") for g in pair): share for pair, share in shares.items()}
    best = min(criterion, key=lambda pair: criterion[pair])
    limits = {"S": Range(float(size.min()), float(size.max())), "P": Range(float(processes.min()), float(processes.max()))}
    return XuFit(lines, weights, _model(best, fits[best][0], limits, len(y)), noise.error)  # type: ignore[arg-type]


def _is_itself(pair: tuple[str, ...], coefficients: Floats) -> bool:
    """Return whether each growing form has a growing term: without one it is the constant form once more."""
    places = [1] * (pair[0] != "1") + [len(coefficients) - 1] * (pair[1] != "1")
    return all(coefficients[k] > 0 for k in places)


def _terms(form: str, processes: Floats) -> list[Floats]:
    ones = np.ones_like(processes)
    return [ones] if form == "1" else [ones, Growth.parse(_GROWTHS[form], "P")(processes)]


def _fitted(size: Floats, processes: Floats, y: Floats, pair: tuple[str, ...]) -> tuple[Floats, float]:
    alpha, beta = pair
    columns = np.stack([*_terms(alpha, processes), *(size * one for one in _terms(beta, processes))], axis=1)
    found, distance = relative_squares(columns, y)
    return found, distance**2


def _model(pair: tuple[str, ...], coefficients: Floats, limits: dict[str, Range], n: int) -> ExactModel:
    parts, constants, values = [], {}, iter(coefficients.tolist())
    for name, form, unit in (("a", pair[0], "s"), ("b", pair[1], "s/B")):
        terms = []
        for k, term in enumerate(["1"] if form == "1" else ["1", form]):
            constants[f"{name}_{k}"] = f"{next(values)!r} {unit}"
            terms.append(f"{name}_{k}" if term == "1" else f"{name}_{k}*{term}")
        parts.append(" + ".join(terms))
    return ExactModel(f"{parts[0]} + S*({parts[1]})", constants, limits, "alpha(P) + S*beta(P)", f"fitted to {n} cells")
