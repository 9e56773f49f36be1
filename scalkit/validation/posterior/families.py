"""Families of hypotheses: all shapes of one leading term and one kind at given settings, made once for the same ones.

What a family leaves over of a series does not depend on the other families, so that it need not be computed again where a
ruler loses a tick or gets another one.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from scalkit.arrays import Floats
from scalkit.growth import Growth
from scalkit.validation.posterior.shapes import Settings, hidden, log_ticks, middle, offset, single, sums

Kind = Literal["term", "offset", "hidden", "sum"]
"""One term, one less a constant, one that hides behind the expected one, and one with a slower one beside it."""

_BASES, _OFFSETS = 0.06, 0.03
_KEPT = 1024
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class Family:
    """Hypotheses of one leading term and one kind.

    `growth`: the leading term.
    `other`: the second term; the expected one, where the leading term hides behind it.
    `shapes` of shape (H, n): natural logarithm of each shape, its mean over the settings subtracted.
    `offsets` of shape (H,): that mean.
    `shares` of shape (H,): of the leading term at the geometric middle, above 1 beside a negative constant; or of the
    hidden term at the last setting.
    `end_shares` of shape (H,): of the leading or hidden term at the last setting.
    `bases` of shape (H,): share of the second term in the base of two-term hypotheses, NaN for one term.
    `weights` of shape (H,): prior of each within the family; sums to 1.
    `parts` of shape (H, 3): what stands before 1, the other term and the leading one in each shape; terms are 1 at the
    geometric middle.
    """

    settings: Settings
    growth: Growth
    other: Growth | None
    kind: Kind
    shapes: Floats
    offsets: Floats
    shares: Floats
    end_shares: Floats
    bases: Floats
    weights: Floats
    parts: Floats


@lru_cache(maxsize=_KEPT)
def family(settings: Settings, growth: Growth, other: Growth | None, kind: Kind, step: float) -> Family:
    """Return a family; the same object for the same arguments, while it is among the last ones.

    `other`: None for one term beside the constant.
    `kind`: whether the leading term hides behind `other` or stands beside it in a sum; of one term, the sign of the
    constant.
    `step`: distance of neighbouring shapes of one term, root of the summed squares of their logarithms.
    """
    if other is None:
        made = offset(settings, growth, max(step, _OFFSETS)) if kind == "offset" else single(settings, growth, step)
        shapes, shares, weights = made
        bases = np.full(len(shares), np.nan)
    else:
        make = (hidden, (other, growth)) if kind == "hidden" else (sums, (growth, other))
        shapes, shares, bases, weights = make[0](settings, *make[1], max(step, _BASES))
    offsets = shapes.mean(axis=1)
    ends = shares
    if kind != "hidden" and not growth.is_constant:
        last = log_ticks(np.array(settings), growth, middle(np.array(settings)))[-1]
        ends = np.exp(np.log(np.maximum(shares, _LEAST)) + last - shapes[:, -1])
    centred = shapes - offsets[:, None]
    parts = _parts(settings, growth, other, kind, shares, bases)
    for array in (centred, offsets, shares, ends, bases, weights, parts):
        array.flags.writeable = False  # because they are shared
    return Family(settings, growth, other, kind, centred, offsets, shares, ends, bases, weights, parts)


def _parts(settings: Settings, growth: Growth, other: Growth | None, kind: Kind, shares: Floats, bases: Floats) -> Floats:
    """Return what stands before 1, the other term and the leading one, of shape (H, 3); terms are 1 at the middle."""
    nothing = np.zeros(len(shares))
    if other is None:
        return np.column_stack([1 - shares, nothing, nothing if growth.is_constant else shares])
    if kind == "sum":
        return np.column_stack([(1 - shares) * (1 - bases), (1 - shares) * bases, shares])
    x = np.array(settings)
    end, base_end = (float(np.exp(log_ticks(x[-1:], one, middle(x))[0])) for one in (growth, other))
    base = 1 - bases + bases * base_end
    return np.column_stack([(1 - bases) / base, bases / base, shares / (1 - shares) / end])
