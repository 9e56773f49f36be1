"""Writes a report: papermill runs the template notebook, nbconvert turns it into one HTML file, all appear at once."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import xarray as xr

from scalkit import measure
from scalkit.errors import ReportError
from scalkit.fit import MIN_POINTS
from scalkit.relation import Relation
from scalkit.reports.bundled import bundled
from scalkit.reports.target import Target

__all__ = ["ReportResult", "report"]

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class ReportResult:
    """What `report` wrote, and the verdict.

    Attributes
    ----------
    html, verdict_json, junit_xml : Path
    status : int
        0 or 1, as the command `scalkit report` would end.
    answer : str
        The verdicts in a few sentences.
    """

    html: Path
    verdict_json: Path
    junit_xml: Path
    status: int
    answer: str


def report(
    source: PathLike | Sequence[PathLike] | xr.Dataset,
    expectations: object = None,
    out: PathLike = "report.html",
    *,
    rules: Iterable[str | Relation] | str | Relation | None = (),
    force: bool = False,
    fail_on: Sequence[str] = (),
    title: str | None = None,
    statistic: str = "q1",
    min_points: int = MIN_POINTS,
) -> ReportResult:
    """Write a report about measurements as one HTML file, with the verdicts for programs beside it.

    Parameters
    ----------
    source : path, sequence of paths, or xarray.Dataset
        Run folders or files, or data at hand.
    expectations : path, name, mapping or ExpectationSet, optional
        As `scalkit.validate` takes them: a TOML file, a bundled catalogue (``"mpi"``, ``"mafia"``), or function to
        expectation; by default ``"mpi"``.
    out : path
        The HTML file; for ``r.html``, ``r.verdict.json`` and ``r.junit.xml`` are written beside it.
    rules : iterable of str or Relation
        Cross-function rules, in addition to those of the expectations.
    force : bool
        Replace existing files.
    fail_on : sequence of str
        ``"better"``, ``"predicted"``, ``"undecided"``: what adds to status 1.
    title : str, optional
        Made from the data by default.
    statistic : {"q1", "median", "mean", "min"}
        Over repetitions, then over runs.
    min_points : int
        Fewest settings of the parameter.

    Returns
    -------
    ReportResult

    Raises
    ------
    ReportError
        If the place cannot be written to or the notebook fails; nothing is left there then.
    DataError, RunFileError, ExpectationError, RuleError, UsageError
        If an input is wrong.

    Notes
    -----
    ``SOURCE_DATE_EPOCH`` sets the time in the report, so that the same input gives the same bytes.
    """
    from scalkit.reports.html_page import render
    from scalkit.reports.kernel import execute
    from scalkit.reports.plain import to_plain

    _require_epoch()
    target = Target.of(out, force=force)
    with tempfile.TemporaryDirectory(prefix="scalkit-report-") as name, _inputs(source, Path(name)) as (runs, named):
        folder = Path(name)
        plain = to_plain(expectations)
        shown = os.fspath(expectations) if isinstance(expectations, str | os.PathLike) else ""
        parameters = {
            "runs": runs,
            "expectations": plain,
            "rules": [str(rule) for rule in ([rules] if isinstance(rules, str | Relation) else rules or ())],
            "title": title or "",
            "named": {"runs": named, "expectations": shown or (plain if isinstance(plain, str) else "")},
            "fail_on": [fail_on] if isinstance(fail_on, str) else list(fail_on or ()),
            "statistic": statistic,
            "min_points": min_points,
            "outcome": name,
        }
        notebook = execute(bundled("notebooks/90_report.ipynb"), parameters, folder)
        outcome = json.loads((folder / "outcome.json").read_text(encoding="utf-8"))
        target.write(
            {
                target.html: render(notebook, outcome["title"]),
                target.verdict_json: (folder / "verdict.json").read_text(encoding="utf-8"),
                target.junit_xml: (folder / "junit.xml").read_text(encoding="utf-8"),
            }
        )
    return ReportResult(target.html, target.verdict_json, target.junit_xml, int(outcome["status"]), outcome["answer"])


def _require_epoch() -> None:
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "0")
    if not (epoch.isascii() and epoch.isdecimal() and len(epoch) <= 11):
        raise ReportError(f"SOURCE_DATE_EPOCH is {epoch[:40]!r}; seconds since 1970 are needed, or unset it.")


@contextmanager
def _inputs(source: PathLike | Sequence[PathLike] | xr.Dataset, folder: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Yield absolute paths of the measurements, and how to name them."""
    if isinstance(source, xr.Dataset):
        reduced = folder / "measurements.nc"
        measure.write_netcdf(source, reduced)
        yield [str(reduced)], [str(source.attrs.get("source", "") or "data in memory")]
        return
    given: list[PathLike] = [source] if isinstance(source, str | os.PathLike) else [*source]
    yield [str(Path(path).absolute()) for path in given], [os.fspath(path) for path in given]
