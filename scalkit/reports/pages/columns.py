"""The content of a report about several data sets side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from scalkit.judge import AnyVerdict
from scalkit.judge.result import SCHEMA
from scalkit.judge.told.junit import cases
from scalkit.measure.virtual_time import is_virtual
from scalkit.reports.content import Content, json_text, written_now
from scalkit.reports.pages.verdicts import Page, open_verdicts, status_sentence
from scalkit.support.junit import Case
from scalkit.support.text import counted, few


@dataclass(frozen=True)
class Columns(Content):
    """The verdicts on several data sets. `pages`: by the label of the column."""

    kind: ClassVar[str] = "compare"

    pages: Mapping[str, Page]
    title: str
    made: str

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """(metric, function) of everything that has a verdict somewhere, metric by metric."""
        found = [(v.metric, v.function) for page in self.pages.values() for v in page.result.verdicts]
        metrics = list(dict.fromkeys(metric for metric, _ in found))
        return tuple(sorted(dict.fromkeys(found), key=lambda name: metrics.index(name[0])))

    def verdicts(self, metric: str, function: str) -> list[AnyVerdict | None]:
        """Return the verdict on a function in each data set; None where there is none."""
        key = (function, metric)
        return [next((v for v in page.result.verdicts if (v.function, v.metric) == key), None) for page in self.pages.values()]

    @property
    def status(self) -> int:
        """Exit status: 1 if that of any data set is."""
        return max(page.status for page in self.pages.values())

    @property
    def answer(self) -> str:
        """The answers in a few sentences."""
        answers = {function: {v.answer for v in self.verdicts(metric, function) if v} for metric, function in self.names}
        differ = [function for function, seen in answers.items() if len(seen) > 1]
        sentences = [f"{counted(len(self.names), 'function')} in {counted(len(self.pages), 'data set')}."]
        for label, page in self.pages.items():
            wrong = [v.function for v in page.result.worst_first if v.answer == "fix"]
            sentences += [f"{label}: fix {few(wrong)}."] * bool(wrong)
        sentences += [f"The answers differ for {few(differ)}."] * bool(differ)
        return " ".join([*sentences, status_sentence(self.status)])

    @property
    def sessions(self) -> Mapping[str, dict[str, Any]]:
        """The sessions by label."""
        return {label: page.session_values for label, page in self.pages.items()}

    def to_json(self) -> str:
        """Return the verdicts of all data sets as JSON text."""
        results = {label: page.result for label, page in self.pages.items()}
        return json_text(
            {
                "schema": SCHEMA,
                "headline": "; ".join(f"{label}: {result.headline}" for label, result in results.items()),
                "exit_status": max(result.exit_status() for result in results.values()),
                "sets": [{"label": label, **result.to_dict()} for label, result in results.items()],
            }
        )

    def cases(self) -> Mapping[str, list[Case]]:
        """Return the test cases for JUnit XML, a suite for each data set."""
        return {label: cases(page.result, page.fail_on) for label, page in self.pages.items()}


def open_columns(
    runs: Mapping[str, Sequence[str]], expectations: str | Mapping[str, Any] = "", *, title: str = "", **options: Any
) -> Columns:
    """Read several data sets, validate each, and return the content of a comparison.

    `runs`: the paths of each data set by the label of its column.
    `expectations`: the same for all columns, sessions aside.
    `title`: made from the labels if empty.
    `**options`: as for `scalkit.reports.pages.verdicts.open_verdicts`.
    Raises ScalkitError if an input is wrong.
    """
    opened = [(label, open_verdicts(paths, expectations, n_sets=len(runs), **options)) for label, paths in runs.items()]
    pages = {_with_origin(label, page): page for label, page in opened}
    *first, last = pages
    return Columns(pages, title or f"{', '.join(first)} and {last} compared", written_now())


def _with_origin(label: str, page: Page) -> str:
    """Return the head of a column, which says so when its values come from a simulator or a virtual clock."""
    if is_virtual(page.data.attrs):
        return label if "virtual" in label else f"{label} (virtual time)"
    is_measured = not int(page.data.attrs.get("simulated", 0))
    return label if is_measured or "simulated" in label else f"{label} (simulated)"
