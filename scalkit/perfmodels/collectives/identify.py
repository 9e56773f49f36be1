"""Which algorithm an implementation seems to use: a posterior over the algorithms of an operation from measured cells."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import numpy as np

from scalkit.errors import DataError
from scalkit.perfmodels.collectives.cells import Cells
from scalkit.perfmodels.collectives.model import collectives_of, same_messages
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.perfmodels.models.point_to_point import PointToPoint
from scalkit.stats.pure_error import pure_error
from scalkit.support.arguments import each_of, require_kind
from scalkit.support.arrays import Floats
from scalkit.support.markup import block, paragraph, table
from scalkit.support.text import as_percent, percent

OTHER = "other"
"""None of the algorithms that are known."""


_SAME, _TIE = 0.01, 1e-3
_SURE = 0.9
"""Above this probability a name is said without doubt, if it is one name."""


@dataclass(frozen=True)
class _Trust:
    """How far the time of an algorithm may be from its prediction, in logarithms.

    `discrepancy`: standard deviations of the models themselves, equally likely.
    `bias`, `bias_error`: what all cells may share, and its standard deviation.
    `far_share`, `slower`, `faster`: how many cells a model misses by more, and how far on either side: congestion and
    waiting only slow down.
    `width`: of the range in which an unknown algorithm is equally likely to be.
    """

    discrepancy: tuple[float, ...]
    bias: tuple[float, ...]
    bias_error: float
    far_share: float
    slower: float
    faster: float
    width: float


_TRUST = {
    "measured": _Trust((0.02, 0.05, 0.1, 0.2, 0.4), tuple(np.linspace(-0.6, 0.6, 25)), 0.2, 0.2, 0.4, 0.1, math.log(1e4)),
    "simulated": _Trust((0.02,), (0.0,), 1.0, 0.2, 0.4, 0.05, math.log(1e3)),
    "exact": _Trust((0.001, 0.003, 0.01), (0.0,), 1.0, 0.05, 0.05, 0.05, math.log(1e4)),
}


@dataclass(frozen=True)
class Cell:
    """One setting and what is believed of it.

    Attributes
    ----------
    S, P : float
    time : float, in s
        Median of the repetitions.
    algorithms : tuple of str
        The most probable one, with those whose predictions here are the same within 1 %.
    probability : float
        Of all of these together. An unknown algorithm may take as long by chance, so that the most probable known one may
        have less than one half.
    predicted : float, in s
        By the most probable one; NaN for "other".
    best : str
        The algorithm with the least predicted time.
    best_time : float, in s
        Its prediction, corrected by the factor by which the predictions of the algorithms found are off.
    likeliest : str
        The most probable of `algorithms`: where they predict the same, other sizes tell; the first one if they do not.
    is_one : bool
        Whether all of `algorithms` send the same messages, so that they are one answer.
    """

    S: float
    P: float
    time: float
    algorithms: tuple[str, ...]
    probability: float
    predicted: float
    best: str
    best_time: float
    likeliest: str
    is_one: bool = True

    @property
    def is_sure(self) -> bool:
        """Whether one known algorithm is named with more than 90 %."""
        return self.is_one and self.likeliest != OTHER and self.probability > _SURE


@dataclass(frozen=True)
class AlgorithmSwitch:
    """With `P` processes another algorithm is used above `after` bytes, and no later than `before`."""

    P: float
    after: float
    before: float
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Identified:
    """What `identify` returns.

    Attributes
    ----------
    operation : str
    names : tuple of str
        The algorithms and "other", in the order of the columns of `probabilities`.
    cells : tuple of Cell
        In the order given.
    probabilities : ndarray of shape (cells, names)
    bias : float
        Factor by which measured times exceed predictions.
    discrepancy : float
        Relative standard deviation of the models around measured times, beyond that factor.
    """

    operation: str
    names: tuple[str, ...]
    cells: tuple[Cell, ...]
    probabilities: Floats
    bias: float
    discrepancy: float

    @property
    def switches(self) -> tuple[AlgorithmSwitch, ...]:
        """Where the algorithm changes with the size, for each number of processes."""
        found = []
        for processes in sorted({cell.P for cell in self.cells}):
            row = sorted((cell for cell in self.cells if processes == cell.P), key=lambda cell: cell.S)
            for left, right in pairwise(row):
                if not set(left.algorithms) & set(right.algorithms):
                    found.append(AlgorithmSwitch(processes, left.S, right.S, left.algorithms, right.algorithms))
        return tuple(found)

    def better(self, factor: float = 1.1) -> tuple[Cell, ...]:
        """Return the cells where another algorithm is predicted to be faster than what was measured by more than a factor."""
        return tuple(c for c in self.cells if c.best not in c.algorithms and c.time > factor * c.best_time)

    def __repr__(self) -> str:
        used = dict.fromkeys(" or ".join(cell.algorithms) for cell in self.cells)
        return f"Identified({self.operation!r}: {', '.join(used)}; {len(self.cells)} cells, {len(self.switches)} switches)"

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row of texts for each cell: S, P, algorithms, probability, measured, predicted, and the least predicted."""
        return [
            (
                format_value(cell.S, "B"),
                f"{cell.P:g}",
                " or ".join(cell.algorithms),
                percent(cell.probability, short=True),
                format_value(cell.time, "s"),
                format_value(cell.predicted, "s") if math.isfinite(cell.predicted) else "–",
                f"{cell.best}: {format_value(cell.best_time, 's')}" if math.isfinite(cell.best_time) else "–",
            )
            for cell in self.cells
        ]

    def _repr_html_(self) -> str:
        head = ("S", "P", "seems to be", "probability", "measured", "predicted", "least predicted")
        off = f"beyond that the models are off by about {as_percent(self.discrepancy, '.2g')} in each cell"
        said = f"Measured times are {self.bias:.3g} times those predicted; {off}."
        return block(table(head, [tuple(map(escape, row)) for row in self.rows()], self.operation), paragraph(said))


