"""The status quo of a library, kept in a file: the models found become the expectation of what comes later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit.errors import DataError
from scalkit.fit import Model
from scalkit.fit.pure_error import standard_error
from scalkit.growth import Growth
from scalkit.json_values import json_fields
from scalkit.markup import block, counted, details, formula, paragraph, table
from scalkit.validation.baseline.regression import errors_of
from scalkit.validation.expectation import Expectation
from scalkit.validation.result import Validation
from scalkit.validation.verdict import Verdict

if TYPE_CHECKING:
    from scalkit.validation.baseline.comparison import Comparison

BASELINE_SCHEMA = 2
"""Files of schema 1 have no `errors`; they are read as well."""


@dataclass(frozen=True)
class BaselineEntry:
    """What is kept of one function and metric.

    `model`: with unit and parameter.
    `expectation`: what was expected when the baseline was made.
    `deviation`: the deviation limit if it was given; by default half of the leading class of the model.
    `x`, `y`: settings, and values in the unit of the model.
    `noise`: relative standard error of a value.
    `errors`: the same of each setting, from its own repetitions; empty in baselines of old, where `noise` is that of all.
    `processes`: when each process was done at the last setting; empty where that was not kept.
    """

    function: str
    metric: str
    model: Model
    expectation: Growth
    deviation: Growth | None
    x: tuple[float, ...]
    y: tuple[float, ...]
    noise: float
    errors: tuple[float, ...] = ()
    processes: tuple[float, ...] = ()

    @classmethod
    def from_verdict(cls, verdict: Verdict, statistic: str = "q1") -> BaselineEntry:
        """Return what is kept of a verdict; `statistic` is that of its values."""
        series, expectation = verdict.series, verdict.expectation
        noise = standard_error(series, statistic)
        return cls(
            function=verdict.function,
            metric=verdict.metric,
            model=verdict.model,
            expectation=expectation.growth,
            deviation=expectation.deviation if expectation.has_own_deviation else None,
            x=tuple(float(x) for x in series.x),
            y=tuple(float(y) for y in series.y),
            noise=noise,
            errors=errors_of(series, noise),
            processes=series.of_processes,
        )

    @property
    def status_quo(self) -> Expectation:
        """The growth of the model as an expectation."""
        return Expectation(self.model.growth, self.deviation, self.model.parameter)

    def __repr__(self) -> str:
        return f"BaselineEntry({self.function!r}, {self.metric}: {self.model})"

    def _repr_html_(self) -> str:
        return block(paragraph(f"{self.function} ({self.metric})"), table((), [("model", formula(self.model))]))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, as ``baseline.schema.json`` describes them."""
        return {
            **json_fields(self, "function metric"),
            **json_fields(self.model, "unit parameter"),
            **json_fields(self, "expectation deviation"),
            "model": json_fields(self.model, "growth constant log2_coefficient adjusted_r2 rss") | {"text": str(self.model)},
            **json_fields(self, "x y noise"),
            "errors": list(self.errors or (self.noise,) * len(self.x)),
        } | ({"processes": list(self.processes)} if self.processes else {})


@dataclass(frozen=True)
class Baseline:
    """The models of a validation, to compare later ones with.

    Attributes
    ----------
    entries : tuple of BaselineEntry
    statistic : str
        Over repetitions and runs.

    References
    ----------
    Shudler et al. 2015, section 2.4 (docs/references.md): regression testing against the status quo.
    """

    entries: tuple[BaselineEntry, ...]
    statistic: str = "q1"

    @classmethod
    def from_result(cls, result: Validation) -> Baseline:
        """Return the baseline of a validation. Raises DataError if it has no verdict."""
        if not result.verdicts:
            raise DataError("a baseline needs at least one verdict, this result has none.")
        entries = (BaselineEntry.from_verdict(v, result.statistic) for v in result.along_one)
        return cls(tuple(entries), result.statistic)

    @classmethod
    def load(cls, path: str | Path) -> Baseline:
        """Return the baseline in a file.

        Raises DataError if it cannot be read or is no baseline; one sentence names the file, the place and the value.
        """
        from scalkit.validation.baseline.file import load

        return load(Path(path))

    def save(self, path: str | Path) -> Path:
        """Write the baseline as JSON (``baseline.schema.json``) and return the path; the file is whole or not there.

        Raises DataError if the file cannot be written.
        """
        from scalkit.validation.baseline.file import save

        return save(self, Path(path))

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

    def expectations(self, metric: str | None = None) -> dict[str, Expectation]:
        """Return the status quo as what `scalkit.validate` takes: function to expectation.

        `metric`: needed where a function grows differently in different metrics.
        Raises DataError if it is needed and missing, or the baseline has no such metric.
        """
        if metric is not None and metric not in self.metrics:
            raise DataError(f"the baseline has no metric {metric!r}; it has {', '.join(self.metrics)}.")
        found: dict[str, Expectation] = {}
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

    def expectation_of(self, function: str, metric: str) -> Expectation | None:
        """Return the status quo of one function and metric; None if the baseline does not have it."""
        return self[function, metric].status_quo if (function, metric) in self else None

    def compare(self, result: Validation, tolerance: float = 0.1) -> Comparison:
        """Return what a later validation changes, see `scalkit.validation.baseline.comparison.compare`."""
        from scalkit.validation.baseline.comparison import compare

        return compare(self, result, tolerance)
