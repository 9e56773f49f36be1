"""Quantities with units: texts, numbers and labelled arrays become seconds, bytes and counts, and dimensions are checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError, UsageError
from scalkit.support.arguments import require_kind, require_text
from scalkit.support.arrays import Flags, Floats, floats_of
from scalkit.support.units import BYTES, SECONDS, format_quantity, scaled, split_quantity

PARAMETER_UNITS: Mapping[str, str] = {"S": "B", "P": "processes", "R": "requests"}
"""What a model may depend on: message size, number of processes, queued receives; anything else has no unit."""

COUNTS = ("processes", "requests", "1")
_BYTES = {"byte": 1.0, "bytes": 1.0} | BYTES
_COUNTED = dict.fromkeys(("", "1", "process", "processes", "nodes", "ranks", "request", "requests"), 1.0)


@dataclass(frozen=True)
class Dimension:
    """Powers of the second and the byte; counts such as processes have none."""

    s: Fraction = Fraction(0)
    B: Fraction = Fraction(0)

    def __mul__(self, other: Dimension) -> Dimension:
        return Dimension(self.s + other.s, self.B + other.B)

    def __pow__(self, exponent: Fraction | int) -> Dimension:
        return Dimension(self.s * exponent, self.B * exponent)

    @property
    def is_number(self) -> bool:
        """Whether it is a plain number."""
        return not (self.s or self.B)

    @classmethod
    def of(cls, unit: str) -> Dimension:
        """Return the dimension of a base unit such as ``"s/B"``; that of counts is a number's."""
        above, _, below = unit.partition("/")
        return cls._named(above) * cls._named(below) ** -1

    @classmethod
    def _named(cls, unit: str) -> Dimension:
        known = {"s": cls(Fraction(1)), "B": cls(B=Fraction(1))}
        return known.get(unit, cls())

    @property
    def _powers(self) -> tuple[tuple[str, Fraction], ...]:
        return ("s", self.s), ("B", self.B)

    def __str__(self) -> str:
        above = [_raised(name, e) for name, e in self._powers if e > 0]
        below = [_raised(name, -e) for name, e in self._powers if e < 0]
        return "/".join([" ".join(above) or "1", *below]) if above or below else "1"


def _raised(name: str, exponent: Fraction) -> str:
    return name if exponent == 1 else f"{name}^{exponent}"


def parse_quantity(quantity: object, what: str = "the value") -> tuple[float, str]:
    """Return a quantity in base units, and that unit: ``(2.67e-09, "s/B")`` for ``"2.67 ns/B"``.

    `quantity`: prefixes k, M, G, T, P are powers of 1000, Ki, Mi, Gi, Ti, Pi of 1024. A plain number has the unit
    ``"1"``.
    `what`: for messages.
    Raises UsageError if it cannot be read or its unit is unknown.
    """
    if isinstance(quantity, int | float | np.number) and not isinstance(quantity, bool):
        return float(quantity), "1"
    found = split_quantity(quantity)
    if found is None:
        raise UsageError(f"{what} is {str(quantity)[:40]!r}; write a number and a unit, for example '4.5 us' or '64 KiB'.")
    value, whole = found
    above, slash, below = whole.partition("/")
    factor, unit = _scale(above, what, whole)
    if slash:
        divisor, per = _scale(below, what, whole)
        factor, unit = factor / divisor, f"{unit}/{per}" if per != "1" else unit
    return scaled(value, factor), unit


def _scale(name: str, what: str, whole: str) -> tuple[float, str]:
    for table, base in ((SECONDS, "s"), (_BYTES, "B"), (_COUNTED, "1")):
        if name in table:
            return table[name], base
    raise UsageError(f"{what} has the unknown unit {whole!r}; known are s, ms, us, ns, B, kB, MB, KiB, MiB, s/B and B/s.")


def values_in(given: ArrayLike, parameter: str) -> Floats:
    """Return values of a parameter as plain numbers in its base unit.

    `given`: numbers are in the base unit: bytes, processes. A text, or ``attrs["units"]`` of a DataArray, names its
    unit.
    `parameter`: ``"S"``, ``"P"``, ``"R"`` or another name.
    Raises UsageError if the unit is another one, or a value is no number or negative.
    """
    wanted = PARAMETER_UNITS.get(parameter, "1")
    if isinstance(given, str):
        value, unit = parse_quantity(given, parameter)
        _require_unit(parameter, given, unit, wanted)
        return _checked(np.asarray(value), parameter)
    named = getattr(given, "attrs", {}).get("units")
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{parameter} is {str(given)[:40]!r}; give a number, a text such as '64 KiB', or an array.") from error
    if named is not None:
        factor, unit = parse_quantity(f"1 {named}", f"the units of {parameter}")
        _require_unit(parameter, f"in {named}", unit, wanted)
        values = values * factor
    return _checked(values, parameter)


def seconds_in(given: ArrayLike, what: str = "times", of: str = "numbers in seconds") -> Floats:
    """Return times, or other plain numbers, as an array. Raises DataError if they are none, or in another unit."""
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"the {what} are {str(given)[:40]!r}; give {of}.") from error
    if (named := getattr(given, "attrs", {}).get("units", "s")) != "s":
        raise DataError(f"the {what} are in {named!r:.20}; convert them to seconds, 's'.")
    return found


def _require_unit(parameter: str, given: str, unit: str, wanted: str) -> None:
    if unit != ("1" if wanted in COUNTS else wanted):
        shown = "a number of " + wanted if wanted in COUNTS[:2] else f"in {wanted}" if wanted != "1" else "a plain number"
        raise UsageError(f"{parameter} is {given!r}; it must be {shown}.")


def _checked(values: Floats, parameter: str) -> Floats:
    wrong = ~np.isfinite(values) | (values < 0)
    if wrong.any():
        raise UsageError(f"{parameter} = {values[wrong].flat[0]:g}; it must be finite and not negative.")
    return values


_SMALL = {"s/B": ("s", "/B"), "B/s": ("B", "/s")}


def format_value(value: float, unit: str) -> str:
    """Return text for people, such as ``"2.67 ns/B"`` or ``"4.5 us"``; counts are plain."""
    if unit in COUNTS:
        return f"{value:.6g}"
    base, rest = _SMALL.get(unit, (unit, ""))
    if base == "B" and not rest and value >= 1024 and float(value).is_integer():
        for power, name in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
            if value % 1024**power == 0:
                return f"{value / 1024**power:.6g} {name}"
    return format_quantity(value, base, 3) + rest


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
        for end in (self.low, self.high):
            require_kind(end, Real, "the end of a range", "give a number")
        if not (0 <= self.low <= self.high):
            raise UsageError(f"the range from {self.low:g} to {self.high:g} is empty; name the lower end first.")

    @property
    def is_all(self) -> bool:
        """Whether nothing lies outside."""
        return self.low <= 0 and math.isinf(self.high) and not self.only and not self.open_low

    def contains(self, values: Floats) -> Flags:
        """Return which values lie inside, in their shape."""
        values = floats_of(values, "the value")
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
        require_text(parameter, "the parameter")
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
    require_kind(given, Mapping | None, "the valid ranges", "give a dict such as {'S': ('1 KiB', None)}")
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
