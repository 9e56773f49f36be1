"""Search of the sums that may be followed: which hypotheses are worth being computed exactly."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from scipy.special import logsumexp, ndtr

from scalkit.judge.fit.regression.several.cells import Cells
from scalkit.judge.fit.regression.several.design import SumDesign
from scalkit.judge.fit.regression.several.evidence import Relative, factors_of
from scalkit.judge.fit.regression.several.prior import ANOTHER_TERM, log_prior
from scalkit.support.arrays import Floats, Ints, product

_SHORTLIST = {2: 14, 3: 6, 4: 4, 5: 2}
"""Terms along each parameter whose products are all tried, by the number of parameters; else one."""

_MOST_WITH_USUAL = 4
"""So many parameters have their most usual terms among them in any case."""

_MOST_PRODUCTS = {2: 3, 3: 3, 4: 3, 5: 2, 6: 2}
"""Columns of the sums that are all tried, by the number of parameters."""

_SEEDS = 60
"""Hypotheses of the first search that are computed exactly."""

_OF_EACH = 2
"""So many of each structure, too."""

_PARENTS = 4
"""The best hypotheses, whose terms are all replaced, and to which columns are added."""

_FOR_CELLS = 4
"""The best hypotheses, under which a cell is chosen."""

_MOST_ROUNDS = 5
"""Rounds of changes of the best hypotheses, which end when the best one stays."""

_KEPT = 120
_NEGLIGIBLE = 9.0
"""So many hypotheses are kept, none more nats behind the best one."""

_LINE_ERROR, _LINE_DRIFT = 0.01, 0.03
"""Error and drift of the rough comparison of terms along lines."""


def search(values: Relative) -> tuple[Ints, Cells]:
    """Return hypotheses that may not be negligible (h, columns, parameters), and the cells they were compared in.

    Those that fit well while errors are large may hide others that would fit much better, and with
    small errors one point decides. So two searches go on side by side.
    """
    design = values.design
    pool = _pool(values)
    found = Ranked(values, _first_cells(design), _tried(values, pool, _first_cells(design)))
    best = found.hypotheses[:_FOR_CELLS]
    cell = values.best_cells(best, log_prior(design, best), design.rough_cells, 1)
    less = cell.with_less_error(design.errors)
    cells = cell if less.error[0] == cell.error[0] else cell.joined(less)
    every = []
    for k in range(len(cells.error)):
        one = cells.chosen(np.array([k]))
        ranked = Ranked(values, one, found.hypotheses)
        for _ in range(_MOST_ROUNDS):
            best = ranked.of_each_structure(_PARENTS)
            ranked.add(np.concatenate([_around(design, best), _with_more(design, best)]))
            if (ranked.hypotheses[0] == best[0]).all():
                break
        every.append(ranked.hypotheses[:_KEPT])
    if design.has_claim:
        claim = design.claim[None]
        every += [_around(design, claim), _with_more(design, claim)]
    none = np.zeros((1, design.width, design.n_parameters), dtype=np.int64)
    ranked = Ranked(values, cells, np.concatenate([*every, none]))
    is_near = ranked.scores[:_KEPT] > ranked.scores[0] - _NEGLIGIBLE
    return ranked.hypotheses[:_KEPT][is_near], cells


class Ranked:
    """Hypotheses by falling probability in some cells; each is computed once.

    Attributes
    ----------
    hypotheses : array of shape (h, columns, parameters)
    scores : array of shape (h,)
        Logarithms of their probabilities, up to a constant.
    """

    def __init__(self, values: Relative, cells: Cells, hypotheses: Ints) -> None:
        self._values, self._cells = values, cells
        self.hypotheses, self._keys = hypotheses[:0], np.empty(0, dtype=np.uint64)
        self.scores: Floats = np.empty(0)
        self.add(hypotheses)

    def of_each_structure(self, n: int) -> Ints:
        """Return the best hypothesis of each of the n best structures: which parameters are in which columns."""
        structure = self._values.design.set_keys(self.hypotheses > 0)
        _, first = np.unique(structure, return_index=True)
        return self.hypotheses[np.sort(first)[:n]]

    def add(self, hypotheses: Ints) -> None:
        """Add those hypotheses that are new."""
        more, keys = self._values.design.distinct(hypotheses)
        is_new = ~np.isin(keys, self._keys)
        more, keys = more[is_new], keys[is_new]
        if not len(more):
            return
        evidence = self._values.evidence(more, self._cells).log
        scores = logsumexp(evidence + self._cells.log_prior[:, None], axis=0)
        scores = np.concatenate([self.scores, scores + log_prior(self._values.design, more)])
        order = np.argsort(-scores, kind="stable")
        self.scores = scores[order]
        self.hypotheses = np.concatenate([self.hypotheses, more])[order]
        self._keys = np.concatenate([self._keys, keys])[order]


def _first_cells(design: SumDesign) -> Cells:
    """Return a few different cells, where nothing is known yet."""
    every = design.cells
    is_still = ~every.drift.any(axis=1)
    errors = np.unique(every.error)
    places = [np.flatnonzero(is_still & (every.error == errors[k]))[0] for k in (len(errors) // 4, (3 * len(errors)) // 4)]
    return every.chosen(np.array(places))


@dataclass(frozen=True, eq=False)
class _Pool:
    """Products of the terms of a shortlist.

    Attributes
    ----------
    terms : tuple of arrays
        Places of the terms along each parameter, that of the constant first.
    columns : array of shape (products, parameters)
        All products, the constant first.
    relative : array of shape (products + 1, points)
        Their values; the first row is the constant, the last one is none.
    """

    terms: tuple[Ints, ...]
    columns: Ints
    relative: Floats


def _pool(values: Relative) -> _Pool:
    design = values.design
    terms = tuple(_shortlist(values, j) for j in range(design.n_parameters))
    columns = np.array(list(itertools.product(*terms)), dtype=np.int64)
    relative = np.vstack([values.constant, values.columns(columns[1:])[0], np.zeros(len(values.y))])
    return _Pool(terms, columns, relative)


def _shortlist(values: Relative, j: int) -> Ints:
    """Return the constant and the best terms along a parameter, from all lines on which the others are fixed."""
    design = values.design
    n_terms = len(design.terms[j])
    score = np.zeros((n_terms, n_terms))
    for at in design.lines[j]:
        score += _pair_scores(values, j, at)
    weight = design.log_weights[j]
    score = score + weight + weight[:, None] + np.log(ANOTHER_TERM)
    score[0] -= np.log(ANOTHER_TERM)  # the constant and one term
    score[:, 0] = -np.inf
    np.fill_diagonal(score, -np.inf)
    keep = _SHORTLIST.get(design.n_parameters, 1)
    best = np.argsort(-score.max(axis=0), kind="stable")[: min(keep, n_terms - 1)]
    usual = design.usual[j] if design.n_parameters <= _MOST_WITH_USUAL else ()
    return np.array([0, *sorted({*best.tolist(), *usual, *design.claim[:, j].tolist()} - {0})])


def _pair_scores(values: Relative, j: int, at: Ints) -> Floats:
    """Return the log evidence of a constant and each pair of terms on one line, shape (terms, terms)."""
    design = values.design
    logs = design.logs[j][:, at] - values.log_scale[at]
    columns = np.exp(logs - logs.max(axis=1, keepdims=True))
    noise = np.diag(values.standard_error[at] ** 2 + _LINE_ERROR**2)
    noise = noise + _LINE_DRIFT**2 * design.brownian[j][np.ix_(at, at)]
    inverse = factors_of(noise[None])[1][0]
    white = product(columns, inverse.T)
    white, target, first = _without_constant(white, inverse @ values.target[at])
    return _scores_of_pairs(product(white, white.T), white @ target) + first


def _scores_of_pairs(gram: Floats, b: Floats) -> Floats:
    """Return the log evidence of each column, and of each pair, beside the constant."""
    diagonal = 1 + np.diag(gram)
    single = 0.5 * b**2 / diagonal - 0.5 * np.log(diagonal)
    variance = np.maximum(diagonal - gram**2 / diagonal[:, None], 1.0)
    rest = b - gram * (b / diagonal)[:, None]
    z = rest / np.sqrt(variance)
    pairs = 0.5 * z**2 - 0.5 * np.log(variance) + np.log(0.05 + 0.95 * ndtr(z))
    found = single[:, None] + pairs
    both = np.minimum(found, found.T)
    both[0] = single + np.log(0.05 + 0.95 * ndtr(b / np.sqrt(diagonal)))
    return np.asarray(both)


def _without_constant(white: Floats, target: Floats) -> tuple[Floats, Floats, float]:
    """Return what is left of columns (m, points) and target beside the first column, and its log evidence."""
    first = np.append(white[0], 1.0)  # the last element is its own share
    size = float(np.sqrt(first @ first))
    first = first / size
    along, share = white @ first[:-1], float(target @ first[:-1])
    left = np.hstack([white, np.zeros((len(white), 1))]) - along[:, None] * first
    rest = np.append(target, 0.0) - share * first
    return left, rest, float(0.5 * share**2 - np.log(size))


@lru_cache(8)
def _structures(sizes: tuple[int, ...], width: int) -> tuple[Ints, Ints, Ints]:
    """Return all sums with one term of each parameter.

    Returns
    -------
    terms : array of shape (h, parameters)
        Which term of the shortlist stands for each parameter; 0 where it is in no column.
    places : array of shape (h, width)
        Places of the columns among all products of the shortlists; that after the last is none.
    structure : array of shape (h,)
        Number of the structure.
    """
    d = len(sizes)
    most = _MOST_PRODUCTS.get(d, 1)
    subsets = [np.array(flags) for flags in itertools.product((0, 1), repeat=d) if any(flags)]
    sets = [chosen for size in range(1, most + 1) for chosen in combinations(subsets, size)]
    if d > most:
        sets.append(tuple(np.eye(d, dtype=int)))
    n_products = int(np.prod(sizes))
    terms, places = [], []
    for chosen in sets:
        used = np.any(chosen, axis=0)
        grid = np.array(
            list(itertools.product(*(range(1, n) if is_used else (0,) for n, is_used in zip(sizes, used, strict=True))))
        )
        rows = [np.ravel_multi_index(tuple((grid * subset).T), sizes) for subset in chosen]
        rows += [np.full(len(grid), n_products)] * (width - len(rows))
        terms.append(grid)
        places.append(np.stack(rows, axis=1))
    structure = np.repeat(np.arange(len(sets)), [len(grid) for grid in terms])
    return np.concatenate(terms), np.concatenate(places), structure


def _tried(values: Relative, pool: _Pool, cells: Cells) -> Ints:
    """Return the best sums with one term of each parameter from the shortlists."""
    design = values.design
    sizes = tuple(len(each) for each in pool.terms)
    terms, places, structure = _structures(sizes, design.width)
    scores = _quick_scores(values, pool, cells, places)
    rows = [own[short[terms[:, j]]] for j, (own, short) in enumerate(zip(design.log_weights, pool.terms, strict=True))]
    scores = scores + sum(rows)
    order = np.argsort(-scores, kind="stable")
    # The best ones, and the best of each structure, which many neighbours of the best would crowd out.
    own = structure[order]
    by_structure = np.argsort(own, kind="stable")
    starts = np.flatnonzero(np.diff(own[by_structure], prepend=-1))
    ends = np.append(starts[1:], len(own))
    picked = [by_structure[start : min(start + _OF_EACH, end)] for start, end in zip(starts, ends, strict=True)]
    best = np.union1d(order[:_SEEDS], order[np.concatenate(picked)])
    return _columns_of(pool, places[best])


def _columns_of(pool: _Pool, places: Ints) -> Ints:
    """Return hypotheses from the places of their columns in a pool."""
    columns = np.vstack([pool.columns, 0 * pool.columns[:1]])
    return columns[places]


def _quick_scores(values: Relative, pool: _Pool, cells: Cells, places: Ints) -> Floats:
    """Return the log evidence of sums of columns of the pool, from products of the columns."""
    found = []
    for factor, inverse, prior in zip(*factors_of(values.covariance(cells)), cells.log_prior, strict=True):
        white, target, first = _without_constant(product(pool.relative, inverse.T), inverse @ values.target)
        scores = _by_products(product(white, white.T), white @ target, places)
        found.append(scores + first + prior - np.log(np.diag(factor)).sum())
    return np.asarray(logsumexp(found, axis=0))


def _by_products(gram: Floats, b: Floats, places: Ints) -> Floats:
    """Return the log evidence of sums of columns from their products, by Cholesky's method for all of them at once."""
    n_columns = places.shape[1]
    is_used = [bool((places[:, k] < len(b) - 1).any()) for k in range(n_columns)]
    chosen = [places[:, k] for k in range(n_columns) if is_used[k]]
    lower: list[list[Floats]] = []
    along: list[Floats] = []
    score = np.zeros(len(places))
    for k, column in enumerate(chosen):
        row: list[Floats] = []
        for i in range(k):
            inner = sum((row[m] * lower[i][m] for m in range(i)), np.zeros(1))
            row.append((gram[column, chosen[i]] - inner) / lower[i][i])
        own = 1 + gram[column, column] - sum((each**2 for each in row), np.zeros(1))
        row.append(np.sqrt(np.maximum(own, 1.0)))
        rest = b[column] - sum((each * part for each, part in zip(row, along, strict=False)), np.zeros(1))
        along.append(rest / row[k])
        lower.append(row)
        score += 0.5 * along[k] ** 2 - np.log(row[k])
    # Shares, the last one first, without those that are clearly negative.
    shares: list[Floats] = [np.zeros(1)] * len(chosen)
    for k in reversed(range(len(chosen))):
        inner = sum((lower[m][k] * shares[m] for m in range(k + 1, len(chosen))), np.zeros(1))
        shares[k] = (along[k] - inner) / lower[k][k]
        score += np.log(0.1 + 0.9 * (shares[k] > -1 / lower[k][k]))
    return score


