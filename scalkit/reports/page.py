"""The content of one report: the data, the validation, and what the sections say about them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import xarray as xr

from scalkit import measure
from scalkit.errors import DataError, UsageError
from scalkit.formats.ci.junit import cases
from scalkit.junit import Case
from scalkit.measure.virtual_time import is_virtual
from scalkit.options import Judging
from scalkit.reports.answer import answer
from scalkit.reports.inputs import Kind, checked_targets, from_plain, kind_of, listed, named_parameters, require_known_parameters
from scalkit.reports.writer.content import Content, written_now
from scalkit.session import Session
from scalkit.session.file import dataset_to_text, session_from_dict, sessions_in
from scalkit.session.plain import options_from
from scalkit.session.source import content_hash
from scalkit.validation import ExpectationSet, Validation, validate
from scalkit.validation.baseline import Baseline
from scalkit.validation.catalogue import expectation_set
from scalkit.validation.judge.measured import AnyExpectation

_ROOM = 908_000
_OF_A_VERDICT = {False: 28_000, True: 4_000}
"""A page has 1.6 MB, less the plotting library, and less this for each verdict, alone or beside others; the rest may hold
measurements."""


def room_for(n_verdicts: int, n_sets: int = 1) -> int:
    """Return how many letters the measurements of each of several data sets may take in a page."""
    return max(0, _ROOM - _OF_A_VERDICT[n_sets > 1] * n_verdicts * n_sets) // n_sets


def session_values(page: "Page") -> dict[str, Any]:
    """Return the session of a page as JSON values; the measurements are in it if no file holds them, or if there is room."""
    if page.session is not None:
        plain = page.session.to_dict(with_data=False)
        plain["data"]["netcdf"] = dataset_to_text(page.session.data)
    else:
        bare = page.data.assign_attrs(source="")  # read already, and the paths are those of another working folder
        session = Session(bare, page.expected, page.rules, **page.judging.as_options())
        plain = session.to_dict(with_data=True)
        plain["data"]["paths"] = [] if page.is_in_memory else list(page.named)
        plain["expectations"]["source"] = None if page.judged_by_baseline else page.expectations_name or None
    if plain["data"]["paths"] and len(plain["data"]["netcdf"]) > page.room:
        plain["data"]["netcdf"] = None
    return plain


def sessions_of(path: str | Path) -> list[Session]:
    """Return all sessions in a report: one of each data set that it compares.

    `path`: of a report in HTML.
    Raises DataError if it cannot be read or has none.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read the report '{path}': {error!s:.100}; name a page that scalkit report wrote.") from error
    return [session_from_dict(Session, json.loads(one), None, Path(path).parent) for one in sessions_in(text, path)]


