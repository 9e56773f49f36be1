"""The content of a report about several data sets side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from scalkit.junit import Case
from scalkit.measure.virtual_time import is_virtual
from scalkit.reports.answer import status_sentence
from scalkit.reports.inputs import listed, require_known_parameters
from scalkit.reports.page import Page, open_page
from scalkit.reports.writer.content import Content, json_text
from scalkit.text import counted
from scalkit.validation import AnyVerdict
from scalkit.validation.result import SCHEMA
from scalkit.validation.told.junit import cases


@dataclass(frozen=True)
class Columns(Content):
    """What the sections of a comparison need. `pages`: one for each data set. `labels`: all different. `title`: plain text."""

    pages: tuple[Page, ...]
    labels: tuple[str, ...]
    title: str

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """(metric, function) of everything that has a verdict somewhere, metric by metric."""
        found = [(v.metric, v.function) for page in self.pages for v in page.result.verdicts]
        metrics = list(dict.fromkeys(metric for metric, _ in found))
        return tuple(sorted(dict.fromkeys(found), key=lambda name: metrics.index(name[0])))

    def verdicts(self, metric: str, function: str) -> list[AnyVerdict | None]:
        """Return the verdict on a function in each data set; None where there is none."""
        key = (function, metric)
        return [next((v for v in page.result.verdicts if (v.function, v.metric) == key), None) for page in self.pages]

    def is_over_several(self, metric: str, function: str) -> bool:
        """Return whether a verdict on a function is over several parameters."""
        return any(v is not None and len(v.parameters) > 1 for v in self.verdicts(metric, function))

    @property
    def status(self) -> int:
        """Exit status: 1 if that of any data set is."""
        return max(page.status for page in self.pages)

    @property
    def answer(self) -> str:
        """The verdicts in a few sentences."""
        found = [self.verdicts(metric, function) for metric, function in self.names]
        words = [{v.verdict for v in row if v is not None} for row in found]
        differ = [function for (_, function), seen in zip(self.names, words, strict=True) if len(seen) > 1]
        sentences = [f"{counted(len(found), 'function')} in {counted(len(self.pages), 'data set')}."]
        for label, page in zip(self.labels, self.pages, strict=True):
            failing = [v.function for v in page.result.verdicts if v.is_failure]
            sentences += [f"{label}: {', '.join(failing)} faster than expected."] * bool(failing)
        if differ:
            shown = ", ".join(differ[:5]) + (f" and {len(differ) - 5} more" if len(differ) > 5 else "")
            sentences.append(f"The verdicts differ for {shown}.")
        return " ".join([*sentences, status_sentence(self.status)])

    @property
    def sessions(self) -> Mapping[str, dict[str, Any]]:
        """The sessions by label."""
        return {label: page.session_values for label, page in zip(self.labels, self.pages, strict=True)}

    def to_json(self) -> str:
        """Return the verdicts of all data sets as JSON text."""
        found = [(label, page.result) for label, page in zip(self.labels, self.pages, strict=True)]
        return json_text(
            {
                "schema": SCHEMA,
                "headline": "; ".join(f"{label}: {result.headline}" for label, result in found),
                "exit_status": max(result.exit_status() for _, result in found),
                "sets": [{"label": label, **result.to_dict()} for label, result in found],
            }
        )

    def cases(self) -> Mapping[str, list[Case]]:
        """Return the test cases for JUnit XML, a suite for each data set."""
        return {label: cases(page.result, page.fail_on) for label, page in zip(self.labels, self.pages, strict=True)}


def open_columns(
    runs: Sequence[str | Sequence[str]],
    expectations: str | Mapping[str, Any] = "mpi",
    labels: Sequence[str] = (),
    *,
    title: str = "",
    named: Mapping[str, Any] | None = None,
    **options: Any,
) -> Columns:
    """Read several data sets, validate each, and return the content of a comparison.

    `runs`: one for each column, as for `scalkit.reports.page.open_page`.
    `expectations`: the same for all columns, sessions aside.
    `labels`: heads of the columns; by default the library, the host, or the path, whatever tells them apart.
    `title`: made from the labels if empty.
    `named`: how the report names its inputs: ``{"sets": [{"runs": [...], "label": "..."}], "expectations": "..."}``.
    `**options`: as for `scalkit.reports.page.open_page`.
    Raises ScalkitError if an input is wrong.
    """
    require_known_parameters()
    sets = [listed(one) for one in listed(runs)]
    names = named or {}
    of_sets = list(names.get("sets") or [{"runs": one} for one in sets])
    pages = tuple(
        open_page(paths, expectations, named={**names, **own}, n_sets=len(sets), **options)
        for paths, own in zip(sets, of_sets, strict=True)
    )
    given = tuple(labels) or tuple(str(own.get("label") or "") for own in of_sets)
    heads = given if all(given) else _labels(pages)
    heads = tuple(_with_origin(head, page) for head, page in zip(heads, pages, strict=True))
    shown = f"{', '.join(heads[:-1])} and {heads[-1]} compared" if len(heads) > 1 else heads[0]
    return Columns(pages, heads, title or shown)


def _with_origin(head: str, page: Page) -> str:
    """Return the head of a column, which says so when its values come from a simulator or a virtual clock."""
    if is_virtual(page.data.attrs):
        return head if "virtual" in head else f"{head} (virtual time)"
    is_said = not int(page.data.attrs.get("simulated", 0)) or "simulated" in head
    return head if is_said else f"{head} (simulated)"


def _labels(pages: Sequence[Page]) -> tuple[str, ...]:
    """Return the first thing that is different for all data sets."""
    libraries = [page.library for page in pages]
    hosts = [str(page.data.attrs.get("measured_on", "") or "") for page in pages]
    paths = [", ".join(page.named) for page in pages]
    last = [PurePath(path).stem if page.named else "" for path, page in zip(paths, pages, strict=True)]
    both = [f"{library} on {host}" for library, host in zip(libraries, hosts, strict=True)]
    for found in (libraries, hosts, both, last, paths):
        if all(found) and len(set(found)) == len(found):
            return tuple(found)
    return tuple(f"{number}: {path}" for number, path in enumerate(paths, 1))