def _around(design: SumDesign, hypotheses: Ints) -> Ints:
    """Return hypotheses with each term of each parameter replaced by all others, wherever it occurs and in one column."""
    found = [hypotheses]
    for hypothesis in hypotheses:
        places = {(j, int(term)) for j in range(design.n_parameters) for term in hypothesis[:, j] if term}
        for j, term in sorted(places):
            others = np.arange(1, len(design.terms[j]))[:, None]
            is_term = hypothesis[:, j] == term
            rows = [is_term]
            if is_term.sum() > 1:
                rows += [np.arange(len(hypothesis)) == k for k in np.flatnonzero(is_term)]
            for row in rows:
                moved = np.repeat(hypothesis[None], len(others), axis=0)
                moved[..., j] = np.where(row, others, hypothesis[:, j])
                found.append(moved)
    return np.concatenate(found)


def _with_more(design: SumDesign, hypotheses: Ints) -> Ints:
    """Return hypotheses with one more product of their own terms and of the most usual ones."""
    found = [hypotheses]
    for hypothesis in hypotheses:
        usual = design.usual if design.n_parameters <= _MOST_WITH_USUAL else [()] * design.n_parameters
        own = [sorted({0, *usual[j], *hypothesis[:, j].tolist()}) for j in range(design.n_parameters)]
        columns = np.array(list(itertools.product(*own)), dtype=np.int64)
        free = np.flatnonzero(~hypothesis.any(axis=1))
        for target in free[:1] if len(free) else range(len(hypothesis)):
            moved = np.repeat(hypothesis[None], len(columns), axis=0)
            moved[:, target] = columns
            found.append(moved)
    return np.concatenate(found)
