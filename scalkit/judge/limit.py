"""Scaling limits: the largest p at which a modelled quantity stays within a budget, with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from scalkit.errors import UsageError
from scalkit.judge.answer import counts_processes
from scalkit.judge.crossing import place_of, shown_scale
from scalkit.judge.expectation import sure_match
from scalkit.judge.judged import is_decided
from scalkit.support.arguments import is_number, require_kind, require_positive
from scalkit.support.arrays import Floats
from scalkit.support.markup import block, paragraph
from scalkit.support.text import as_percent, did_you_mean
from scalkit.support.units import PREFIXES, SECONDS, format_quantity, split_quantity

if TYPE_CHECKING:
    from scalkit.judge.measured import AnyVerdict

_EXAMPLES = {"B": "'24 GB' or '512 MiB'", "s": "'10 ms' or '2 min'"}


def parse_budget(budget: Any, unit: str) -> float:
    """Return a budget in `unit`.

    `budget`: a number in `unit`, or text with a prefix: k, M, G, T, P are powers of 1000, Ki, Mi, Gi, Ti, Pi of 1024.
    `unit`: base unit, for example ``"B"`` or ``"s"``.
    Raises UsageError if it cannot be read, is not positive and finite, or is in another unit.
    """
    if is_number(budget):
        value = float(budget)
    elif isinstance(budget, str) and (found := split_quantity(budget)):
        value = found[0] * _factor(found[1], unit, budget)
    else:
        raise UsageError(
            f"the budget {str(budget)[:40]!r} cannot be read; write a number in {unit or 'the unit'}{_or_text(unit)}."
        )
    require_positive(value, "the budget")
    return value


def _factor(written: str, unit: str, budget: str) -> float:
    prefixes = {**PREFIXES, "K": 1e3}
    factors = {"": 1.0, **SECONDS} if unit == "s" else prefixes | {f"{prefix}{unit}": f for prefix, f in prefixes.items()}
    if written not in factors:
        hint = did_you_mean(written, [one for one in factors if one.endswith(unit)])
        raise UsageError(f"the budget {budget[:40]!r} is not in {unit or 'numbers without a unit'}{_or_text(unit)}.{hint}")
    return factors[written]


def _or_text(unit: str) -> str:
    return f", or a text such as {_EXAMPLES[unit]}" if unit in _EXAMPLES else ""


LARGEST_LOG2 = 64.0
_OCTAVES = 65
_STEPS = 17
_FINE, _COARSE = 9, 4
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Limit:
    """The largest setting of the parameter within a budget.

    `value`, `low`, `high`: by the model, and with the upper and the lower end of its band; 0 if nothing fits, infinite
    beyond 2^64.
    `level`: of the band.
    `budget` in `unit`.
    `ppn`: processes that share the budget; 1 for what is not memory.
    `largest`: the largest setting that was measured.
    `is_outside`: whether the model is outside the deviation limits of its expectation.
    `is_decided`: whether the measurements decide how it grows; if not, the limit is a guess.
    `fixed`: values of the other parameters, for which the limit is.
    """

    function: str
    metric: str
    parameter: str
    unit: str
    value: float
    low: float
    high: float
    level: float
    budget: float
    ppn: int
    largest: float
    is_outside: bool
    is_decided: bool = True
    fixed: Mapping[str, float] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """The limit in plain words, with remarks if the model is not a firm basis."""
        outside = " The model is outside its deviation limits: explain that first." if self.is_outside else ""
        guess = "" if self.is_decided else " The measurements do not decide how it grows: that is a guess."
        return f"{self._found}{outside}{guess}"

    @property
    def _found(self) -> str:
        what = f"{self.metric} of {self.function}"
        share = f" shared by {self.ppn} processes" if self.ppn > 1 else ""
        budget = f"{format_quantity(self.budget, self.unit)}{share}"
        others = ", ".join(f"{name} = {x:g}" for name, x in self.fixed.items())
        what = f"{what} with {others}" if others else what
        if self.value == 0:
            return f"The {what} exceeds {budget} at every {self.parameter}."
        if math.isinf(self.value):
            ends = "" if math.isinf(self.low) else f" ({as_percent(self.level, 'g')} interval from {_shown(self.low)})"
            return f"The {what} stays within {budget} at every {self.parameter} up to 2^64{ends}."
        place = place_of(self.value, self.largest)
        ends = f"from {_shown(self.low)}" if math.isinf(self.high) else f"{_shown(self.low)} to {_shown(self.high)}"
        interval = f"{as_percent(self.level, 'g')} interval {ends}"
        return f"The {what} stays within {budget} up to {self.parameter} = {_shown(self.value)} ({interval}), {place}."

    def __repr__(self) -> str:
        return f"<Limit: {self.sentence}>"

    def _repr_html_(self) -> str:
        return block(paragraph(self.sentence))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; what is infinite becomes null."""
        found: dict[str, Any] = {name: getattr(self, name) for name in self.__dataclass_fields__}
        found |= {name: None for name in ("value", "low", "high") if math.isinf(found[name])}
        return found | {"sentence": self.sentence}


