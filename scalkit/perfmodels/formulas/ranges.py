"""Where a model holds: a range of each parameter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from scalkit.arrays import Flags, Floats
from scalkit.errors import UsageError
from scalkit.perfmodels.formulas.quantities import PARAMETER_UNITS, format_value, values_in


@dataclass(frozen=True)
class Range:
    """Values from `low` to `high`, in the base unit of a parameter; the ends belong to it unless one is open.

    Attributes
    ----------
    low, high : float
        Infinite where there is no limit.
    open_low : bool
        Whether `low` itself lies outside, as in ``256 B < S``.
    only : {"", "powers of two", "cubes", "powers of eight"}
        Which of the values lie inside.
    """

    low: float = 0.0
    high: float = math.inf
    open_low: bool = False
    only: Literal["", "powers of two", "cubes", "powers of eight"] = ""

    def __post_init__(self) -> None:
        if not (0 <= self.low <= self.high):
            raise UsageError(f"the range from {self.low:g} to {self.high:g} is empty; name the lower end first.")

    @property
    def is_all(self) -> bool:
        """Whether nothing lies outside."""
        return self.low <= 0 and math.isinf(self.high) and not self.only and not self.open_low

    def contains(self, values: Floats) -> Flags:
        """Return which values lie inside, in their shape."""
        inside = (values > self.low if self.open_low else values >= self.low) & (values <= self.high)
        if self.only == "powers of two":
            inside = inside & (np.frexp(values)[0] == 0.5)
        elif self.only == "cubes":
            inside = inside & (np.rint(np.cbrt(values)) ** 3 == values)
        elif self.only == "powers of eight":
            inside = inside & (np.frexp(values)[0] == 0.5) & (np.rint(np.cbrt(values)) ** 3 == values)
        return np.asarray(inside)

    def __and__(self, other: Range) -> Range | None:
        low, open_low = max((self.low, self.open_low), (other.low, other.open_low))
        high = min(self.high, other.high)
        if low > high or (low == high and open_low):
            return None
        is_both = self.only and other.only and self.only != other.only  # a cube that is a power of two
        return Range(low, high, open_low, "powers of eight" if is_both else self.only or other.only)

    def text(self, parameter: str) -> str:
        """Return for example ``"S > 1 KiB"`` or ``"P = 1 to 4096, powers of two"``."""
        unit = PARAMETER_UNITS.get(parameter, "1")
        low, high = format_value(self.low, unit), format_value(self.high, unit)
        has_low, has_high = self.low > 0 or self.open_low, math.isfinite(self.high)
        if has_low and has_high:
            shown = f"{parameter} {'above' if self.open_low else '='} {low} {'up ' if self.open_low else ''}to {high}"
        elif has_high:
            shown = f"{parameter} <= {high}"
        else:
            shown = f"{parameter} {'>' if self.open_low else '>='} {low}" if has_low else f"any {parameter}"
        return f"{shown}, {self.only}" if self.only else shown


def ranges_of(given: Mapping[str, object] | None) -> dict[str, Range]:
    """Return ranges from what users write: a Range, or a pair of ends such as ``("1 KiB", None)``.

    Raises UsageError if an entry is neither, or a range is empty.
    """
    return {name: one if isinstance(one, Range) else _from_pair(name, one) for name, one in (given or {}).items()}


def _from_pair(name: str, given: object) -> Range:
    if not isinstance(given, Iterable) or isinstance(given, str) or len(ends := list(given)) != 2:
        raise UsageError(f"the range of {name} is {given!r:.60}; write its two ends, as in ('1 KiB', None).")
    low, high = (math.nan if end is None else float(values_in(end, name)) for end in ends)
    return Range(0.0 if math.isnan(low) else low, math.inf if math.isnan(high) else high)


def intersection(ranges: Iterable[Mapping[str, Range]]) -> dict[str, Range]:
    """Return where several models hold at once. Raises UsageError if they never do."""
    found: dict[str, Range] = {}
    for one in ranges:
        for name, limits in one.items():
            both = limits & found[name] if name in found else limits
            if both is None:
                raise UsageError(
                    f"the models have no {name} in common: one holds for {found[name].text(name)}, one for {limits.text(name)}."
                )
            found[name] = both
    return found
