"""Writes a report about measurements, sessions and validations."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, Unpack

import pandas as pd
import xarray as xr

from scalkit.errors import DataError, UsageError
from scalkit.growth.relation import Relation
from scalkit.judge import Validation
from scalkit.reports.write import ReportResult, write_report
from scalkit.session import Session
from scalkit.session.file import session_from_dict, sessions_in
from scalkit.support.options import JudgingOptions

PathLike: TypeAlias = str | os.PathLike[str]
Source: TypeAlias = PathLike | xr.Dataset | pd.DataFrame | Session | Validation | Sequence[PathLike]


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
    baseline: PathLike | xr.Dataset | Session | None = None,
    notebook: bool = False,
    **options: Unpack[JudgingOptions],
) -> ReportResult:
    """Write a report as one HTML file, with the verdicts for programs next to it.

    Parameters
    ----------
    source : path, sequence of paths, Dataset, DataFrame, Session, Validation, or mapping
        Measurements, or a session (also its file, or an earlier report) or a validation, which say themselves what is expected.
        A mapping from label to these gives a report with a column for each.
    expectations : path, name, growth, mapping or ExpectationSet, optional
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
    baseline : path, Dataset, or Session, optional
        What to compare with: a file of `Baseline.save`, or earlier measurements, which are judged by `expectations`. The growths
        in it are then expected.
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
    if isinstance(source, Mapping) and not isinstance(source, xr.Dataset):
        kind, runs = "compare", {label: _as_session(one) for label, one in source.items()}
    else:
        kind, runs = "report", _as_session(source)
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
        parameter=parameter if parameter is None or isinstance(parameter, str) else list(parameter),
        baseline=baseline,
        **options,
    )


def _as_session(source: Any) -> Any:
    """Return the session of a validation; any other source as it is. Raises UsageError if it does not know its measurements."""
    if not isinstance(source, Validation):
        return source
    if source.data is None or source.comparison is not None:
        raise UsageError(
            "this validation does not say all that it was made from; name its measurements, and the baseline if there is one."
        )
    return Session(source)


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
