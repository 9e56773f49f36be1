"""Prior probabilities of sums of products: which parameters are in which columns, with which terms."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from scalkit.judge.fit.regression.priors import CLAIM, CONSTANT
from scalkit.support.arrays import Flags, Floats, Ints

if TYPE_CHECKING:
    from scalkit.judge.fit.regression.several.design import SumDesign

ONE_PRODUCT, ONE_EACH, OTHER = 0.25, 0.25, 0.5
"""Prior of one product of terms, of a sum of one column for each parameter, and of all other sums."""

NO_INFLUENCE = 0.06
"""Prior factor of each parameter without influence: nobody varies a parameter without a reason."""

ANOTHER_TERM = 0.3
"""A parameter follows the same term in all columns mostly; each further term costs this factor."""

OVERHEAD = 0.3
"""Prior of the claim with one column more, relative to the claim alone."""

NEARLY = 0.3
"""Prior of the claim with other terms along one parameter, relative to the claim alone."""

REPEATED = 0.4
"""Among other sums, each occurrence of a parameter beyond its first costs this factor."""

_MOST_COUNTED = 5
"""Sums of products of more parameters are too many to be counted."""

MOST_COLUMNS = 3
"""Columns beside the constant; more only where a sum has one for each of more parameters, or was claimed."""


def log_prior(design: SumDesign, hypotheses: Ints) -> Floats:
    """Return the logarithm of the prior of hypotheses of shape (h, columns, parameters)."""
    inside = hypotheses > 0
    used = inside.any(axis=1)
    n_columns, n_used = inside.any(axis=2).sum(axis=1), used.sum(axis=1)
    structure = _structure(design.n_parameters, inside, n_columns, n_used)
    # A term counts once for its parameter, in however many columns it is.
    ordered = np.sort(hypotheses, axis=1)
    is_new = ordered > 0
    is_new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    weights = _weights_of(design, ordered) * is_new
    by_parameter = weights.sum(axis=1)
    n_more = np.maximum(is_new.sum(axis=1) - 1, 0).sum(axis=1)
    prior = structure + by_parameter.sum(axis=1) + np.log(ANOTHER_TERM) * n_more
    prior = prior + np.log(NO_INFLUENCE) * (design.n_parameters - n_used)
    prior = np.where(n_used > 0, np.log1p(-CONSTANT) + prior, np.log(CONSTANT))
    if not design.has_claim:
        return np.asarray(prior)
    like = _like_claim(design, hypotheses, n_columns, by_parameter)
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp(np.log1p(-CLAIM) + prior, np.log(CLAIM) + np.log(like)))


def _structure(n_parameters: int, inside: Flags, n_columns: Ints, n_used: Ints) -> Floats:
    """Return the logarithm of the prior of which parameters are in which columns."""
    n_factors = inside.sum(axis=(1, 2))
    is_sum = (n_columns == n_used) & (n_factors == n_used)
    repeated = OTHER * REPEATED ** (n_factors - n_used) / _total_of_others(min(n_parameters, _MOST_COUNTED))
    return np.log(np.where(n_columns <= 1, ONE_PRODUCT, np.where(is_sum, ONE_EACH, repeated)))


def _weights_of(design: SumDesign, hypotheses: Ints) -> Floats:
    """Return the logarithms of the priors of all terms; same shape."""
    rows = [own[hypotheses[..., j]] for j, own in enumerate(design.log_weights)]
    return np.stack(rows, axis=-1)


def _like_claim(design: SumDesign, hypotheses: Ints, n_columns: Ints, by_parameter: Floats) -> Floats:
    """Return the prior of hypotheses that are near the claim: it, it and more, or other terms along one parameter."""
    claimed = design.claim[design.claim.any(axis=1)]
    inside = hypotheses > 0
    holds = (hypotheses[:, :, None] == claimed).all(axis=3).any(axis=1).all(axis=1)
    more = (_weights_of(design, hypotheses)).sum(axis=(1, 2)) - _weights_of(design, claimed).sum()
    n_products = 2**design.n_parameters - 1
    overhead = (n_columns == len(claimed) + 1) * OVERHEAD / n_products * np.exp(np.minimum(more, 0.0))
    like = holds * np.where(n_columns == len(claimed), 1.0, overhead)
    for j in range(design.n_parameters):
        # Equal to the claim but for the terms of this parameter.
        is_own = np.arange(design.n_parameters) == j
        others = np.where(is_own, inside, hypotheses)
        mine = np.where(is_own, design.claim > 0, design.claim)
        is_alike = (np.sort(design.keys(others), axis=1) == np.sort(design.keys(mine))).all(axis=1)
        like = like + NEARLY / design.n_parameters * np.exp(by_parameter[:, j]) * is_alike
    return np.asarray(like)


@lru_cache(8)
def _total_of_others(n_parameters: int) -> float:
    """Return the sum of the weights of all sums that are neither one product nor one column for each parameter."""
    products = [flags for flags in product((0, 1), repeat=n_parameters) if any(flags)]
    total = 0.0
    for size in range(2, MOST_COLUMNS + 1):
        for columns in combinations(products, size):
            n_factors = sum(map(sum, columns))
            n_used = sum(map(any, zip(*columns, strict=True)))
            if n_used == n_parameters and not size == n_used == n_factors:
                total += REPEATED ** (n_factors - n_used)
    return max(total, 1.0)
