"""Models of several parameters: sums and products of one-parameter growths, over full grids and sparse designs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from scalkit.arrays import Floats
from scalkit.errors import UsageError
from scalkit.fit.several.model import GrowthSum, SeveralModel, Term
from scalkit.fit.several.points import Points, gather
from scalkit.fit.several.search import CRITERIA, Block, Criterion, search
from scalkit.growth import Growth
from scalkit.options import Statistic

_LIGHT = math.log(1e-6)
_MOST = 400
_LEAST_SHARE = 1e-9


@dataclass(frozen=True, eq=False)
class SeveralFit:
    """The models of values over several parameters.

    `points`: what was fitted.
    `model`: the most probable one.
    `rivals`: the next ones, by falling weight.
    `weights`: probability of each leading growth along a parameter; the constant among them.
    `growths`: probability of each sum of leading terms, falling; sums to 1 over those that are not negligible.
    `ticks`: those that were usable; combinations in `blocks` are indices to them.
    `blocks`: all hypotheses with their scores.
    """

    points: Points
    model: SeveralModel
    rivals: tuple[SeveralModel, ...]
    weights: Mapping[str, Mapping[Growth, float]]
    growths: tuple[tuple[GrowthSum, float], ...]
    ticks: Mapping[str, tuple[Growth, ...]]
    blocks: tuple[Block, ...] = ()


def fit_several(
    points: ArrayLike,
    values: ArrayLike,
    parameters: Sequence[str],
    ticks: Mapping[str, Sequence[Growth]],
    *,
    statistic: Statistic = "q1",
    criterion: Criterion = "evidence",
    min_points: int = 5,
    unit: str = "s",
    n_rivals: int = 5,
    always: Mapping[str, Sequence[Growth]] | None = None,
) -> SeveralFit:
    """Return the models of values over two or more parameters.

    Every hypothesis is a non-negative constant plus non-negative coefficients times up to three products of one tick for
    each parameter, fitted with relative weights. Parameters without effect are found. Any set of points does: a full grid,
    or one line for each parameter and at least one point off these lines, without which sums and products look alike.

    `points`: shape (points, parameters).
    `values` (shape (points,) or (points, repetitions), in `unit`): NaN where a repetition is missing.
    `ticks`: the search space along each; the constant always competes.
    `statistic`: over the repetitions.
    `criterion`: what makes one hypothesis better than another: ``"evidence"``, the marginal likelihood; ``"bic"`` and
    ``"aicc"``, the information criteria of Schwarz and of Akaike (corrected); ``"loo"``, the squared residuals of left-out
    points.
    `min_points`: fewest different values of each parameter.
    `always`: ticks that are tried in any case, where others do not follow the lines well enough.
    Raises DataError if shapes do not agree, a value cannot be fitted, or a parameter has too few values.
    Raises UsageError if the criterion is unknown or a parameter has no ticks.
    """
    if criterion not in CRITERIA:
        raise UsageError(f"the criterion {criterion!r} is unknown; choose one of {', '.join(CRITERIA)}.")
    gathered = gather(points, values, parameters, statistic, min_points)
    growths, scaled = [], []
    for column, name in enumerate(gathered.parameters):
        if name not in ticks:
            raise UsageError(f"there are no ticks for the parameter '{name}'; ticks are given for {', '.join(ticks)}.")
        usable, rows = _scaled(ticks[name], gathered.x[:, column], name)
        growths.append(usable)
        scaled.append(rows)
    wanted = [(always or {}).get(name, ()) for name in gathered.parameters]
    indices = [[g.index(tick) for tick in w if tick in g] for g, w in zip(growths, wanted, strict=True)]
    blocks = tuple(search(gathered, scaled, criterion, indices))
    top = max(float(block.score.max()) for block in blocks)
    total = sum(float(np.exp(block.score - top).sum()) for block in blocks)
    best = _best(blocks, top)
    models = [_model(gathered, growths, block, row, mass / total, unit) for block, row, mass in best[: n_rivals + 1]]
    return SeveralFit(
        gathered,
        models[0],
        tuple(models[1:]),
        _weights(gathered, growths, blocks, top),
        _sums(growths, best),
        {name: tuple(g) for name, g in zip(gathered.parameters, growths, strict=True)},
        blocks,
    )


def _scaled(ticks: Sequence[Growth], x: Floats, name: str) -> tuple[list[Growth], Floats]:
    """Return the growing ticks that exist at every point, and their values over the largest one."""
    growing = [Growth.parse(tick, name) for tick in ticks if not tick.is_constant]
    log2 = np.array([tick.log2_value(x) for tick in growing]).reshape(len(growing), len(x))
    scale = np.max(log2, axis=1, keepdims=True, initial=-np.inf)
    with np.errstate(invalid="ignore"):
        values = np.exp2(log2 - scale)
    usable = np.isfinite(values).all(axis=1) & (np.ptp(values, axis=1) > 0)
    return [tick for tick, ok in zip(growing, usable, strict=True) if ok], values[usable]


def _best(blocks: Sequence[Block], top: float) -> list[tuple[Block, int, float]]:
    """Return the hypotheses that are not negligible, best first, with their unnormalised masses."""
    scores = np.concatenate([block.score for block in blocks])
    first = np.cumsum([0, *(len(block.score) for block in blocks)])
    order = np.flatnonzero(scores > top + _LIGHT)
    order = order[np.argsort(-scores[order], kind="stable")][:_MOST]
    places = np.searchsorted(first, order, side="right") - 1
    return [
        (blocks[place], int(index - first[place]), float(np.exp(scores[index] - top)))
        for place, index in zip(places, order, strict=True)
    ]


def _members(growths: Sequence[Sequence[Growth]], block: Block, row: int) -> list[Growth]:
    """Return the products of ticks of one hypothesis."""
    picked = dict(zip(block.active, block.combinations[row], strict=True))
    found = []
    for members in block.products:
        growth = Growth.constant()
        for column in members:
            growth = growth * growths[column][int(picked[column])]
        found.append(growth)
    return found


def _model(points: Points, growths: Sequence[Sequence[Growth]], block: Block, row: int, weight: float, unit: str) -> SeveralModel:
    """Return one hypothesis, fitted once more by an orthogonal decomposition."""
    products = _members(growths, block, row)
    terms = [Growth.constant(), *products] if block.has_constant or not products else products
    at = {name: points.x[:, i] for i, name in enumerate(points.parameters)}
    log2 = np.array([term.log2_value(at) for term in terms])
    scale = log2.max(axis=1, keepdims=True)
    error = points.error_scale()
    columns = np.exp2(log2 - scale) / error
    size = np.sqrt((columns**2).sum(axis=1, keepdims=True))
    target = points.y / error
    found = np.linalg.lstsq((columns / size).T, target, rcond=None)[0] / size[:, 0]
    share = found * columns.mean(axis=1) / target.mean()
    kept = np.flatnonzero(share > _LEAST_SHARE)
    residual = target - found[kept] @ columns[kept]
    return SeveralModel(
        parameters=points.parameters,
        terms=tuple(Term(terms[k], float(np.log2(found[k]) - scale[k, 0])) for k in kept),
        unit=unit,
        rss=float(residual @ residual),
        weight=weight,
    )


def _weights(
    points: Points, growths: Sequence[Sequence[Growth]], blocks: Sequence[Block], top: float
) -> dict[str, dict[Growth, float]]:
    """Return the probability of each tick, and of no effect, along each parameter."""
    masses = [np.zeros(len(ticks) + 1) for ticks in growths]
    for block in blocks:
        mass = np.exp(block.score - top)
        for column, total in enumerate(masses):
            if column in block.active:
                np.add.at(total, block.combinations[:, block.active.index(column)], mass)
            else:
                total[-1] += mass.sum()
    return {
        name: {g: float(m / total.sum()) for g, m in zip([*ticks, Growth.constant()], total, strict=True)}
        for name, ticks, total in zip(points.parameters, growths, masses, strict=True)
    }


def _sums(growths: Sequence[Sequence[Growth]], best: Sequence[tuple[Block, int, float]]) -> tuple[tuple[GrowthSum, float], ...]:
    """Return the probability of each sum of leading terms; hypotheses that differ in the constant alone have one sum."""
    total = sum(mass for _, _, mass in best)
    rising = [[tick > Growth.constant() for tick in ticks] for ticks in growths]
    leading: dict[object, list[tuple[int, ...]]] = {}
    found: dict[frozenset[tuple[tuple[int, int], ...]], float] = {}
    for block, row, mass in best:
        picked = dict(zip(block.active, block.combinations[row].tolist(), strict=True))
        rises = tuple(rising[column][tick] for column, tick in picked.items())
        if (block.products, rises) not in leading:
            leading[block.products, rises] = _leading(block.products, dict(zip(picked, rises, strict=True)))
        terms = frozenset(tuple((column, picked[column]) for column in members) for members in leading[block.products, rises])
        found[terms] = found.get(terms, 0.0) + mass / total
    product = cache(lambda members: math.prod((growths[column][tick] for column, tick in members), start=Growth.constant()))
    sums = {GrowthSum(tuple(sorted(map(product, terms), key=str))): mass for terms, mass in found.items()}
    return tuple(sorted(sums.items(), key=lambda pair: -pair[1]))


def _leading(products: Sequence[tuple[int, ...]], rises: Mapping[int, bool]) -> list[tuple[int, ...]]:
    """Return the products that no other one outgrows; one does if it has more parameters that rise or fewer that fall."""
    return [
        one
        for one in products
        if not any(
            other != one and all(rises[i] for i in {*other} - {*one}) and not any(rises[i] for i in {*one} - {*other})
            for other in products
        )
    ] or [()]
