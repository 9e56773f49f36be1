"""Budgets as people write them: ``24 GB``, ``512 MiB``, ``10 ms``."""

from __future__ import annotations

import math
import re
from numbers import Real
from typing import cast

from scalkit.errors import UsageError

__all__ = ["parse_budget"]

_PREFIXES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15} | {
    f"{letter}i": 1024.0**power for power, letter in enumerate("KMGTP", 1)
}
_TIMES = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
_QUANTITY = re.compile(
    r"\s*(?P<number>[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?|\.[0-9]+)\s*(?P<unit>[A-Za-zµ]{0,10})\s*"
)
_EXAMPLES = {"B": "'24 GB' or '512 MiB'", "s": "'10 ms' or '2 min'"}


def parse_budget(budget: object, unit: str) -> float:
    """Return a budget in `unit`.

    Parameters
    ----------
    budget : float or str
        A number in `unit`, or text with a prefix: k, M, G, T, P are powers of 1000, Ki, Mi, Gi, Ti, Pi of 1024.
    unit : str
        Base unit, for example ``"B"`` or ``"s"``.

    Raises
    ------
    UsageError
        If it cannot be read, is not positive and finite, or is in another unit.
    """
    is_number = isinstance(budget, Real) and not isinstance(budget, bool)
    if is_number:
        value = float(cast(float, budget))
    elif isinstance(budget, str) and (match := _QUANTITY.fullmatch(budget)):
        value = float(match["number"]) * _factor(match["unit"], unit, budget)
    else:
        raise UsageError(
            f"the budget {str(budget)[:40]!r} cannot be read; write a number in {unit or 'the unit'}{_or_text(unit)}."
        )
    if not (0 < value < math.inf):
        raise UsageError(f"the budget {str(budget)[:40]!r} must be positive and finite.")
    return value


def _factor(written: str, unit: str, budget: str) -> float:
    factors = _TIMES if unit == "s" else _PREFIXES | {f"{prefix}{unit}": f for prefix, f in _PREFIXES.items()}
    if written not in factors:
        raise UsageError(f"the budget {budget[:40]!r} is not in {unit or 'numbers without a unit'}{_or_text(unit)}.")
    return factors[written]


def _or_text(unit: str) -> str:
    return f", or a text such as {_EXAMPLES[unit]}" if unit in _EXAMPLES else ""
