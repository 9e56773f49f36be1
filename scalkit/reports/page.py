"""The content of one report: the data, the validation, and what the sections say about them."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xarray as xr

from scalkit import measure
from scalkit.fit import MIN_POINTS
from scalkit.plots.style import rank_key
from scalkit.reports.plain import from_plain
from scalkit.validation import Validation, validate
from scalkit.validation.junit import to_junit

__all__ = ["Page", "open_page"]


@dataclass(frozen=True)
class Page:
    """What the sections of a report need.

    Attributes
    ----------
    data : xarray.Dataset
        As `scalkit.measure.read` returns it.
    result : Validation
    title : str
        Plain text.
    named : tuple of str
        The measurements as the user named them.
    expectations_name : str
        Name of a catalogue, or path of a file; empty for expectations stated in Python.
    rules : tuple of str
        Stated in addition to those of the expectations.
    fail_on : tuple of str
        What adds to exit status 1.
    min_points : int
        Fewest settings of the parameter.
    made : str
        Time of the report, UTC.
    """

    data: xr.Dataset
    result: Validation
    title: str
    named: tuple[str, ...]
    expectations_name: str
    rules: tuple[str, ...]
    fail_on: tuple[str, ...]
    min_points: int
    made: str

    @property
    def parameter(self) -> str:
        """Name of the parameter, such as ``"p"``; of several all between commas."""
        return ", ".join(measure.parameters_of(self.data)) or "p"

    @property
    def library(self) -> str:
        """The MPI library in one short line; empty if unknown."""
        return _short(str(self.data.attrs.get("mpi_library", "") or ""))

    @property
    def campaign(self) -> Mapping[str, Any]:
        """The campaign's own record of how it was run; empty if there is none."""
        content = _parsed(self.data.attrs.get("campaign"))
        return content if isinstance(content, dict) else {}

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments of the campaign; empty if it does not say."""
        content = self.campaign.get("arguments")
        return content if isinstance(content, dict) else {}

    @property
    def inputs(self) -> Mapping[str, str]:
        """SHA-256 of every file that was read."""
        content = _parsed(self.data.attrs.get("inputs"))
        return {str(k): str(v) for k, v in content.items()} if isinstance(content, dict) else {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What the run files themselves remark, such as operations that could not run."""
        content = _parsed(self.data.attrs.get("notes"))
        return tuple(dict.fromkeys(str(note) for note in content)) if isinstance(content, list) else ()

    @property
    def measured_at(self) -> str:
        """When the measurements began; empty if unknown."""
        text = str(self.data.attrs.get("started", "") or "")
        return re.sub(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(\.\d+)?Z$", r"\1 \2 UTC", text)

    @property
    def status(self) -> int:
        """Exit status that `scalkit report` gives for this page: 0 or 1."""
        return int(self.result.exit_status(self.fail_on))

    @property
    def answer(self) -> str:
        """The verdicts in a few sentences."""
        return " ".join(_answer(self))

    def broken_rules_of(self, function: str) -> list[str]:
        """Return the sentences of all rules about `function` that are violated or predicted to be."""
        return [
            result.sentence
            for result in self.result.rules
            if result.status in ("violated", "predicted") and any(name == function for _, name in result.rule.left)
        ]

    def save(self, folder: str) -> None:
        """Write ``verdict.json``, ``junit.xml`` and ``outcome.json`` into `folder`; without a folder, nothing."""
        if not folder:
            return
        place = Path(folder)
        outcome = {"title": self.title, "status": self.status, "answer": self.answer}
        (place / "verdict.json").write_text(self.result.to_json(), encoding="utf-8")
        (place / "junit.xml").write_text(to_junit(self.result, fail_on=self.fail_on), encoding="utf-8")
        (place / "outcome.json").write_text(json.dumps(outcome), encoding="utf-8")


def open_page(
    runs: Sequence[str],
    expectations: str | Mapping[str, Any] = "mpi",
    *,
    rules: Sequence[str] = (),
    title: str = "",
    named: Mapping[str, Any] | None = None,
    fail_on: Sequence[str] = (),
    statistic: str = "q1",
    min_points: int = MIN_POINTS,
) -> Page:
    """Read measurements, validate them, and return the content of a report.

    Parameters
    ----------
    runs : sequence of paths
        Run folders, run files, or netCDF files.
    expectations : str or mapping
        Name of a bundled catalogue, path of a TOML file, or what `scalkit.reports.plain.to_plain` returns.
    rules : sequence of str
        Cross-function rules, in addition to those of the expectations.
    title : str
        Made from the data if empty.
    named : mapping, optional
        How the report names its inputs: ``{"runs": [...], "expectations": "..."}``; by default as above.
    fail_on : sequence of str
        ``"better"``, ``"predicted"``, ``"undecided"``.
    statistic : {"q1", "median", "mean", "min"}
        Over repetitions, then over runs.
    min_points : int
        Fewest settings of the parameter.

    Raises
    ------
    DataError, RunFileError, ExpectationError, RuleError, UsageError
        If an input is wrong.
    """
    data = measure.read(list(runs))
    result = validate(data, from_plain(expectations), rules, statistic=statistic, min_points=min_points)
    result.exit_status(fail_on)
    names = named or {}
    shown = str(names.get("expectations") or (expectations if isinstance(expectations, str) else ""))
    return Page(
        data=data,
        result=result,
        title=title or _title(data),
        named=tuple(names.get("runs") or runs),
        expectations_name=shown,
        rules=tuple(rules),
        fail_on=tuple(fail_on),
        min_points=min_points,
        made=_now(),
    )


def _title(data: xr.Dataset) -> str:
    library = _short(str(data.attrs.get("mpi_library", "") or ""))
    host = str(data.attrs.get("measured_on", "") or "")
    subject = library or str(data.attrs.get("title", "") or "") or "the library"
    return f"Does {subject} scale as it should{f' on {host}' if host else ''}?"


def _short(library: str) -> str:
    """Return the first line of what an MPI library says about itself, without filling."""
    first = library.strip().splitlines()[0] if library.strip() else ""
    return " ".join(first.replace("Version:", "").split(",")[0].split())[:60]


def _parsed(text: object) -> object:
    return json.loads(text) if isinstance(text, str) and text else None


def _now() -> str:
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = dt.datetime.fromtimestamp(int(epoch), dt.UTC) if epoch else dt.datetime.now(dt.UTC)
    return now.strftime("%Y-%m-%d %H:%M UTC")


def _answer(page: Page) -> list[str]:
    verdicts, counts = page.result.verdicts, page.result.counts
    functions = {v.function.partition("[")[0] for v in verdicts}
    sentences = [
        f"{_counted(len(verdicts), 'verdict')} on {_counted(len(functions), 'function')}: {counts['total']} total match, "
        f"{counts['approximate']} approximate, {counts['none']} no match"
        + (f", {counts['undecided']} undecided." if counts["undecided"] else ".")
    ]
    faster = [v for v in verdicts if rank_key(v) == "none"]
    sentences += _named("grows", "grow", "faster than expected", [v.function for v in faster if v.decides])
    idle = sum(not v.decides for v in faster)
    if idle:
        verb = "grows" if idle == 1 else "grow"
        sentences.append(f"{idle} {verb} faster than expected under a caveat and therefore {_do(idle)} not decide.")
    slower = [v.function for v in verdicts if rank_key(v) == "slower"]
    sentences += _named("grows", "grow", "slower than expected, which is no fault", slower)
    broken = [str(rule.rule) for rule in page.result.rules if rule.is_failure]
    sentences += [f"Violated as measured: {'; '.join(broken)}."] * bool(broken)
    word = "no deciding verdict or rule fails" if page.status == 0 else "a deciding verdict or rule fails"
    return [*sentences, f"Exit status {page.status}: {word}."]


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _do(count: int) -> str:
    return "does" if count == 1 else "do"


def _named(one: str, many: str, what: str, functions: Sequence[str]) -> list[str]:
    if not functions:
        return []
    listed = ", ".join(functions[:-1]) + (" and " if len(functions) > 1 else "") + functions[-1]
    return [f"{listed} {one if len(functions) == 1 else many} {what}."]