@dataclass(frozen=True)
class Page(Content):
    """What the sections of a report need.

    `data`: as `scalkit.measure.read` returns it.
    `expected`: what the functions were judged by; None where a session says so.
    `title`: plain text.
    `named`: the measurements as the user named them.
    `is_in_memory`: whether no file holds the measurements.
    `expectations_name`: name of a catalogue, or path of a file; empty for expectations stated in Python.
    `rules`: stated in addition to those of the expectations.
    `fail_on`: what adds to exit status 1.
    `judging`: how it was judged.
    `made`: time of the report, UTC.
    `targets`: values of the parameter to predict at; empty: chosen by the section.
    `baseline`: what `result` was compared with.
    `baseline_name`: as the user named it.
    `baseline_kind`: what it was.
    `judged_by_baseline`: whether the status quo was what was expected.
    `session`: the session that is reported, where one was given instead of measurements.
    `n_sets`: number of data sets on the same page.
    `read_along`: argument of the benchmarks that was taken as the parameter, several between commas; empty: the files
    say it.
    `real_times`: run times of the real clock, shown beside those of virtual time and not judged.
    `real_times_name`: as the user named them.
    """

    data: xr.Dataset
    result: Validation
    expected: ExpectationSet | None
    title: str
    named: tuple[str, ...]
    is_in_memory: bool
    expectations_name: str
    rules: tuple[str, ...]
    fail_on: tuple[str, ...]
    judging: Judging
    made: str
    targets: tuple[float, ...] = ()
    baseline: Baseline | None = None
    baseline_name: str = ""
    baseline_kind: Kind = "baseline"
    judged_by_baseline: bool = False
    session: Session | None = None
    n_sets: int = 1
    read_along: str = ""
    real_times: xr.Dataset | None = None
    real_times_name: str = ""

    @property
    def parameter(self) -> str:
        """Name of the parameter, such as ``"p"``; of several all between commas."""
        return ", ".join(measure.parameters_of(self.data)) or "p"

    @property
    def library(self) -> str:
        """The MPI library in one short line; empty if unknown."""
        return short_library(str(self.data.attrs.get("mpi_library", "") or ""))

    @property
    def campaign(self) -> Mapping[str, Any]:
        """The campaign's own record of how it was run; empty if there is none."""
        found: dict[str, Any] = self._parsed("campaign", dict)
        return found

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments of the campaign; empty if it does not say."""
        content = self.campaign.get("arguments")
        return content if isinstance(content, dict) else {}

    @property
    def inputs(self) -> Mapping[str, str]:
        """SHA-256 of every file that was read."""
        return {str(k): str(v) for k, v in self._parsed("inputs", dict).items()}

    @property
    def notes(self) -> tuple[str, ...]:
        """What the run files themselves remark, such as operations that could not run."""
        return tuple(dict.fromkeys(map(str, self._parsed("notes", list))))

    def _parsed(self, name: str, kind: Any) -> Any:
        """Return what an attribute of the measurements says in JSON; empty if it is of another kind."""
        text = self.data.attrs.get(name)
        content = json.loads(text) if isinstance(text, str) and text else None
        return content if isinstance(content, kind) else kind()

    @property
    def measured_at(self) -> str:
        """When the measurements began; empty if unknown."""
        text = str(self.data.attrs.get("started", "") or "")
        return re.sub(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(\.\d+)?Z$", r"\1 \2 UTC", text)

    @property
    def data_hash(self) -> str:
        """SHA-256 of what the measurements say, whatever file they are in."""
        return content_hash(self.data)

    @property
    def room(self) -> int:
        """How many letters its measurements may take in the page."""
        return room_for(len(self.result.verdicts), self.n_sets)

    @cached_property
    def session_values(self) -> dict[str, Any]:
        """What `Session.load` reads from the page, as JSON values."""
        return session_values(self)

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
        """The verdicts in a few sentences."""
        return answer(self)

    def broken_rules_of(self, function: str) -> list[str]:
        """Return the sentences of all rules about `function` that are violated or predicted to be."""
        return [
            result.sentence
            for result in self.result.rules
            if result.status in ("violated", "predicted") and any(name == function for _, name in result.rule.left)
        ]

    def to_json(self) -> str:
        """Return the verdicts as JSON text."""
        return self.result.to_json()

    def cases(self) -> Mapping[str, list[Case]]:
        """Return the test cases for JUnit XML."""
        return {"scalkit": cases(self.result, self.fail_on)}


def open_page(
    runs: Sequence[str],
    expectations: str | Mapping[str, Any] = "mpi",
    *,
    rules: Sequence[str] = (),
    title: str = "",
    named: Mapping[str, Any] | None = None,
    fail_on: Sequence[str] = (),
    targets: Sequence[float] = (),
    baseline: str = "",
    judged_by_baseline: bool = False,
    n_sets: int = 1,
    parameter: str = "",
    real_times: str = "",
    **options: Any,
) -> Page:
    """Read measurements, validate them, and return the content of a report.

    `runs`: run folders, run files, or netCDF files; or a single session, from `Session.save` or inside an earlier report,
    which says itself what is expected.
    `expectations`: name of a bundled catalogue, path of a TOML file, or what `scalkit.reports.inputs.to_plain` returns.
    `rules`: cross-function rules, in addition to those of the expectations.
    `title`: made from the data if empty.
    `named`: how the report names its inputs: ``{"runs": [...], "expectations": "...", "baseline": "...", "real_times":
    "..."}``; by default as above.
    `fail_on`: ``"better"``, ``"predicted"``, ``"undecided"``; compared with a baseline also ``"factor"`` and ``"gone"``.
    `targets`: values of the parameter to predict at.
    `baseline`: a file of `Baseline.save`, a session, or measurements that are judged by `expectations`.
    `judged_by_baseline`: whether the growths of the baseline are expected, not `expectations`.
    `n_sets`: number of data sets on the same page.
    `parameter`: argument of the benchmarks in a JSON file to take as the parameter, several between commas; see
    `scalkit.read`.
    `real_times`: measurements with run times of the real clock, to be shown beside those of virtual time.
    `**options`: how it is judged, as JSON values; see `scalkit.options.Judging`. The statistic is by default that of the
    baseline.
    Raises DataError, RunFileError, ExpectationError, RuleError, UsageError if an input is wrong.
    """
    require_known_parameters()
    names, runs, rules, fail_on = named or {}, listed(runs), listed(rules), listed(fail_on)
    session = Session.load(runs[0]) if len(runs) == 1 and kind_of(runs[0]) == "session" else None
    given = options_from({name: value for name, value in options.items() if value not in ("", None)})
    quo = open_baseline(baseline, expectations, Judging.of(given), parameter) if baseline else None
    judging = Judging.of(given if quo is None else {"statistic": quo.statistic, **given})
    expected: ExpectationSet | None = None
    if session is not None:
        data, result, judging = session.data, session.result, session.state.judging
        shown, rules = result.expectations, ()
    else:
        data = measure.read(list(runs), parameter=named_parameters(parameter))
        own = quo if judged_by_baseline else None
        expected = from_plain(expectations) if own is None else expectation_set(status_quo(own))
        result = validate(data, own or expected, rules, **judging.as_options())
        shown = str(names.get("expectations") or (expectations if isinstance(expectations, str) else ""))
    if quo is not None:
        require_same_statistic(quo, result)
        result = result if result.comparison else replace(result, comparison=quo.compare(result))
    result.exit_status(fail_on)
    real_name = str(names.get("real_times") or real_times)
    return Page(
        data=data,
        result=result,
        expected=expected,
        title=title or _title(data, judged_by_baseline),
        named=tuple(names.get("runs") or runs),
        is_in_memory=bool(names.get("in_memory")),
        expectations_name=shown,
        rules=tuple(rules),
        fail_on=tuple(fail_on),
        judging=judging,
        made=written_now(),
        targets=tuple(checked_targets(targets)),
        baseline=quo,
        baseline_name=str(names.get("baseline") or baseline),
        baseline_kind=kind_of(baseline) if baseline else "baseline",
        judged_by_baseline=judged_by_baseline,
        session=session,
        n_sets=n_sets,
        read_along=parameter,
        real_times=_real_times(real_times, real_name, data) if real_times else None,
        real_times_name=real_name,
    )


def _real_times(path: str, name: str, judged: xr.Dataset) -> xr.Dataset:
    """Return the run times of the real clock that stand beside virtual ones."""
    if not is_virtual(judged.attrs):
        raise UsageError(f"real times stand beside virtual ones, and the reported times are real; leave {name!r} out.")
    data = measure.read(path)
    if is_virtual(data.attrs) or int(data.attrs.get("simulated", 0)):
        raise UsageError(f"{name!r} holds no run times of the real clock; measure them with --clock real.")
    if "time" not in data or len(measure.parameters_of(data)) > 1:
        raise UsageError(f"{name!r} holds no run times over one parameter; measure collectives with --clock real.")
    return data


def _title(data: xr.Dataset, of_change: bool) -> str:
    subject = short_library(str(data.attrs.get("mpi_library", "") or "")) or str(data.attrs.get("title", "") or "")
    if of_change:
        return f"What changed in {subject or 'the candidate'} since the baseline?"
    host = "" if is_virtual(data.attrs) else str(data.attrs.get("measured_on", "") or "")
    return f"Does {subject or 'the library'} scale as it should{f' on {host}' if host else ''}?"


def short_library(library: str) -> str:
    """Return the first line of what an MPI library says about itself, without filling."""
    first = library.strip().splitlines()[0] if library.strip() else ""
    return " ".join(first.replace("Version:", "").split(",")[0].split())[:60]


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
    """Check that values of the same kind are compared. Raises UsageError if they are not."""
    if baseline.statistic != result.statistic:
        raise UsageError(
            f"the baseline has the statistic {baseline.statistic}, the measurements are judged by {result.statistic}; "
            "compare values of the same kind, with the statistic of the baseline."
        )


def status_quo(baseline: Baseline) -> dict[str, AnyExpectation]:
    """Return the growths of a baseline by function; of several metrics the last one counts."""
    return {entry.function: entry.status_quo for entry in baseline}
