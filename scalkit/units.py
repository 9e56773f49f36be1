"""Prints quantities with SI prefixes; inside scalkit everything is seconds and bytes."""

from __future__ import annotations

import math

__all__ = ["format_quantity"]

_PREFIXES = ("f", "p", "n", "u", "m", "", "k", "M", "G", "T", "P")
_NO_FRACTION = {"B", "op"}


def format_quantity(value: float, unit: str, digits: int = 3) -> str:
    """Return `value` with a unit prefix, for example ``"12.3 us"``.

    Parameters
    ----------
    value : float, in `unit`
        May be negative, zero, NaN or infinite.
    unit : str
        Unit without prefix (``"s"``, ``"B"``); the empty string, or ``"1"``, prints the number alone.
    digits : int
        Significant digits; whole bytes below 100 kB are printed exactly.

    Returns
    -------
    str
        ASCII text; ``"-"`` for NaN.
    """
    if math.isnan(value):
        return "-"
    unit = "" if unit == "1" else unit
    if math.isinf(value) or value == 0 or not unit:
        return f"{value:.{digits}g} {unit}".strip()
    if unit in _NO_FRACTION and abs(value) < 1e5 and float(value).is_integer():
        return f"{int(value)} {unit}"
    exponent = math.floor(math.log10(abs(value)))
    # Rounding may carry into the next decade: 999.9 ns is 1 us with three digits.
    if abs(float(f"{value:.{digits - 1}e}")) >= 10.0 ** (exponent + 1):
        exponent += 1
    lowest = 0 if unit in _NO_FRACTION else -15
    step = max(lowest, min(15, 3 * math.floor(exponent / 3)))
    scaled = value / 10.0**step
    decimals = max(0, digits - 1 - (exponent - step))
    return f"{scaled:.{decimals}f} {_PREFIXES[step // 3 + 5]}{unit}"
