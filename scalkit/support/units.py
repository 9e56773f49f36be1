"""Prints quantities with SI prefixes, and takes written ones apart; inside scalkit everything is seconds and bytes."""

import math
import re

PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15} | {
    f"{letter}i": 1024.0**power for power, letter in enumerate("KMGTP", 1)
}
"""Of bytes and other things that are counted."""

BYTES = {f"{prefix}B": factor for prefix, factor in PREFIXES.items()}

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "ps": 1e-12, "min": 60.0, "h": 3600.0}

_PREFIXES = ("f", "p", "n", "u", "m", "", "k", "M", "G", "T", "P")
_NO_FRACTION = {"B", "op"}
_QUANTITY = re.compile(
    r"\s*(?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*(?P<unit>[A-Za-zµ1]{0,12}(?:/[A-Za-z]{1,10})?)\s*"
)


def split_quantity(text: object) -> tuple[float, str] | None:
    """Return number and unit of a quantity as written, such as ``(2.67, "ns/B")``; None if it is none."""
    match = _QUANTITY.fullmatch(text) if isinstance(text, str) else None
    return (float(match["number"]), match["unit"]) if match else None


def scaled(value: float, factor: float) -> float:
    """Return the product, rounded once: 41.3 us are 4.13e-05 s, not 4.1299999999999994e-05."""
    return value / round(1 / factor) if 0 < factor < 1 else value * factor


def format_quantity(value: float, unit: str, digits: int = 3) -> str:
    """Return `value` with a unit prefix, for example ``"12.3 us"``.

    `value` in `unit`: may be negative, zero, NaN or infinite.
    `unit`: unit without prefix (``"s"``, ``"B"``); the empty string, or ``"1"``, prints the number alone.
    `digits`: significant digits; whole bytes below 100 kB are printed exactly.
    Returns: ASCII text; ``"-"`` for NaN.
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
