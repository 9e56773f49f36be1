"""The baseline of a report: a file that keeps one, or earlier measurements that are judged for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scalkit import measure
from scalkit.errors import UsageError
from scalkit.options import Judging
from scalkit.reports.inputs import named_parameters
from scalkit.reports.kinds import kind_of
from scalkit.reports.plain import from_plain
from scalkit.session import Session
from scalkit.validation import Expectation, Validation, validate
from scalkit.validation.baseline import Baseline


def open_baseline(path: str, expectations: str | Mapping[str, Any], judging: Judging, parameter: str = "") -> Baseline:
    """Return the baseline at a path.

    `path`: what `Baseline.save` wrote; a session or report, whose verdicts are taken; or measurements.
    `expectations`: for measurements, what they are judged by: the rulers around it hold the growths that may be found.
    `judging`: for measurements.
    `parameter`: for measurements, as for `scalkit.reports.page.open_page`.
    Raises ScalkitError if it cannot be read or judged.
    """
    kind = kind_of(path)
    if kind == "baseline":
        return Baseline.load(path)
    if kind == "session":
        return Baseline.from_result(Session.load(path).result)
    expected = from_plain(expectations)
    data = measure.read(path, parameter=named_parameters(parameter))
    return Baseline.from_result(validate(data, expected, **judging.as_options()))


def require_same_statistic(baseline: Baseline, result: Validation) -> None:
    """Check that values of the same kind are compared.

    Raises UsageError if they are not.
    """
    if baseline.statistic != result.statistic:
        raise UsageError(
            f"the baseline has the statistic {baseline.statistic}, the measurements are judged by {result.statistic}; "
            "compare values of the same kind, with the statistic of the baseline."
        )


def status_quo(baseline: Baseline) -> dict[str, Expectation]:
    """Return the growths of a baseline by function; of several metrics the last one counts."""
    return {entry.function: entry.status_quo for entry in baseline}
