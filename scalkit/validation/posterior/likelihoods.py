"""Likelihoods of hypotheses, family by family, and what is kept of them.

The logarithm of a setting's value is that of a shape plus a level plus noise; a flat prior on the level integrates it out,
so that a hypothesis is judged by the squares ``B`` of the centred residuals:
``likelihood = sum over variances of mass * v^(-(n-1)/2) * exp(-B / (2 v))``.

The likelihood depends on B alone, so it is tabulated in steps of 1/32 octave of B for each series and looked up. What a family
of hypotheses gives for a series depends on the other families only by the scale of that table, which follows the binary
exponent of the least B of all. So it is kept, and computed again where that exponent changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scalkit.validation.posterior.families import Family
from scalkit.validation.posterior.noise import Noise, widened

__all__ = ["Block", "Seen"]

Floats = np.ndarray[Any, np.dtype[np.float64]]
Singles = np.ndarray[Any, np.dtype[np.float32]]
Ints = np.ndarray[Any, np.dtype[np.int32]]

_ROWS = 8  # series in one product
_OCTAVE_BITS = 18  # of a float32: exponent and 5 bits of the mantissa remain, 32 steps an octave
_EXPONENT_BITS = 23
_BEYOND = 200.0
_NOTHING = 1e-2  # of the least variance: B below that tell nothing apart
_BELOW = 0.99  # B is never smaller than what was added to it, but for rounding


@dataclass(frozen=True, eq=False)
class _Found:
    """What a family gives: the least squares of residuals and the mean likelihood, of shape (series,), and under what scale."""

    least: Singles
    sums: Floats
    scales: Floats


class Block:
    """Series of equal settings whose likelihoods are computed together; no series' numbers depend on the others.

    Parameters
    ----------
    z : ndarray of shape (series, points)
        Mean logarithm of each setting.
    noise : Noise
    """

    def __init__(self, z: Floats, noise: Noise) -> None:
        centred = z - z.mean(axis=1, keepdims=True)
        self._size, self._n = z.shape
        stacks = -(-len(z) // _ROWS)
        rows = np.zeros((stacks * _ROWS, self._n + 2))
        least = noise.variances.min(axis=1) * _NOTHING
        rows[: len(z)] = np.column_stack([-2.0 * centred, (centred**2).sum(axis=1) + least, np.ones(len(z))])
        self._stacks = rows.reshape(stacks, _ROWS, self._n + 2)
        self._noise = noise
        self._least = least
        self._scales = np.full(len(z), np.nan)
        self._table: _Table | None = None
        self._found: dict[Family, _Found] = {}

    def __len__(self) -> int:
        return int(self._size)

    def squared_residuals(self, family: Family) -> Singles:
        """Return B of shape (series, H): the summed squares of centred residuals, and a hundredth of the least variance."""
        # BLAS rounds by the shape of a product, so all products with a family have the same one
        found = np.matmul(self._stacks, family.products).reshape(-1, len(family.shares))
        return np.asarray(found[: len(self)], dtype=np.float32)

    def likelihoods(self, family: Family) -> Singles:
        """Return the likelihood of each hypothesis after `sums`, the largest of all about 1, of shape (series, H)."""
        assert self._table is not None
        return self._table.of(self.squared_residuals(family))

    def sums(self, families: Sequence[Family]) -> Floats:
        """Return the mean likelihood of each family under its weights, of shape (series, families).

        What was found for these families before is taken again; of others it is forgotten.
        """
        before, self._found = self._found, {}
        new = {one: self.squared_residuals(one) for one in families if one not in before}
        least = np.array([before[one].least if one in before else new[one].min(axis=1) for one in families])
        self._scale(least.min(axis=0))
        for one, its_least in zip(families, least, strict=True):
            if one in before:
                self._found[one] = self._renewed(before[one], one)
            else:
                self._found[one] = _Found(its_least, self._sum(new.pop(one), one), self._scales)
        return np.column_stack([self._found[one].sums for one in families])

    def _scale(self, best: Singles) -> None:
        """Make the table for the least squared residual of each series, of shape (series,), unless it is there."""
        scales = np.where(
            best > (self._n - 1) * self._noise.variances.max(axis=1),
            best.astype(np.float64),
            -1.0 - (best.view(np.int32) >> _EXPONENT_BITS),
        )
        if not np.array_equal(scales, self._scales):
            self._scales = scales
            noise = widened(self._noise, best, self._n)
            floor = (best.view(np.int32) >> _EXPONENT_BITS << _EXPONENT_BITS).view(np.float32)
            self._table = _Table(noise, self._least, floor, self._n)

    def _renewed(self, found: _Found, family: Family) -> _Found:
        """Return what was found, computed again for the series whose scale has changed."""
        if found.scales is self._scales or np.array_equal(found.scales, self._scales):
            return found
        changed = found.scales != self._scales
        sums = np.where(changed, self._sum(self.squared_residuals(family), family), found.sums)
        return _Found(found.least, sums, self._scales)

    def _sum(self, squares: Singles, family: Family) -> Floats:
        assert self._table is not None
        likely = self._table.of(squares)
        found = np.einsum("sh,h->s", likely, family.weights.astype(np.float32))
        return np.asarray(found, dtype=np.float64)


@dataclass(eq=False)
class Seen:
    """What is kept of some series between one set of hypotheses and the next: a block each."""

    blocks: list[Block] = field(default_factory=list)


class _Table:
    """The likelihood of each series over B.

    Parameters
    ----------
    noise : Noise
    least : ndarray of shape (series,)
        What was added to each B.
    best : ndarray of shape (series,)
        The B whose likelihood is about 1.
    n : int
        Settings.
    """

    def __init__(self, noise: Noise, least: Floats, best: Singles, n: int) -> None:
        self._most = (np.maximum(_BEYOND, 4 * n) * noise.variances.max(axis=1)).astype(np.float32)
        first, last = (least * _BELOW).astype(np.float32).view(np.int32), self._most.view(np.int32)
        first, last = first >> _OCTAVE_BITS, last >> _OCTAVE_BITS
        width = int((last - first).max()) + 1
        bits = (first[:, None] + np.arange(width, dtype=np.int32)[None, :]) << _OCTAVE_BITS
        centres = (bits + (1 << (_OCTAVE_BITS - 1))).astype(np.int32).view(np.float32) - least[:, None].astype(
            np.float32
        )
        halves = (0.5 / noise.variances).astype(np.float32)
        scale = np.log(noise.masses)[None, :] - (n - 1) / 2 * np.log(noise.variances)
        peak = (scale - best[:, None] / (2 * noise.variances)).max(axis=1, keepdims=True)
        heights = (scale - peak).astype(np.float32)
        values = np.zeros(centres.shape, dtype=np.float32)
        with np.errstate(under="ignore", over="ignore"):
            for q in range(halves.shape[1]):
                values += np.exp(heights[:, q : q + 1] - centres * halves[:, q : q + 1])
        self._values = values.ravel()
        self._starts = np.arange(len(best), dtype=np.int32) * width - first

    def of(self, squares: Singles) -> Singles:
        """Return the likelihood of squares of shape (series, H); writes into them."""
        np.minimum(squares, self._most[:, None], out=squares)
        place = squares.view(np.int32)
        place >>= _OCTAVE_BITS
        place += self._starts[:, None]
        return np.asarray(self._values.take(place))
