"""Writes reports: one HTML file, ``verdict.json`` and JUnit XML beside it, on demand a PDF and the notebook.

``report(...)`` runs a template, one of the notebooks ``notebooks/9*.ipynb``, whose cells call ``open_page`` or ``open_columns``
and the sections below; ``templates()`` lists them. ``sessions_of(page)`` opens what a report holds. ``bundled(name)`` finds the
notebooks and the small data sets that come with scalkit.
"""

from scalkit.bundled import bundled
from scalkit.reports.inputs import Template, TemplateParameter, templates
from scalkit.reports.page import sessions_of
from scalkit.reports.run import report
from scalkit.reports.writer.write import ReportResult

__all__ = ["ReportResult", "Template", "TemplateParameter", "bundled", "report", "sessions_of", "templates"]
