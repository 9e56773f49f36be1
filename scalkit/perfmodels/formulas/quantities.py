"""Quantities with units: texts, numbers and labelled arrays become seconds, bytes and counts, and dimensions are checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from scalkit.arrays import Floats
from scalkit.errors import DataError, UsageError
from scalkit.units import BYTES, PREFIXES, SECONDS, format_quantity, scaled, split_quantity

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


PARAMETER_UNITS: Mapping[str, str] = {"S": "B", "P": "processes", "R": "requests"}
"""What a model may depend on: message size, number of processes, queued receives; anything else has no unit."""

COUNTS = ("processes", "requests", "1")
_BYTES = {"byte": 1.0, "bytes": 1.0} | BYTES
_FLOPS = {f"{prefix}flop": factor for prefix, factor in PREFIXES.items()}
_COUNTED = dict.fromkeys(("", "1", "process", "processes", "nodes", "ranks", "request", "requests"), 1.0)


@dataclass(frozen=True)
class Dimension:
    """Powers of the second, the byte and the operation on floating-point numbers; counts such as processes have none."""

    s: Fraction = Fraction(0)
    B: Fraction = Fraction(0)
    flop: Fraction = Fraction(0)

    def __mul__(self, other: Dimension) -> Dimension:
        return Dimension(self.s + other.s, self.B + other.B, self.flop + other.flop)

    def __pow__(self, exponent: Fraction | int) -> Dimension:
        return Dimension(self.s * exponent, self.B * exponent, self.flop * exponent)

    @property
    def is_number(self) -> bool:
        """Whether it is a plain number."""
        return not (self.s or self.B or self.flop)

    @classmethod
    def of(cls, unit: str) -> Dimension:
        """Return the dimension of a base unit such as ``"s/B"``; that of counts is a number's."""
        above, _, below = unit.partition("/")
        return cls._named(above) * cls._named(below) ** -1

    @classmethod
    def _named(cls, unit: str) -> Dimension:
        known = {"s": cls(Fraction(1)), "B": cls(B=Fraction(1)), "flop": cls(flop=Fraction(1))}
        return known.get(unit, cls())

    @property
    def _powers(self) -> tuple[tuple[str, Fraction], ...]:
        return ("s", self.s), ("B", self.B), ("flop", self.flop)

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
    for table, base in ((SECONDS, "s"), (_BYTES, "B"), (_FLOPS, "flop"), (_COUNTED, "1")):
        if name in table:
            return table[name], base
    raise UsageError(
        f"{what} has the unknown unit {whole!r}; known are s, ms, us, ns, B, kB, MB, KiB, MiB, s/B, B/s, flop and flop/s."
    )


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


def level_in(level: object) -> float:
    """Return the level of intervals. Raises UsageError if it is no number between 0 and 1."""
    if isinstance(level, bool) or not isinstance(level, int | float | np.floating) or not 0 < float(level) < 1:
        raise UsageError(f"the level of the intervals is {level!r:.40}; choose a number between 0 and 1, such as 0.9.")
    return float(level)


def _require_unit(parameter: str, given: str, unit: str, wanted: str) -> None:
    if unit != ("1" if wanted in COUNTS else wanted):
        shown = "a number of " + wanted if wanted in COUNTS[:2] else f"in {wanted}" if wanted != "1" else "a plain number"
        raise UsageError(f"{parameter} is {given!r}; it must be {shown}.")


def _checked(values: Floats, parameter: str) -> Floats:
    wrong = ~np.isfinite(values) | (values < 0)
    if wrong.any():
        raise UsageError(f"{parameter} = {values[wrong].flat[0]:g}; it must be finite and not negative.")
    return values


_SMALL = {"s/B": ("s", "/B"), "B/s": ("B", "/s"), "flop/s": ("flop", "/s")}


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