def _asked(
    verdict: AnyVerdict, along: str | None, fixed: Mapping[str, float] | None
) -> tuple[str, dict[str, float], Callable[[Floats], dict[str, Floats]]]:
    """Return the parameter of a limit, values of the others, and a function from settings of the first to points.

    `along`: by default the only parameter, or the number of processes, or the first one.
    `fixed`: values of the others; by default the largest ones that were measured.
    Raises UsageError if one of them is no parameter.
    """
    require_kind(fixed, Mapping | None, "fixed", "give a mapping such as {'n': 1000}")
    series, names = verdict.series, verdict.parameters
    unknown = [name for name in ((along,) if along else ()) + tuple(fixed or ()) if name not in names]
    if unknown:
        raise UsageError(f"'{series.function}' has no parameter {unknown[0]!r:.40}; it has {', '.join(names)}.")
    parameter = along or next((name for name in names if counts_processes(name)), names[0])
    if fixed and parameter in fixed:
        value = fixed[parameter]
        raise UsageError(f"the limit is asked along '{parameter}', so it cannot be fixed at {value:g}; leave that out.")
    others = {name: float(series.along(name)[-1]) for name in names if name != parameter} | dict(fixed or {})

    def at(x: Floats) -> dict[str, Floats]:
        return {name: x if name == parameter else np.full(len(x), others[name]) for name in names}

    return parameter, others, at


def limit(
    verdict: AnyVerdict,
    budget: float | str,
    ppn: int = 1,
    *,
    along: str | None = None,
    fixed: Mapping[str, float] | None = None,
    level: float = 0.9,
) -> Limit:
    """Return the largest setting at which a model stays within a budget.

    Parameters
    ----------
    verdict : Verdict or SeveralVerdict
    budget : float or str
        In the unit of the metric, or text such as ``"24 GB"`` and ``"10 ms"``.
    ppn : int
        Processes per node that share a budget of memory; for other metrics it has no meaning.
    along : str, optional
        Of several parameters, that of the limit: by default the number of processes, else the first.
    fixed : mapping from parameter to float, optional
        Values of the other parameters; by default the largest ones that were measured.
    level : float
        Of the interval.

    Raises
    ------
    UsageError
        If the budget cannot be read, `ppn` or `level` is out of range, or a parameter is unknown.
    """
    series = verdict.series
    wanted = parse_budget(budget, series.unit)
    require_positive(ppn, "ppn", whole=True)
    parameter, others, at = _asked(verdict, along, fixed)
    shared = ppn if series.unit == "B" else 1
    target = math.log2(wanted / shared)

    def log2_of(x: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return np.asarray(np.log2(verdict.model(at(x))))

    def end(which: int) -> Callable[[Floats], Floats]:
        def log2_of_end(x: Floats) -> Floats:
            with np.errstate(all="ignore"):
                return np.asarray(np.log2(np.maximum(verdict.interval(at(x), level)[which], 0.0)))

        return log2_of_end

    measured = series.along(parameter)
    first, is_whole = float(measured[0]), bool((measured == np.round(measured)).all())
    value = _last_within(log2_of, target, first, is_whole, _FINE)
    low, high = (_last_within(end(which), target, first, is_whole, _COARSE) for which in (1, 0))
    return Limit(
        function=series.function,
        metric=series.metric,
        parameter=parameter,
        unit=series.unit,
        value=value,
        low=min(low, value),
        high=max(high, value),
        level=level,
        budget=wanted,
        ppn=shared,
        largest=float(measured[-1]),
        is_outside="none" in (verdict.match, sure_match(verdict.probability)),
        is_decided=is_decided(verdict),
        fixed=others,
    )


def _last_within(log2_of: Callable[[Floats], Floats], target: float, smallest: float, is_whole: bool, n_rounds: int) -> float:
    """Return the setting before which `log2_of` first exceeds `target`: a grid of octaves, and finer ones inside."""
    low, high = min(0.0, math.log2(smallest)), LARGEST_LOG2
    grid = np.linspace(low, high, _OCTAVES)
    above = np.flatnonzero(~(log2_of(np.exp2(grid)) <= target + _ROUNDING))
    if not above.size:
        return math.inf
    if above[0] == 0:
        return 0.0
    low, high = float(grid[above[0] - 1]), float(grid[above[0]])
    for _ in range(n_rounds):
        grid = np.linspace(low, high, _STEPS)
        within = int(np.argmax(~(log2_of(np.exp2(grid)) <= target + _ROUNDING))) - 1
        low, high = float(grid[max(within, 0)]), float(grid[max(within, 0) + 1])
    return float(math.floor(2.0**low * (1 + _ROUNDING))) if is_whole else 2.0**low


def _shown(x: float) -> str:
    return "2^64" if math.isinf(x) else shown_scale(x)
