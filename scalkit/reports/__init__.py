"""Writes reports: one HTML file, ``verdict.json`` and JUnit XML next to it, on demand the notebook.

``report(...)`` is about measurements and what is expected of them; ``write_report(kind, ...)`` writes every kind of report, which
``kinds.toml`` lists with its sections. ``open_report(kind, inputs)`` opens the content of one, as the notebook does.
``sessions_of(page)`` opens the sessions in a report. ``bundled(name)`` finds the notebooks and the small data sets of scalkit.
"""

from scalkit.reports.content import open_report
from scalkit.reports.run import report, sessions_of
from scalkit.reports.write import ReportResult, write_report
from scalkit.support.bundled import bundled

__all__ = ["ReportResult", "bundled", "open_report", "report", "sessions_of", "write_report"]