def identify(cells: Cells, message: PointToPoint, *, without: Collection[str] = ()) -> Identified:
    """Return which algorithm explains the times of an operation, for each (S, P).

    Parameters
    ----------
    cells : Cells
        With at least 2 processes each.
    message : PointToPoint
        Fitted on the same machine.
    without : collection of str
        Algorithms that are not considered.

    Raises
    ------
    DataError
        If there is one process in a cell, or a time is not positive.

    Notes
    -----
    The logarithm of a time is that of the prediction, plus a bias that all cells share (normal, 0.2), plus an error of the model
    of 2 to 40 %, plus noise. In one cell of five the model misses more: congestion and waiting, which it leaves out, make times
    longer (by a factor of 1.5 on average), seldom shorter. Along the sizes of one number of processes the algorithm stays the
    same with a probability of 90 % a step, which tells apart what is the same at one size alone. An unknown algorithm takes
    any time within a factor of 100 of the predictions, so that "other" wins where no algorithm comes near; or as long as a known
    one by chance, as often as known ones do among each other, and always where the model misses by more. So a name is sure
    (`Cell.is_sure`) only where several sizes agree with one algorithm, and it is not like the others.

    All of that is for measured times. Where nothing is measured a misfit is no noise: simulated times share no bias, and models
    miss by 2 % except where there is congestion; exact ones (of a virtual clock, or that repeat) miss by 1 % at most, and in one
    cell of twenty by up to some 10 %.
    """
    require_kind(cells, Cells, "the times", "make cells with cells_of(data, 'MPI_Bcast')")
    without = each_of(without, str, "without", "give names of algorithms")
    operation, size, processes, times = cells.operation, cells.S, cells.P, cells.times
    known = ~np.isnan(times)
    if not (times[known] > 0).all() or np.isinf(times).any() or not known.any(axis=1).all():
        raise DataError("times must be positive and finite, at least one for each cell; leave the others out.")
    if (processes < 2).any():
        raise DataError("a cell has fewer than 2 processes; there is nothing to tell apart.")
    y = np.log(cells.time)
    repeats = times.shape[1] > 1 and bool((times == times[:, :1]).all())
    is_exact = cells.virtual or (repeats and not cells.simulated)
    trust = _TRUST["exact" if is_exact else "simulated" if cells.simulated else "measured"]
    noise = 0.0 if is_exact else pure_error(times, "median").error
    models = {name: one for name, one in collectives_of(operation, message).items() if name not in without}
    names = (*models, OTHER)
    predicted = np.full((len(y), len(models)), np.nan)
    for k, model in enumerate(models.values()):
        at = {"P": processes} | ({"S": size} if "S" in model.parameters else {})
        predicted[:, k] = model(outside="nan", **at)
    if np.isnan(predicted).all():
        raise DataError(f"no algorithm of {operation} has a prediction for these cells; see the valid range of '{message.name}'.")
    with np.errstate(divide="ignore"):
        logs = np.log(predicted)
    chains = _chains(size, processes)
    weights, posteriors = [], []
    for tau in trust.discrepancy:
        for bias in trust.bias:
            likely = _likelihood(y, logs + bias, math.hypot(tau, noise), trust)
            evidence, marginal = _smoothed(likely, chains)
            weights.append(evidence - (bias / trust.bias_error) ** 2 / 2)
            posteriors.append(marginal)
    share = np.exp(np.array(weights) - max(weights))
    share /= share.sum()
    probabilities = np.tensordot(share, np.array(posteriors), axes=1)
    grid = share.reshape(len(trust.discrepancy), len(trust.bias))
    factor = math.exp(float(grid.sum(axis=0) @ np.array(trust.bias)))
    spread = float(grid.sum(axis=1) @ np.array(trust.discrepancy))
    alike, probabilities = probabilities[:, -2], np.delete(probabilities, -2, axis=1)
    found = tuple(
        _cell(operation, size[c], processes[c], math.exp(y[c]), names, probabilities[c], alike[c], predicted[c], factor)
        for c in range(len(y))
    )
    probabilities[:, -1] += alike
    return Identified(operation, names, found, probabilities, factor, spread)


