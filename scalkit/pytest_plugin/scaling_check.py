"""One scaling test, whatever runs it: measure a callable, judge it, say it in text."""

import json
import textwrap
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr

from scalkit.bench.functions.callables import measure_callable
from scalkit.errors import UsageError
from scalkit.judge import FAIL_ON, Expectation, Validation, Verdict, validate
from scalkit.judge.answer import in_decimals
from scalkit.measure import combine
from scalkit.support.options import OPTIONS, Judging
from scalkit.support.units import format_quantity

_OPTIONS = ("setup", "fresh", "deviation", "budget", "fail_on", "clock", *OPTIONS)
_KEYS = ("expectation", *_OPTIONS)
_CLOCKS = {"wall": time.perf_counter_ns, "cpu": time.process_time_ns}
_EXAMPLE = 'for example scaling("O(n log n)", n=[1000, 2000, 4000, 8000, 16000])'


@dataclass(frozen=True)
class Outcome:
    """What came out of a scaling test."""

    validation: Validation
    failed: bool
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict on the callable."""
        return self.validation.along_one[0]

    @property
    def cannot_tell(self) -> bool:
        """Whether the measurements leave the verdict open."""
        return self.verdict.answer == "cannot tell"

    @property
    def text(self) -> str:
        """The sentence, the model and a plot, for a terminal of 72 columns; the sentence is the first line."""
        verdict = self.verdict
        n, points = verdict.series.n_repetitions, zip(verdict.series.x, verdict.series.y, strict=True)
        runs, r2 = verdict.series.values.shape[1], verdict.model.adjusted_r2
        facts = {
            "expected": f"{verdict.expectation}",
            "excluded": f"anything faster than {in_decimals(verdict.resolution)}",
            "model": f"{verdict.model}" + (f" (adjusted R2 {r2:.3f})" if np.isfinite(r2) else ""),
            "measured": f"{len(n)} settings, {n.min()} to {n.max()} samples each, {runs} run{'s' * (runs > 1)}",
            "values": ", ".join(f"{format_quantity(y, verdict.unit)} at {x:g}" for x, y in points),
            "remarks": "; ".join((*verdict.caveats, *self.notes)),
        }
        told = (textwrap.wrap(f"{key:<10}{value}", 72, subsequent_indent=" " * 10) for key, value in facts.items() if value)
        lines = [line for each in told for line in each]
        return "\n".join([f"{verdict.answer}: {verdict.problem or verdict.sentence}", "", *lines])


@dataclass(frozen=True)
class ScalingCheck:
    """What to measure and what to expect.

    `fresh`: whether `setup` is called anew before each call.
    `budget_s`: for one measurement; a result that would not pass is measured a second time.
    `clock`: nanoseconds.
    """

    expectation: Expectation
    parameter: str
    values: tuple[Any, ...]
    setup: Callable[[Any], object] | None = None
    fresh: bool = False
    budget_s: float = 2.0
    judging: Judging = field(default_factory=Judging)
    fail_on: Collection[str] = ()
    clock: Callable[[], int] = time.perf_counter_ns

    @classmethod
    def of(cls, *sources: Mapping[str, Any]) -> "ScalingCheck":
        """Return a check from options, as the marker and a call of the fixture have them; later ones override.

        `*sources`: keys are ``expectation``, the options, and the name of the parameter with its values.
        Raises UsageError if something is missing, or an option is wrong.
        """
        given: dict[str, Any] = {}
        for source in sources:
            if any(key not in _KEYS for key in source):
                given = {key: value for key, value in given.items() if key in _KEYS}
            given |= source
        if "expectation" not in given:
            raise UsageError(f"a scaling test needs an expectation; {_EXAMPLE}.")
        parameters = [key for key in given if key not in _KEYS]
        if len(parameters) != 1:
            raise UsageError(
                f"a scaling test needs the values of one parameter, there are {', '.join(parameters) or 'none'}; {_EXAMPLE}. "
                f"Options are {', '.join(_OPTIONS)}."
            )
        return cls._made(given, parameters[0])

    @classmethod
    def _made(cls, given: Mapping[str, Any], parameter: str) -> "ScalingCheck":
        values, clock = given[parameter], given.get("clock", "wall")
        if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
            raise UsageError(
                f"{parameter!r} is {values!r}, neither a list of values nor one of the options {', '.join(_OPTIONS)}."
            )
        if not callable(clock) and clock not in _CLOCKS:
            raise UsageError(
                f"the clock {clock!r} is unknown; choose {' or '.join(map(repr, _CLOCKS))}, or a function of nanoseconds."
            )
        fail_on = given.get("fail_on", ())
        fail_on = (fail_on,) if isinstance(fail_on, str) else tuple(fail_on)
        unknown = [word for word in fail_on if word not in FAIL_ON]
        if unknown:
            raise UsageError(f"cannot fail on {unknown[0]!r}; choose from {', '.join(FAIL_ON)}.")
        judging = Judging.of({name: given[name] for name in OPTIONS if name in given})
        points, needed = tuple(values), judging.min_points
        if len(set(points)) < needed:
            raise UsageError(
                f"a scaling test needs {needed} values of {parameter!r}, got {len(set(points))}; add some, or set min_points."
            )
        expectation = given["expectation"]
        if not isinstance(expectation, Expectation) or given.get("deviation") is not None:
            expectation = Expectation(expectation, given.get("deviation"))
        return cls(
            expectation=expectation.in_parameter(parameter),
            parameter=parameter,
            values=points,
            setup=given.get("setup"),
            fresh=bool(given.get("fresh", False)),
            budget_s=given.get("budget", 2.0),
            judging=judging,
            fail_on=fail_on,
            clock=clock if callable(clock) else _CLOCKS[clock],
        )

    def run(self, func: Callable[..., object], name: str, seed: int = 0) -> Outcome:
        """Return the outcome for a callable; what would not pass is measured again, and both runs are judged together.

        `name`: of the function, in the verdict.
        `seed`: of the order of measuring.
        Raises DataError if the calls take far longer than the budget; UsageError if `func` cannot be measured, a value is no
        positive number, or an option is wrong.
        """
        first = self._measured(func, name, seed)
        outcome = self._judged(first, name)
        if not outcome.failed and not outcome.cannot_tell:
            return outcome
        return self._judged(combine([first, self._measured(func, name, seed + 1)]), name)

    def _measured(self, func: Callable[..., object], name: str, seed: int) -> xr.Dataset:
        return measure_callable(
            func,
            self.parameter,
            self.values,
            setup=self.setup,
            fresh=self.fresh,
            name=name,
            seed=seed,
            clock=self.clock,
            budget_s=self.budget_s,
            min_points=self.judging.min_points,
        )

    def _judged(self, data: xr.Dataset, name: str) -> Outcome:
        result = validate(data, {name: self.expectation}, **self.judging.as_options())
        return Outcome(
            result, bool(result.exit_status(self.fail_on)), tuple(dict.fromkeys(json.loads(data.attrs.get("notes", "[]"))))
        )
