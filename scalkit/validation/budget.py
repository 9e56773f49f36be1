"""Budgets as people write them: ``24 GB``, ``512 MiB``, ``10 ms``."""

import math
from numbers import Real
from typing import cast

from scalkit.errors import UsageError
from scalkit.units import PREFIXES, SECONDS, split_quantity

_EXAMPLES = {"B": "'24 GB' or '512 MiB'", "s": "'10 ms' or '2 min'"}


def parse_budget(budget: object, unit: str) -> float:
    """Return a budget in `unit`.

    `budget`: a number in `unit`, or text with a prefix: k, M, G, T, P are powers of 1000, Ki, Mi, Gi, Ti, Pi of 1024.
    `unit`: base unit, for example ``"B"`` or ``"s"``.
    Raises UsageError if it cannot be read, is not positive and finite, or is in another unit.
    """
    is_number = isinstance(budget, Real) and not isinstance(budget, bool)
    if is_number:
        value = float(cast(float, budget))
    elif isinstance(budget, str) and (found := split_quantity(budget)):
        value = found[0] * _factor(found[1], unit, budget)
    else:
        raise UsageError(
            f"the budget {str(budget)[:40]!r} cannot be read; write a number in {unit or 'the unit'}{_or_text(unit)}."
        )
    if not (0 < value < math.inf):
        raise UsageError(f"the budget {str(budget)[:40]!r} must be positive and finite.")
    return value


def _factor(written: str, unit: str, budget: str) -> float:
    prefixes = {**PREFIXES, "K": 1e3}
    factors = {"": 1.0, **SECONDS} if unit == "s" else prefixes | {f"{prefix}{unit}": f for prefix, f in prefixes.items()}
    if written not in factors:
        raise UsageError(f"the budget {budget[:40]!r} is not in {unit or 'numbers without a unit'}{_or_text(unit)}.")
    return factors[written]


def _or_text(unit: str) -> str:
    return f", or a text such as {_EXAMPLES[unit]}" if unit in _EXAMPLES else ""
