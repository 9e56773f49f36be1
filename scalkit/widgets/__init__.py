"""Widgets for notebooks: the explorer and its parts. Each works alone, most of them beside a session.

They are loaded at first use, so that one of them starts fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from scalkit.extras import require

require("lab", "ipywidgets", "anywidget")

_HOMES = {
    "CodePanel": "code_panel",
    "DataPicker": "data_picker",
    "ExpectationEditor": "expectation_editor",
    "Explorer": "explorer",
    "GuidelineBrowser": "guidelines_browser",
    "HistoryBar": "history_bar",
    "HypothesisList": "hypothesis_list",
    "ModelTable": "model_table",
    "ParameterMap": "parameter_map",
    "PlotPanel": "plot_panel",
    "PlotView": "plot_view",
    "ReportPanel": "report_panel",
    "RuleMatrix": "rule_matrix",
    "Ruler": "ruler",
    "RulerLink": "linking",
    "RunPanel": "run_panel",
    "SessionBar": "session_bar",
    "StoreExplorer": "store_explorer",
    "TickRuler": "ruler",
    "TimelineView": "timeline",
    "TraceExplorer": "trace_explorer",
    "VerdictBadge": "verdict_badge",
    "link": "linking",
}

if TYPE_CHECKING:
    from scalkit.widgets.code_panel import CodePanel
    from scalkit.widgets.data_picker import DataPicker
    from scalkit.widgets.expectation_editor import ExpectationEditor
    from scalkit.widgets.explorer import Explorer
    from scalkit.widgets.guidelines_browser import GuidelineBrowser
    from scalkit.widgets.history_bar import HistoryBar
    from scalkit.widgets.hypothesis_list import HypothesisList
    from scalkit.widgets.linking import RulerLink, link
    from scalkit.widgets.model_table import ModelTable
    from scalkit.widgets.parameter_map import ParameterMap
    from scalkit.widgets.plot_panel import PlotPanel
    from scalkit.widgets.plot_view import PlotView
    from scalkit.widgets.report_panel import ReportPanel
    from scalkit.widgets.rule_matrix import RuleMatrix
    from scalkit.widgets.ruler import TickRuler
    from scalkit.widgets.run_panel import RunPanel
    from scalkit.widgets.session_bar import SessionBar
    from scalkit.widgets.store_explorer import StoreExplorer
    from scalkit.widgets.timeline import TimelineView
    from scalkit.widgets.trace_explorer import TraceExplorer
    from scalkit.widgets.verdict_badge import VerdictBadge

    Ruler = TickRuler

__all__ = [
    "CodePanel",
    "DataPicker",
    "ExpectationEditor",
    "Explorer",
    "GuidelineBrowser",
    "HistoryBar",
    "HypothesisList",
    "ModelTable",
    "ParameterMap",
    "PlotPanel",
    "PlotView",
    "ReportPanel",
    "RuleMatrix",
    "Ruler",
    "RulerLink",
    "RunPanel",
    "SessionBar",
    "StoreExplorer",
    "TickRuler",
    "TimelineView",
    "TraceExplorer",
    "VerdictBadge",
    "link",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'scalkit.widgets' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"scalkit.widgets.{home}"), "TickRuler" if name == "Ruler" else name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
