"""Writes a report on waiting: papermill runs ``95_waiting.ipynb``, nbconvert makes one HTML file of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scalkit.errors import DataError
from scalkit.reports.bundled import bundled
from scalkit.reports.run import ReportResult
from scalkit.reports.waiting.inputs import found_in
from scalkit.reports.writer.outcome import read_outcome
from scalkit.reports.writer.target import Target
from scalkit.validation import Expectation

__all__ = ["TEMPLATE", "waiting_report"]

TEMPLATE = "notebooks/95_waiting.ipynb"
PathLike = str | os.PathLike[str]


def waiting_report(
    runs: Sequence[PathLike] | PathLike,
    out: PathLike = "waits.html",
    *,
    region: str = "",
    expected: Mapping[str, str] | str = "",
    fail_above: float | None = None,
    baseline: bool = True,
    keep_going: bool = False,
    force: bool = False,
    title: str = "",
    progress: Callable[[int, int], object] | None = None,
) -> ReportResult:
    """Write a report on waiting over process counts as one HTML file, with JSON and JUnit XML beside it.

    Parameters
    ----------
    runs : path or sequence of paths
        Results of `scalkit.trace.write_result`, folders of traces, or folders of these.
    out : path
        The HTML file; for ``r.html``, ``r.verdict.json`` and ``r.junit.xml`` are written beside it.
    region : str
        Only what happens within this region of the program; empty: all.
    expected : mapping or str
        Growth over p of how long a process waits for progress: in each region, or in the whole program; constant by default.
    fail_above : float, optional
        Percent of the time; status 1 if more of it is waiting for progress.
    baseline : bool
        Whether to time the analysis of traces with a message for each request, too.
    keep_going : bool
        Leave out what is wrong with traces; the page names it.
    force : bool
        Replace existing files.
    title : str
    progress : callable, optional
        Called with the number of steps done and of all.

    Returns
    -------
    ReportResult

    Raises
    ------
    ReportError
        If the place cannot be written to, or the notebook fails; nothing is left there then.
    DataError, ExpectationError
        If an input is wrong.
    """
    from scalkit.reports.writer.html_page import render
    from scalkit.reports.writer.kernel import execute

    target = Target.of(out, force=force)
    given = [os.fspath(one) for one in ([runs] if isinstance(runs, str | os.PathLike) else runs)]
    for path, shown in found_in(given):
        if not path.exists():
            raise DataError(f"there is no {shown!r}; name results of `scalkit trace analyse --out`, or traces.")
    growths = {"program": expected} if isinstance(expected, str) and expected else dict(expected or {})
    for growth in growths.values():
        Expectation(growth)  # what is none is refused before a notebook is started
    asked: dict[str, Any] = {
        "region": region,
        "expected": growths,
        "fail_above": fail_above,
        "baseline": None if baseline else False,
        "keep_going": keep_going or None,
        "title": title,
    }
    asked = {key: value for key, value in asked.items() if value not in ("", None, {})}
    with tempfile.TemporaryDirectory(prefix="scalkit-report-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        paths = [str(Path(one).expanduser().absolute()) for one in given]
        parameters = {"runs": paths, "named": given, "outcome": str(folder), **asked}
        done = execute(bundled(TEMPLATE), parameters, folder, progress=progress)
        outcome = read_outcome(folder)
        contents: dict[Path, str | bytes] = {target.html: render(done, outcome.title)}
        contents |= {target.verdict_json: outcome.texts["verdict.json"], target.junit_xml: outcome.texts["junit.xml"]}
        target.write(contents)
    return ReportResult(target.html, target.verdict_json, target.junit_xml, outcome.status, outcome.answer)