def _chains(size: Floats, processes: Floats) -> list[list[int]]:
    """Return for each number of processes the places of its cells by size."""
    order = np.lexsort((size, processes))
    return [[int(k) for k in order if processes[k] == p] for p in np.unique(processes)]


def _likelihood(y: Floats, logs: Floats, error: float, trust: _Trust) -> Floats:
    """Return the log likelihood of each cell under each algorithm; in the last two columns under an unknown one, which takes as
    long as one of them by chance, or as long as none.
    """
    beyond = np.where(np.isfinite(logs), y[:, None] - logs, 0.0)
    usual = -((beyond / error) ** 2) / 2 - math.log(error * math.sqrt(2 * math.pi))
    far = -np.where(beyond > 0, beyond / trust.slower, -beyond / trust.faster) - math.log(trust.slower + trust.faster)
    usual += math.log(1 - trust.far_share)
    far += math.log(trust.far_share)
    by_chance = usual + np.log(_coincidence(logs, max(_SAME, error)))[:, None]
    near, alike = (np.where(np.isfinite(logs), np.logaddexp(one, far), -np.inf) for one in (usual, by_chance))
    return np.column_stack([near, alike.max(axis=1), np.full(len(y), -math.log(trust.width))])


def _coincidence(logs: Floats, near: float) -> Floats:
    """Return how often an algorithm takes as long as another one, as far as models can tell, in each cell: the share of those
    that are known, one of each more.
    """
    apart = np.abs(logs[:, :, None] - logs[:, None, :])
    tied = (np.where(np.isnan(apart), np.inf, apart) <= near).sum(axis=2) > 1
    return np.asarray((tied.sum(axis=1) + 1) / (np.isfinite(logs).sum(axis=1) + 2))


def _smoothed(likely: Floats, chains: Sequence[Sequence[int]]) -> tuple[float, Floats]:
    """Return the log evidence and the marginals of logarithms of likelihoods, along each chain."""
    marginal, evidence = np.empty_like(likely), 0.0
    for chain in chains:
        peak = likely[chain].max(axis=1, keepdims=True)
        own, marginal[chain] = _forward_backward(np.exp(likely[chain] - peak))
        evidence += own + float(peak.sum())
    return evidence, marginal


_STAY = 0.9
"""Prior probability that the next setting has the same algorithm: one switch in a series of ten."""


def _forward_backward(likely: Floats) -> tuple[float, Floats]:
    """Return the log evidence and the marginals, by the forward-backward algorithm; the shape is (settings, algorithms)."""
    n = likely.shape[1]
    move = np.full((n, n), (1 - _STAY) / (n - 1)) + np.eye(n) * (_STAY - (1 - _STAY) / (n - 1))
    forward, backward = np.empty_like(likely), np.ones_like(likely)
    state, evidence = np.full(n, 1 / n), 0.0
    for k in range(len(likely)):
        state = likely[k] * (state if k == 0 else state @ move)
        evidence += math.log(state.sum())
        forward[k] = state = state / state.sum()
    for k in range(len(likely) - 2, -1, -1):
        state = move @ (likely[k + 1] * backward[k + 1])
        backward[k] = state / state.sum()
    both = forward * backward
    return evidence, np.asarray(both / both.sum(axis=1, keepdims=True))


def _cell(
    operation: str,
    size: float,
    processes: float,
    time: float,
    names: Sequence[str],
    probability: Floats,
    alike: float,
    predicted: Floats,
    factor: float,
) -> Cell:
    groups = [_same(k, predicted) for k in range(len(predicted))] + [[len(predicted)]]
    totals = [float(probability[group].sum()) for group in groups]
    top = int(np.argmax(totals))
    best = int(np.nanargmin(predicted)) if not np.isnan(predicted).all() else len(predicted)
    known = [*predicted.tolist(), math.nan]
    most = max(float(probability[k]) for k in groups[top])
    likeliest = next(k for k in groups[top] if probability[k] >= (1 - _TIE) * most)
    named = tuple(names[k] for k in groups[top])
    return Cell(
        float(size),
        float(processes),
        time,
        named,
        totals[top] + (alike if named == (OTHER,) else 0.0),
        known[likeliest],
        names[best],
        known[best] * factor,
        names[likeliest],
        all(same_messages(operation, named[0], other, float(processes), float(size)) for other in named[1:]),
    )


def _same(k: int, predicted: Floats) -> list[int]:
    close = np.abs(predicted - predicted[k]) <= _SAME * predicted[k]
    return [int(j) for j in np.flatnonzero(close)] or [k]
