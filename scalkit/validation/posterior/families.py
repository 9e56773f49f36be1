"""Families of hypotheses: all shapes of one leading term and one kind at given settings, made once for the same ones.

What a family leaves over of a series does not depend on the other families, so that it need not be computed again where a
ruler loses a tick or gets another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from scalkit.growth import Growth
from scalkit.validation.posterior.shapes import Settings, hidden, log_mix, log_ticks, middle, single, sums, sums_at

__all__ = ["Family", "family"]

Floats = np.ndarray[Any, np.dtype[np.float64]]

_BASES = 0.06
_KEPT = 1024
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class Family:
    """Hypotheses of one leading term and one kind.

    Attributes
    ----------
    settings : tuple of float, length n
    growth : Growth
        The leading term.
    other : Growth or None
        The second term; the expected one, where the leading term hides behind it.
    is_hidden : bool
    shapes : ndarray of shape (H, n)
        Natural logarithm of each shape, its mean over the settings subtracted.
    offsets : ndarray of shape (H,)
        That mean.
    products : ndarray of shape (n + 2, H)
        Each shape, a one, and the summed squares of the shape, for products with series.
    shares : ndarray of shape (H,)
        Of the leading term at the geometric middle, or of the hidden term at the last setting.
    end_shares : ndarray of shape (H,)
        Of the leading or hidden term at the last setting.
    bases : ndarray of shape (H,)
        Share of the second term in the base of two-term hypotheses, NaN for one term.
    weights : ndarray of shape (H,)
        Prior of each within the family; sums to 1.
    """

    settings: Settings
    growth: Growth
    other: Growth | None
    is_hidden: bool
    shapes: Floats
    offsets: Floats
    products: Floats
    shares: Floats
    end_shares: Floats
    bases: Floats
    weights: Floats

    def log_shapes_at(self, at: Floats) -> Floats:
        """Return the logarithm of every shape at `at`, of shape (H, len(at)), relative to its mean over the settings."""
        x = np.array(self.settings)
        if self.is_hidden and self.other is not None:
            end = x[-1:]
            base = _term_at(at, x, self.other, self.bases) - _term_at(end, x, self.other, self.bases)
            odds = np.log(self.shares) - np.log1p(-self.shares)
            found = np.logaddexp(base, odds[:, None] + log_ticks(at, self.growth, float(end[0]))[None, :])
        elif self.other is not None:
            found = sums_at(at, x, self.growth, self.other, self.shares, self.bases)
        else:
            found = _term_at(at, x, self.growth, self.shares)
        return np.asarray(found - self.offsets[:, None])


@lru_cache(maxsize=_KEPT)
def family(settings: Settings, growth: Growth, other: Growth | None, is_hidden: bool, step: float) -> Family:
    """Return a family; the same object for the same arguments, while it is among the last ones.

    Parameters
    ----------
    settings : tuple of float
    growth : Growth
    other : Growth or None
        None for one term beside the constant.
    is_hidden : bool
        Whether the leading term hides behind `other`, instead of standing beside it in a sum.
    step : float
        Distance of neighbouring shapes of one term, root of the summed squares of their logarithms.
    """
    if other is None:
        shapes, shares, weights = single(settings, growth, step)
        bases = np.full(len(shares), np.nan)
    else:
        make = (hidden, (other, growth)) if is_hidden else (sums, (growth, other))
        shapes, shares, bases, weights = make[0](settings, *make[1], max(step, _BASES))
    offsets = shapes.mean(axis=1)
    ends = shares
    if not is_hidden and not growth.is_constant:
        last = log_ticks(np.array(settings), growth, middle(np.array(settings)))[-1]
        ends = np.exp(np.log(np.maximum(shares, _LEAST)) + last - shapes[:, -1])
    centred = shapes - offsets[:, None]
    products = np.column_stack([centred, np.ones(len(shares)), (centred**2).sum(axis=1)]).T
    for array in (centred, offsets, products, shares, ends, bases, weights):
        array.flags.writeable = False  # because they are shared
    return Family(settings, growth, other, is_hidden, centred, offsets, products, shares, ends, bases, weights)


def _term_at(at: Floats, x: Floats, growth: Growth, shares: Floats) -> Floats:
    if growth.is_constant:
        return np.zeros((len(shares), len(at)))
    return log_mix(log_ticks(at, growth, middle(x)), shares)
