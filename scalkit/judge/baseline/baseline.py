"""The status quo of a library, kept in a file: the models found become the expectation of what comes later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit.errors import DataError
from scalkit.growth import Growth
from scalkit.growth.sums import GrowthSum
from scalkit.judge.baseline.regression import errors_of
from scalkit.judge.expectation import Expectation
from scalkit.judge.fit import Model
from scalkit.judge.measured import AnyExpectation, AnyVerdict
from scalkit.judge.result import Validation
from scalkit.judge.several.expectation import SeveralExpectation
from scalkit.judge.strong import product_metric
from scalkit.stats.pure_error import standard_error
from scalkit.support.arguments import each_of, path_of
from scalkit.support.json_values import json_fields, json_value
from scalkit.support.markup import block, counted, details, formula, paragraph, table
from scalkit.support.text import brief

if TYPE_CHECKING:
    from scalkit.judge.baseline.comparison import Comparison

AnyGrowth = Growth | GrowthSum

BASELINE_SCHEMA = 4


@dataclass(frozen=True)
class BaselineEntry:
    """What is kept of one function and metric, over one parameter or several.

    `model`: with unit and parameters.
    `expectation`: what was expected when the baseline was made.
    `deviation`: the deviation limits that were given, by parameter; by default half of the leading class of the model.
    `points`, `y`: values of the parameters, ascending, and values in the unit of the model.
    `noise`: relative standard error of a value.
    `errors`: the same of each point, from its own repetitions.
    """

    function: str
    metric: str
    model: Model
    expectation: AnyGrowth
    deviation: Mapping[str, Growth]
    points: tuple[tuple[float, ...], ...]
    y: tuple[float, ...]
    noise: float
    errors: tuple[float, ...]

    @classmethod
    def from_verdict(cls, verdict: AnyVerdict, statistic: str = "q1") -> BaselineEntry:
        """Return what is kept of a verdict; `statistic` is that of its values."""
        series, expectation = verdict.series, verdict.expectation
        noise = standard_error(series, statistic)
        errors = errors_of(series, noise)
        rows = sorted(range(len(series.y)), key=lambda row: tuple(series.points[row].tolist()))
        along = expectation.along.items()
        return cls(
            function=verdict.function,
            metric=verdict.metric,
            model=verdict.model,
            expectation=expectation.growth,
            deviation={name: one.deviation for name, one in along if one.has_own_deviation},
            points=tuple(tuple(series.points[row].tolist()) for row in rows),
            y=tuple(float(series.y[row]) for row in rows),
            noise=noise,
            errors=tuple(errors[row] for row in rows),
        )

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters, in the order of the values of a point."""
        return self.model.parameters

    @property
    def status_quo(self) -> AnyExpectation:
        """The growth of the model as an expectation."""
        model = self.model
        if len(model.parameters) > 1:
            return SeveralExpectation(model.growth, self.deviation or None, model.parameters)
        (parameter,) = model.parameters
        return Expectation(model.growth, self.deviation.get(parameter), parameter)

    def require_same_kind(self, unit: str, parameters: tuple[str, ...]) -> None:
        """Raise a DataError, with the way on, if what was measured now has another unit or other parameters."""
        named = f"of '{self.metric}' of '{self.function}'"
        if set(parameters) != set(self.parameters):
            now, then = (" and ".join(map(repr, names)) for names in (parameters, self.parameters))
            what = f"the parameter {named} is" if len(parameters) == 1 else f"the parameters {named} are"
            way = _way_on(parameters, self.parameters)
            raise DataError(f"{what} {now}, in the baseline {then}; {way}, or make a new baseline.")
        if unit != self.model.unit:
            raise DataError(
                f"the unit {named} is {unit!r}, in the baseline {self.model.unit!r}; "
                "compare measurements of the same kind, or make a new baseline."
            )

    def over(self, parameters: tuple[str, ...]) -> BaselineEntry:
        """Return it with the same parameters in another order."""
        model = self.model
        if parameters == model.parameters:
            return self
        order = [model.parameters.index(name) for name in parameters]
        moved = [tuple(point[column] for column in order) for point in self.points]
        rows = sorted(range(len(moved)), key=moved.__getitem__)
        return replace(
            self,
            model=replace(model, parameters=parameters, average=None),
            points=tuple(moved[row] for row in rows),
            y=tuple(self.y[row] for row in rows),
            errors=tuple(self.errors[row] for row in rows),
        )

    def log2_value(self, point: Sequence[float]) -> float:
        """Return log2 of the model at a point."""
        return float(self.model.log2_value(dict(zip(self.parameters, point, strict=True))))

    def __repr__(self) -> str:
        return f"BaselineEntry({self.function!r}, {self.metric}: {self.model})"

    def _repr_html_(self) -> str:
        return block(paragraph(f"{self.function} ({self.metric})"), table((), [("model", formula(self.model))]))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, as ``baseline.schema.json`` describes them."""
        model = self.model
        terms = [json_fields(term, "growth log2_coefficient is_subtracted") for term in model.terms]
        return {
            **json_fields(self, "function metric"),
            **json_fields(model, "unit parameters"),
            "expectation": str(self.expectation),
            "deviation": json_value(self.deviation),
            "model": {"terms": terms, **json_fields(model, "adjusted_r2 rss"), "text": str(model)},
            **json_fields(self, "points y noise errors"),
        }


def _way_on(now: tuple[str, ...], then: tuple[str, ...]) -> str:
    """Return what to do about measurements over other parameters than those of a baseline."""
    more = [name for name in now if name not in then]
    fewer = [name for name in then if name not in now]
    if more and not fewer:
        return f"select one value of {' and '.join(more)}, as in data.sel({more[-1]}=...)"
    if fewer and not more:
        return f"measure at several values of {' and '.join(fewer)}, too"
    return "compare measurements of the same kind"


@dataclass(frozen=True, init=False)
class Baseline:
    """The models of a validation, to compare later ones with.

    Parameters
    ----------
    result : Validation

    Attributes
    ----------
    entries : tuple of BaselineEntry
    statistic : str
        Over repetitions and runs.

    Raises
    ------
    DataError
        If the result has no verdict.

    References
    ----------
    Shudler et al. 2015, section 2.4 (docs/references.md): regression testing against the status quo.
    """

    entries: tuple[BaselineEntry, ...]
    statistic: str

    def __init__(self, result: Validation) -> None:
        verdicts = getattr(result, "verdicts", None)
        if not isinstance(verdicts, tuple):
            raise DataError(
                f"a baseline is made of a result of scalkit.validate, got {type(result).__name__}; "
                "read one from a file with Baseline.load."
            )
        if not verdicts:
            raise DataError("a baseline needs at least one verdict, this result has none.")
        entries = tuple(BaselineEntry.from_verdict(v, result.statistic) for v in verdicts)
        self._set(entries, result.statistic)

    def _set(self, entries: tuple[BaselineEntry, ...], statistic: str) -> None:
        object.__setattr__(self, "entries", entries)
        object.__setattr__(self, "statistic", statistic)

    @classmethod
    def of_entries(cls, entries: tuple[BaselineEntry, ...], statistic: str) -> Baseline:
        """Return the baseline with some entries, as a file has them."""
        made = cls.__new__(cls)
        kept = each_of(entries, BaselineEntry, "the entries", "give those of a Baseline")
        made._set(tuple(kept), statistic)
        return made

    @classmethod
    def load(cls, path: str | Path) -> Baseline:
        """Return the baseline in a file.

        Raises DataError if it cannot be read or is no baseline; one sentence names the file, the place and the value.
        """
        from scalkit.judge.baseline.file import load

        return load(path_of(path, "a baseline"))

    def save(self, path: str | Path) -> Path:
        """Write the baseline as JSON (``baseline.schema.json``) and return the path; the file is whole or not there.

        Raises DataError if the file cannot be written.
        """
        from scalkit.judge.baseline.file import save

        return save(self, path_of(path, "the baseline"))

    def __repr__(self) -> str:
        return f"<Baseline: {self._said}>"

    def _repr_html_(self) -> str:
        rows = [
            (escape(one.function), escape(one.metric), formula(one.model), formula(one.expectation, big_o=True)) for one in self
        ]
        head = ("function", "metric", "model", "was expected")
        return block(details(f"Baseline: {self._said}", table(head, rows), is_open=True))

    @property
    def _said(self) -> str:
        return f"{counted(len(self), 'model')} of {', '.join(self.metrics)}; statistic {self.statistic}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"schema": BASELINE_SCHEMA, "statistic": self.statistic, "entries": [entry.to_dict() for entry in self.entries]}

    def __getitem__(self, key: tuple[str, str]) -> BaselineEntry:
        for entry in self.entries:
            if (entry.function, entry.metric) == key:
                return entry
        raise DataError(f"the baseline has no entry {key!r}; it has {', '.join(str((e.function, e.metric)) for e in self)}.")

    def __contains__(self, key: object) -> bool:
        return any((entry.function, entry.metric) == key for entry in self.entries)

    def __iter__(self) -> Iterator[BaselineEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics, each once."""
        return tuple(dict.fromkeys(entry.metric for entry in self.entries))

    def expectations(self, metric: str | None = None) -> dict[str, AnyExpectation]:
        """Return the status quo as what `scalkit.validate` takes: function to expectation.

        `metric`: needed where a function grows differently in different metrics.
        Raises DataError if it is needed and missing, or the baseline has no such metric.
        """
        if metric is not None and metric not in self.metrics:
            raise DataError(f"the baseline has no metric {brief(metric)}; it has {', '.join(self.metrics)}.")
        found: dict[str, AnyExpectation] = {}
        for entry in self.entries:
            if metric not in (None, entry.metric):
                continue
            wanted = entry.status_quo
            if found.setdefault(entry.function, wanted) != wanted:
                raise DataError(
                    f"in the baseline '{entry.function}' grows as {found[entry.function].growth} or {wanted.growth}, depending "
                    f"on the metric; ask for one, as in expectations({entry.metric!r})."
                )
        return found

    def by_metric(self) -> dict[str, dict[str, AnyExpectation]]:
        """Return the status quo by function and measured metric, which `scalkit.validate` takes as well."""
        found: dict[str, dict[str, AnyExpectation]] = {}
        for entry in self.entries:
            metric = entry.metric.removeprefix(product_metric(entry.parameters[0], ""))
            found.setdefault(entry.function, {})[metric] = entry.status_quo
        return found

    def expectation_of(self, function: str, metric: str) -> AnyExpectation | None:
        """Return the status quo of one function and metric; None if the baseline does not have it."""
        return self[function, metric].status_quo if (function, metric) in self else None

    def compare(self, result: Validation, tolerance: float = 0.1) -> Comparison:
        """Return the changes in a later validation; see `scalkit.judge.baseline.comparison.compare`."""
        from scalkit.judge.baseline.comparison import compare

        return compare(self, result, tolerance)
