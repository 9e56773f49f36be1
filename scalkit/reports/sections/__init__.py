"""The sections of reports, one per module; each takes a `Page` or `Columns` and returns what a notebook cell shows."""

from scalkit.reports.sections.cards import cards
from scalkit.reports.sections.changes import before_after, changes, regression_headline
from scalkit.reports.sections.compare import (
    compare_functions,
    compare_headline,
    compare_prediction,
    compare_provenance,
    compare_quality,
    compare_reopen,
    compare_summary,
)
from scalkit.reports.sections.models import message_model, operation_models, prediction
from scalkit.reports.sections.provenance import method, provenance
from scalkit.reports.sections.quality import quality, real_times
from scalkit.reports.sections.reopen import reopen
from scalkit.reports.sections.rules import rules
from scalkit.reports.sections.summary import headline, overview, summary

__all__ = [
    "before_after",
    "cards",
    "changes",
    "compare_functions",
    "compare_headline",
    "compare_prediction",
    "compare_provenance",
    "compare_quality",
    "compare_reopen",
    "compare_summary",
    "headline",
    "message_model",
    "method",
    "operation_models",
    "overview",
    "prediction",
    "provenance",
    "quality",
    "real_times",
    "regression_headline",
    "reopen",
    "rules",
    "summary",
]
