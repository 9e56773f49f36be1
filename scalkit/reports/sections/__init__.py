"""The sections of a report, one per module; each takes a `Page` and returns a `Section` that a notebook cell shows."""

from __future__ import annotations

from scalkit.reports.sections.cards import cards
from scalkit.reports.sections.headline import headline
from scalkit.reports.sections.method import method
from scalkit.reports.sections.overview import overview
from scalkit.reports.sections.provenance import provenance
from scalkit.reports.sections.quality import quality
from scalkit.reports.sections.reproduce import reproduce
from scalkit.reports.sections.rules import rules
from scalkit.reports.sections.summary import summary

__all__ = ["cards", "headline", "method", "overview", "provenance", "quality", "reproduce", "rules", "summary"]
