"""The content of a report on one data set: the data, the validation, and the baseline that it was compared with."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import xarray as xr

from scalkit.errors import UsageError
from scalkit.front import measurements_in
from scalkit.judge import ExpectationSet, Validation, validate
from scalkit.judge.baseline import Baseline
from scalkit.judge.baseline.comparison import compared
from scalkit.judge.told.junit import cases
from scalkit.judge.validating import growth_alone
from scalkit.measure.virtual_time import is_virtual
from scalkit.reports.content import Content, written_now
from scalkit.reports.inputs import from_plain, kind_of, shown
from scalkit.session import Session
from scalkit.session.file import dataset_to_text
from scalkit.session.plain import options_from
from scalkit.support.bundled import bundled
from scalkit.support.junit import Case
from scalkit.support.options import Judging
from scalkit.support.text import capital

# A page has at most 1.6 MB. What the plotting library and each verdict, alone or in one of several columns, leave of it may
# hold measurements.
_ROOM = 908_000
_OF_A_VERDICT = {False: 28_000, True: 4_000}


def room_for(n_verdicts: int, n_sets: int = 1) -> int:
    """Return how many letters the measurements of each of several data sets may take in a page."""
    return max(0, _ROOM - _OF_A_VERDICT[n_sets > 1] * n_verdicts * n_sets) // n_sets


def status_sentence(status: int) -> str:
    """Return the exit status and what it means."""
    word = "no deciding verdict or rule fails" if status == 0 else "a deciding verdict or rule fails"
    return f"Exit status {status}: {word}."


@dataclass(frozen=True)
class Page(Content):
    """The verdicts on one data set.

    `data`: as `scalkit.read` returns it.
    `named`: the measurements as the user named them.
    `expectations_name`: name of a catalogue, path of a file, or a growth; empty for expectations stated in Python.
    `rules`: stated in addition to those of the expectations.
    `fail_on`: what adds to exit status 1.
    `judging`: how it was judged.
    `baseline`: its growths were what was expected, and `result` was compared with it.
    `baseline_name`: as the user named it.
    `session`: the session that is reported, where one was given instead of measurements.
    `n_sets`: number of data sets on the same page.
    """

    kind: ClassVar[str] = "report"

    data: xr.Dataset
    result: Validation
    title: str
    named: tuple[str, ...]
    expectations_name: str
    rules: tuple[str, ...]
    fail_on: tuple[str, ...]
    judging: Judging
    made: str
    baseline: Baseline | None = None
    baseline_name: str = ""
    session: Session | None = None
    n_sets: int = 1

    @property
    def library(self) -> str:
        """The MPI library in one short line; empty if unknown."""
        return _short_library(self.data)

    @property
    def campaign(self) -> Mapping[str, Any]:
        """The campaign's own record of how it was run; empty if there is none."""
        found: dict[str, Any] = self._parsed("campaign", dict)
        return found

    @property
    def inputs(self) -> Mapping[str, str]:
        """SHA-256 of every file that was read."""
        return {str(k): str(v) for k, v in self._parsed("inputs", dict).items()}

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks of the run files themselves, such as operations that could not run."""
        return tuple(dict.fromkeys(map(str, self._parsed("notes", list))))

    def _parsed(self, name: str, kind: Any) -> Any:
        """Return an attribute of the measurements that is JSON; empty if it is of another kind."""
        text = self.data.attrs.get(name)
        content = json.loads(text) if isinstance(text, str) and text else None
        return content if isinstance(content, kind) else kind()

    @property
    def measured_at(self) -> str:
        """When the measurements began; empty if unknown."""
        text = str(self.data.attrs.get("started", "") or "")
        return re.sub(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(\.\d+)?Z$", r"\1 \2 UTC", text)

    @cached_property
    def session_values(self) -> dict[str, Any]:
        """The session of the page as JSON values; the measurements are in it if no file holds them, or if there is room."""
        if self.session is not None:
            plain = self.session.to_dict(with_data=False)
            plain["data"]["netcdf"] = dataset_to_text(self.session.data)
        else:
            bare = self.data.assign_attrs(source="")  # read already, and the paths are those of another working folder
            plain = Session(replace(self.result, data=bare)).to_dict(with_data=True)
            plain["data"]["paths"] = [] if "data in memory" in self.named else list(self.named)
            plain["expectations"]["source"] = self.expectations_name or None
        room = room_for(len(self.result.verdicts), self.n_sets)
        if plain["data"]["paths"] and len(plain["data"]["netcdf"]) > room:
            plain["data"]["netcdf"] = None
        return plain

    @property
    def sessions(self) -> Mapping[str, dict[str, Any]]:
        """The session of the page by its title."""
        return {self.title: self.session_values}

    @property
    def status(self) -> int:
        """Exit status that `scalkit report` gives for this page: 0 or 1."""
        return int(self.result.exit_status(self.fail_on))

    @property
    def answer(self) -> str:
        """The problems, or that there is none, and the exit status."""
        changed = self.result.comparison
        sentences = [self.result.headline, *([] if changed is None else [changed.headline])]
        return " ".join([*(f"{capital(one)}." for one in sentences), status_sentence(self.status)])

    def to_json(self) -> str:
        """Return the verdicts as JSON text."""
        return self.result.to_json()

    def cases(self) -> Mapping[str, list[Case]]:
        """Return the test cases for JUnit XML."""
        return {"scalkit": cases(self.result, self.fail_on)}


def open_verdicts(
    runs: Sequence[str] = (),
    expectations: str | Mapping[str, Any] = "",
    *,
    rules: Sequence[str] = (),
    title: str = "",
    fail_on: Sequence[str] = (),
    baseline: Sequence[str] = (),
    parameter: str | Sequence[str] | None = None,
    n_sets: int = 1,
    **options: Any,
) -> Page:
    """Read measurements, validate them, and return the content of a report.

    `runs`: run folders, run files, or netCDF files; or a single session, from `Session.save` or inside an earlier report,
    which says itself what is expected; by default the bundled measurements of the quickstart.
    `expectations`: name of a bundled catalogue, ``"mpi"`` by default, path of a TOML file, a growth of every function, or
    what `scalkit.reports.inputs.plain_expectations` returns. With a baseline: what earlier measurements are judged by.
    `rules`: cross-function rules, in addition to those of the expectations.
    `title`: made from the data if empty.
    `fail_on`: ``"better"``, ``"predicted"``, ``"cannot-tell"``; compared with a baseline also ``"gone"``.
    `baseline`: a file of `Baseline.save`, a session, or measurements; its growths are then expected.
    `parameter`: as for `scalkit.read`.
    `n_sets`: number of data sets on the same page.
    `**options`: how it is judged, as JSON values; see `scalkit.support.options.Judging`. The statistic is by default that of the
    baseline.
    Raises DataError, RunFileError, ExpectationError, RuleError, UsageError if an input is wrong.
    """
    runs, given = runs or [str(bundled("data/quickstart"))], options_from(options)
    is_session = len(runs) == 1 and kind_of(runs[0]) == "session"
    if is_session and n_sets == 1:
        _require_nothing_else({"expectations": expectations, "rules": rules, "parameter": parameter, **given})
    expectations = expectations or "mpi"
    quo = _open_baseline(baseline, expectations, Judging.of(given), parameter) if baseline else None
    session = Session.load(runs[0]) if is_session else None
    if quo is None and session is not None:
        quo = session.baseline
    name = expectations if isinstance(expectations, str) and quo is None else ""
    if session is not None:
        data, result, judging, rules, name = session.data, session.result, session.state.judging, (), session.result.expectations
    else:
        judging = Judging.of(given if quo is None else {"statistic": quo.statistic, **given})
        asked = quo or _asked(expectations)
        data = measurements_in(list(runs), parameter or None, asked)
        result = validate(data, asked, rules, **judging.as_options())
    if quo is not None:
        _require_same_statistic(quo, result)
        if result.comparison is None or result.comparison.baseline != quo:
            result = compared(quo, result)
    return Page(
        data,
        result,
        title=title or _title(data, of_change=quo is not None),
        named=tuple(map(shown, runs)),
        expectations_name=name,
        rules=tuple(rules),
        fail_on=tuple(fail_on),
        judging=judging,
        made=written_now(),
        baseline=quo,
        baseline_name=", ".join(map(shown, baseline)) or "an earlier result" * (quo is not None),
        session=session,
        n_sets=n_sets,
    )


def _asked(expectations: str | Mapping[str, Any]) -> str | ExpectationSet:
    """Return a growth of every function as it is, and anything else as a set of expectations."""
    if isinstance(expectations, str) and growth_alone(expectations) is not None:
        return expectations
    return from_plain(expectations)


def _require_nothing_else(given: Mapping[str, Any]) -> None:
    """Raise a UsageError if anything is given beside a session."""
    if beside := [name for name, value in given.items() if value]:
        raise UsageError(
            f"a session or result says itself what is expected and how it is judged; leave {', '.join(beside)} out, "
            "or change the session, or judge again."
        )


def _title(data: xr.Dataset, of_change: bool) -> str:
    subject = _short_library(data) or str(data.attrs.get("title", "") or "")
    if of_change:
        return f"What changed in {subject or 'the candidate'} since the baseline?"
    host = "" if is_virtual(data.attrs) else str(data.attrs.get("measured_on", "") or "")
    return f"Does {subject or 'the library'} scale as it should{f' on {host}' if host else ''}?"


def _short_library(data: xr.Dataset) -> str:
    """Return the first line of what an MPI library says about itself, without filling."""
    first = (str(data.attrs.get("mpi_library", "") or "").strip().splitlines() or [""])[0]
    return " ".join(first.replace("Version:", "").split(",")[0].split())[:60]


def _open_baseline(
    paths: Sequence[str], expectations: str | Mapping[str, Any], judging: Judging, parameter: str | Sequence[str] | None
) -> Baseline:
    """Return the baseline: saved, in a session or report, or of measurements, which are judged first."""
    if len(paths) != 1:
        raise UsageError(f"a baseline is one file or folder, got {len(paths)}; combine them into one.")
    kind = kind_of(paths[0])
    if kind == "baseline":
        return Baseline.load(paths[0])
    if kind == "session":
        return Baseline(Session.load(paths[0]).result)
    asked = _asked(expectations)
    data = measurements_in(list(paths), parameter or None, asked)
    return Baseline(validate(data, asked, **judging.as_options()))


def _require_same_statistic(baseline: Baseline, result: Validation) -> None:
    """Raise a UsageError if values of different kinds are compared."""
    if baseline.statistic != result.statistic:
        raise UsageError(
            f"the baseline has the statistic {baseline.statistic}, the measurements are judged by {result.statistic}; "
            "compare values of the same kind, with the statistic of the baseline."
        )
