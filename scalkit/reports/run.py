"""Writes a report about measurements, sessions and validations."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, Unpack

import pandas as pd
import xarray as xr

from scalkit.errors import DataError, UsageError
from scalkit.front import has_labels, measurements_in
from scalkit.growth.relation import Relation
from scalkit.judge import Validation
from scalkit.judge.baseline import Baseline
from scalkit.judge.validating import opened
from scalkit.reports.write import ReportResult, write_report
from scalkit.session import Session
from scalkit.session.file import session_from_dict, sessions_in
from scalkit.support.arguments import each_of
from scalkit.support.options import JudgingOptions

PathLike: TypeAlias = str | os.PathLike[str]
Source: TypeAlias = PathLike | xr.Dataset | pd.DataFrame | Session | Validation | Sequence[PathLike] | Mapping[str, Any]


def report(
    source: Source | Mapping[str, Source],
    expectations: object = None,
    out: PathLike | None = None,
    *,
    rules: Iterable[str | Relation] | str | Relation | None = None,
    force: bool = False,
    fail_on: Sequence[str] = (),
    title: str | None = None,
    parameter: str | Sequence[str] | None = None,
    baseline: Source | Baseline | None = None,
    notebook: bool = False,
    **options: Unpack[JudgingOptions],
) -> ReportResult:
    """Write a report as one HTML file, with the verdicts for programs next to it.

    Parameters
    ----------
    source : path, sequence of paths, Dataset, DataFrame, dict of arrays, Session, Validation, or mapping
        Measurements, or a session (also its file, or an earlier report) or a validation, which say themselves what is expected.
        A mapping from label to these gives a report with a column for each.
    expectations : path, name, growth, mapping, ExpectationSet or Baseline, optional
        As `scalkit.validate` takes them; by default ``"mpi"``. May be left out: ``sk.report(source, "report.html")``.
    out : path
        The HTML file, by default ``"report.html"``; for ``r.html``, ``r.verdict.json`` and ``r.junit.xml`` are written next to
        it.
    rules : iterable of str or Relation
        Cross-function rules, in addition to those of the expectations.
    force : bool
        Replace existing files.
    fail_on : sequence of str
        ``"better"``, ``"predicted"``, ``"cannot-tell"``, with a baseline also ``"gone"``: what adds to status 1.
    title : str, optional
        Made from the data by default.
    parameter : str or sequence of str, optional
        As for `scalkit.read`.
    baseline : Baseline, Validation, Session, path, Dataset, DataFrame or dict of arrays, optional
        What to compare with: a baseline or its file, an earlier result, or earlier measurements, which are judged by
        `expectations`. The growths in it are then expected.
    notebook : bool
        Also write ``r.ipynb``, the notebook as it ran.
    **options
        How it is judged, as for `scalkit.validate`; see `scalkit.support.options.Judging`. The statistic is by
        default that of the baseline.

    Returns
    -------
    ReportResult

    Raises
    ------
    ReportError
        If the place cannot be written to, or the notebook fails; nothing is left there then.
    DataError, RunFileError, ExpectationError, RuleError, UsageError
        If an input is wrong.

    Notes
    -----
    ``SOURCE_DATE_EPOCH`` sets the time in the report, so that the same input gives the same bytes.
    """
    if out is None and isinstance(expectations, str | os.PathLike) and os.fspath(expectations).lower().endswith(".html"):
        expectations, out = None, expectations
    expectations = given = opened(expectations)
    if isinstance(expectations, Baseline):
        if baseline is not None:
            raise UsageError("the expectations are a baseline already; leave baseline= out.")
        expectations, baseline = None, expectations
    if has_labels(source):
        kind, runs = "compare", {label: _kept(one, parameter, given) for label, one in source.items()}
    else:
        kind, runs = "report", _kept(source, parameter, given)
    return write_report(
        kind,
        out or "report.html",
        force=force,
        notebook=notebook,
        runs=runs,
        expectations=expectations,
        rules=rules,
        fail_on=fail_on,
        title=title,
        parameter=parameter
        if parameter is None or isinstance(parameter, str)
        else each_of(parameter, str, "the parameter", "give its name"),
        baseline=Baseline(baseline) if isinstance(baseline, Validation) else _kept(baseline, parameter, given),
        **options,
    )


def _kept(source: Any, parameter: str | Sequence[str] | None, expectations: object) -> Any:
    """Return the session of a result and the measurements in a table; any other source as it is."""
    if isinstance(source, Validation):
        return Session(source)
    if isinstance(source, pd.DataFrame | pd.Series | Mapping | xr.DataArray):
        return measurements_in(source, parameter, expectations)
    return source


def sessions_of(path: PathLike) -> list[Session]:
    """Return all sessions in a report: one of each data set that it compares.

    `path`: of a report in HTML.
    Raises DataError if it cannot be read or has none.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read the report '{path}': {error!s:.100}; name a page that scalkit report wrote.") from error
    return [session_from_dict(Session, json.loads(one), None, Path(path).parent) for one in sessions_in(text, path)]
