"""Writes a report on waiting: the parameters of ``95_waiting.ipynb``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from scalkit.bundled import bundled, here_or_bundled
from scalkit.errors import DataError
from scalkit.reports.waiting.inputs import found_in
from scalkit.reports.writer.target import Target
from scalkit.reports.writer.write import ReportResult, given, work_folder, write
from scalkit.validation import Expectation

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

    `runs`: results of `scalkit.trace.write_result`, folders of traces, or folders of these.
    `out`: the HTML file; for ``r.html``, ``r.verdict.json`` and ``r.junit.xml`` are written beside it.
    `region`: only what happens within this region of the program; empty: all.
    `expected`: growth over p of how long a process waits for progress: in each region, or in the whole program;
    constant by default.
    `fail_above`: percent of the time; status 1 if more of it is waiting for progress.
    `baseline`: whether to time the analysis of traces with a message for each request, too.
    `keep_going`: leave out what is wrong with traces; the page names it.
    `force`: replace existing files.
    `progress`: called with the number of steps done and of all.
    Raises ReportError if the place cannot be written to, or the notebook fails; nothing is left there then; DataError
    or ExpectationError if an input is wrong.
    """
    target = Target.of(out, force=force)
    named = [os.fspath(one) for one in ([runs] if isinstance(runs, str | os.PathLike) else runs)]
    for path, shown in found_in(named):
        if not path.exists():
            raise DataError(f"there is no {shown!r}; name results of `scalkit trace analyse --out`, or traces.")
    growths = {"program": expected} if isinstance(expected, str) and expected else dict(expected or {})
    for growth in growths.values():
        Expectation(growth)  # a text that is no growth is refused before a notebook is started
    asked = given(region=region, expected=growths, fail_above=fail_above, keep_going=keep_going or None, title=title)
    paths = [str(here_or_bundled(Path(one).expanduser()).absolute()) for one in named]
    parameters = {"runs": paths, "named": named, "baseline": baseline, **asked}
    with work_folder() as folder:
        return write(bundled(TEMPLATE), parameters, target, folder, progress=progress)
