"""How precisely each setting follows a model: all alike, small scales less, or all but one.

Real programs are not one term at every scale: start-up, caches and protocols rule the small ones. And one value may be off by a
factor, as where something else ran beside it. Both are hypotheses of their own; the values say how probable they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from scalkit.validation.posterior.families import Family

__all__ = ["LATE_MASS", "OFF_MASS", "Profile", "even", "late", "products", "without"]

Floats = np.ndarray[Any, np.dtype[np.float64]]

LATE_MASS = 0.1
"""Of small scales that misfit more. Where all misfit alike this is hardly less probable; where none does, it is negligible."""
OFF_MASS = 0.02
"""Of each setting's value that is off by a factor: rare, yet found at once where one stands out; not fitted to data."""
_WIDTH = 2.0
"""Of the natural logarithm of that factor, from 1/e to e, all equally probable."""
_FADES = 2.0
"""The variance at the smallest setting is exp(2) times that at the largest; chosen on series of real programs."""
_KEPT = 4096


@dataclass(frozen=True)
class Profile:
    """Relative precision of the settings.

    `weights`: 1 for the most precise ones; 0 for one that follows something else.
    """

    weights: tuple[float, ...]

    def __hash__(self) -> int:
        return self._hash  # profiles are keys of what is looked up for each family

    @cached_property
    def _hash(self) -> int:
        return hash(self.weights)

    def __reduce__(self) -> tuple[type[Profile], tuple[tuple[float, ...]]]:
        return type(self), (self.weights,)

    @cached_property
    def centring(self) -> Floats:
        """The matrix C of ``z' C z``, the weighted squares of residuals around their weighted mean, of shape (n, n)."""
        w = np.array(self.weights)
        return np.asarray(np.diag(w) - np.outer(w, w) / w.sum())

    @property
    def off(self) -> int | None:
        """Place of the setting that follows something else."""
        return self.weights.index(0.0) if 0.0 in self.weights else None

    @property
    def count(self) -> int:
        """Number of settings that follow the model."""
        return sum(weight > 0 for weight in self.weights)

    @cached_property
    def log_constant(self) -> float:
        """Logarithm of what the likelihood has beside the variance, relative to settings that are alike."""
        w = np.array([weight for weight in self.weights if weight > 0])
        found = 0.5 * (np.log(w).sum() - math.log(w.sum() / len(self.weights)))
        return float(found + (len(self.weights) - len(w)) * math.log(math.sqrt(2 * math.pi) / _WIDTH))


@lru_cache(maxsize=64)
def even(n: int) -> Profile:
    """Return the profile of settings that are alike."""
    return Profile((1.0,) * n)


@lru_cache(maxsize=64)
def late(settings: tuple[float, ...]) -> Profile:
    """Return the profile of a misfit that grows away from the largest setting."""
    x = np.log(np.array(settings))
    return Profile(tuple(np.exp(-_FADES * (x[-1] - x) / (x[-1] - x[0])).tolist()))


@lru_cache(maxsize=256)
def without(n: int, place: int) -> Profile:
    """Return the profile where one setting follows something else."""
    return Profile(tuple(float(i != place) for i in range(n)))


@lru_cache(maxsize=_KEPT)
def products(family: Family, profile: Profile) -> Floats:
    """Return what gives squared residuals in a product with series, of shape (n + 2, H): ``C s``, a one, and ``s' C s``."""
    s = family.shapes
    found = s @ profile.centring
    return np.column_stack([found, np.ones(len(s)), (found * s).sum(axis=1)]).T
