"""Likelihoods of hypotheses, family by family, and what is kept of them.

The logarithm of a setting's value is that of a shape plus a level plus noise; a flat prior on the level integrates it out,
so that a hypothesis is judged by the squares ``B`` of the centred residuals:
``likelihood = sum over variances of mass * v^(-(n-1)/2) * exp(-B / (2 v))``.

The likelihood depends on B alone, so it is tabulated in steps of 1/32 octave of B for each series and looked up. What a family
of hypotheses gives for a series depends on the other families only by the scale of that table, which follows the binary
exponents of the least B of all with each profile of the settings. So it is kept, and computed again where one of these changes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scalkit.arrays import Floats
from scalkit.validation.posterior.profiles import Batch, Noise, Profile, batch, even, widened
from scalkit.validation.posterior.shapes import Family

Singles = np.ndarray[Any, np.dtype[np.float32]]
Ints = np.ndarray[Any, np.dtype[np.int32]]

_ROWS = 8  # series in one product
_ALONE = 2**18  # multiplications in one product: OpenBLAS starts threads for more, which cost more than they bring
_OCTAVE_BITS = 18  # of a float32: exponent and 5 bits of the mantissa remain, 32 steps an octave
_EXPONENT_BITS = 23
_BEYOND = 200.0
_NOTHING = 1e-2  # of the least variance: B below that tell nothing apart
_BELOW = 0.99  # B is never smaller than what was added to it, but for rounding


@dataclass(frozen=True, eq=False)
class _Found:
    """What a batch gives: the least squares of residuals of shape (series,), the mean likelihoods of its families of shape
    (series, families), and under what scale."""

    least: Singles
    sums: Floats
    scales: Floats


class Block:
    """Series of equal settings whose likelihoods are computed together; no series' numbers depend on the others.

    `z` of shape (series, points): mean logarithm of each setting.
    """

    def __init__(self, z: Floats, noise: Noise) -> None:
        self._z = z - z.mean(axis=1, keepdims=True)
        self._size, self._n = z.shape
        self._noise = noise
        self._least = noise.variances.min(axis=1) * _NOTHING
        self._rows: dict[Profile, Floats] = {}
        self._scales: dict[Profile, Floats] = {}
        self._tables: dict[Profile, _Table] = {}
        self._found: dict[Batch, _Found] = {}

    def __len__(self) -> int:
        return int(self._size)

    def squared_residuals(self, one: Batch) -> Singles:
        """Return B of shape (series, H): the summed squares of centred residuals, and a hundredth of the least variance."""
        # BLAS rounds by the shape of a product, so all products with a batch have the same one
        stacks, squares = self._stacks(one.profile), np.empty((self._size, len(one.weights)), dtype=np.float32)
        width = _ALONE // (_ROWS * (self._n + 2))
        for first in range(0, squares.shape[1], width):
            found = np.matmul(stacks, one.products[:, first : first + width])
            squares[:, first : first + width] = found.reshape(-1, found.shape[2])[: self._size]
        np.maximum(squares, (self._least * _BELOW).astype(np.float32)[:, None], out=squares)
        return np.asarray(squares)

    def _stacks(self, profile: Profile) -> Floats:
        """Return the series for products with families, of shape (stacks, 8, n + 2)."""
        if profile not in self._rows:
            z, stacks = self._z, -(-self._size // _ROWS)
            rows = np.zeros((stacks * _ROWS, self._n + 2))
            squares = np.einsum("si,ij,sj->s", z, profile.centring, z)
            rows[: self._size] = np.column_stack([-2.0 * z, squares + self._least, np.ones(self._size)])
            self._rows[profile] = rows.reshape(stacks, _ROWS, self._n + 2)
        return self._rows[profile]

    def likelihoods(self, family: Family) -> Singles:
        """Return the likelihood of each hypothesis after `sums`, the largest of all about 1, of shape (series, H)."""
        return self._tables[even(self._n)].of(self.squared_residuals(batch((family,), even(self._n))))

    def sums(self, batches: Sequence[Batch]) -> Floats:
        """Return the mean likelihood of each family of batches under its weights, of shape (series, families).

        What was found for these batches before is taken again; of others it is forgotten.
        """
        before, self._found = self._found, {}
        new = {one: self.squared_residuals(one) for one in batches if one not in before}
        least = {one: before[one].least if one in before else new[one].min(axis=1) for one in batches}
        profiles = dict.fromkeys(one.profile for one in batches)
        self._scale({p: np.stack([least[one] for one in batches if one.profile == p]).min(axis=0) for p in profiles})
        scales = np.column_stack([self._scales[p] for p in profiles])
        for one in batches:
            if one in before:
                self._found[one] = self._renewed(before[one], one, scales)
            else:
                self._found[one] = _Found(least[one], self._sum(new.pop(one), one), scales)
        return np.concatenate([self._found[one].sums for one in batches], axis=1)

    def _scale(self, best: dict[Profile, Singles]) -> None:
        """Make the tables for the least squared residual of each series with each profile, unless they are there."""
        most = self._noise.variances.max(axis=1)
        scales: dict[Profile, Floats] = {
            p: np.where(one > (p.count - 1) * most, one.astype(np.float64), -1.0 - (one.view(np.int32) >> _EXPONENT_BITS))
            for p, one in best.items()
        }
        same = scales.keys() == self._scales.keys()
        if same and all(np.array_equal(scales[p], self._scales[p]) for p in scales):
            return
        self._scales = scales
        without_drift: Singles = np.stack([one for p, one in best.items() if not p.drift]).min(axis=0)
        noise = widened(self._noise, without_drift, self._n)
        floors = {p: (one.view(np.int32) >> _EXPONENT_BITS << _EXPONENT_BITS).view(np.float32) for p, one in best.items()}
        peaks = [
            _heights(noise, p, floor[:, None].astype(np.float64)).max(axis=1) + p.log_constant for p, floor in floors.items()
        ]
        peak: Floats = np.stack(peaks).max(axis=0)
        kinds: dict[tuple[int, tuple[float, ...]], list[Profile]] = {}
        for p in best:
            kinds.setdefault((p.count, p.drift[:1]), []).append(p)
        tables = {
            kind: _Table(noise, self._least, np.stack([floors[p] for p in alike]).min(axis=0), peak, alike[0])
            for kind, alike in kinds.items()
        }
        self._tables = {p: tables[p.count, p.drift[:1]] for p in best}

    def _renewed(self, found: _Found, one: Batch, scales: Floats) -> _Found:
        """Return what was found, computed again for the series whose scales have changed."""
        if found.scales is scales or np.array_equal(found.scales, scales):
            return found
        same = found.scales.shape == scales.shape
        changed = (found.scales != scales).any(axis=1) if same else np.ones(len(self), dtype=bool)
        sums = np.where(changed[:, None], self._sum(self.squared_residuals(one), one), found.sums)
        return _Found(found.least, sums, scales)

    def _sum(self, squares: Singles, one: Batch) -> Floats:
        return one.means(self._tables[one.profile].of(squares)) * math.exp(one.profile.log_constant)


@dataclass(eq=False)
class Seen:
    """What is kept of some series between one set of hypotheses and the next: a block each."""

    blocks: list[Block] = field(default_factory=list)


def _heights(noise: Noise, profile: Profile, squares: Floats) -> Floats:
    """Return the logarithm of each variance's part of the likelihood, of shape (series, Q), for squares of (series, 1).

    What a profile has beside the variance is left out.
    """
    variances = noise.variances
    scale = np.log(noise.masses)[None, :] - (profile.count - 1) / 2 * np.log(variances)
    scale = np.where(profile.allows(variances), scale, -np.inf)
    return np.asarray(scale - squares / (2 * variances))


class _Table:
    """The likelihood of each series over B, where some number of settings follow the model.

    `least` of shape (series,): what was added to each B; `floor`: B is never smaller.
    `peak` of shape (series,): logarithm of the likelihood that is taken for 1.
    """

    def __init__(self, noise: Noise, least: Floats, floor: Singles, peak: Floats, profile: Profile) -> None:
        n = profile.count + 1
        self._most = (np.maximum(_BEYOND, 4 * n) * noise.variances.max(axis=1)).astype(np.float32)
        last = self._most.view(np.int32) >> _OCTAVE_BITS
        first = np.minimum(floor.view(np.int32) >> _OCTAVE_BITS, last)
        width = int((last - first).max()) + 1
        bits = (first[:, None] + np.arange(width, dtype=np.int32)[None, :]) << _OCTAVE_BITS
        centres = (bits + (1 << (_OCTAVE_BITS - 1))).astype(np.int32).view(np.float32) - least[:, None].astype(np.float32)
        halves = (0.5 / noise.variances).astype(np.float32)
        heights = (_heights(noise, profile, np.zeros((len(least), 1))) - peak[:, None]).astype(np.float32)
        values = np.zeros(centres.shape, dtype=np.float32)
        with np.errstate(under="ignore", over="ignore"):
            for q in range(halves.shape[1]):
                values += np.exp(heights[:, q : q + 1] - centres * halves[:, q : q + 1])
        self._values = values.ravel()
        self._starts = np.arange(len(least), dtype=np.int32) * width - first

    def of(self, squares: Singles) -> Singles:
        """Return the likelihood of squares of shape (series, H); writes into them."""
        np.minimum(squares, self._most[:, None], out=squares)
        place = squares.view(np.int32)
        place >>= _OCTAVE_BITS
        place += self._starts[:, None]
        return np.asarray(self._values.take(place))
