"""Writes a report of a validation: one HTML file, ``verdict.json`` and JUnit XML beside it.

``report(...)`` runs the notebook ``notebooks/90_report.ipynb``, whose cells call ``open_page`` and the sections below.
``bundled(name)`` finds the notebooks and the small data sets that come with scalkit.
"""

from __future__ import annotations

from scalkit.reports.bundled import bundled
from scalkit.reports.run import ReportResult, report

__all__ = ["ReportResult", "bundled", "report"]
