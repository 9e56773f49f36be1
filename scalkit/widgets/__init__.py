"""Widgets for notebooks: the explorer and its parts. Each works alone, most of them beside a session.

They are loaded at first use, so that one of them starts fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from scalkit.extras import require

require("lab", "ipywidgets", "anywidget")

_HOMES = {
    "CodePanel": "explorer.code_panel",
    "DataPicker": "explorer.data_picker",
    "ExpectationEditor": "explorer.expectation_editor",
    "Explorer": "explorer.explorer",
    "GuidelineBrowser": "guidelines.browser",
    "HistoryBar": "explorer.history_bar",
    "HypothesisList": "explorer.hypothesis_list",
    "ModelTable": "explorer.model_table",
    "ParameterMap": "explorer.parameter_map",
    "PlotPanel": "explorer.plot_panel",
    "PlotView": "base.plot_view",
    "ReportPanel": "explorer.report_panel",
    "RuleMatrix": "explorer.rule_matrix",
    "Ruler": "ruler.tick_ruler",
    "RulerLink": "ruler.link",
    "RunPanel": "explorer.run_panel",
    "SessionBar": "explorer.session_bar",
    "StoreExplorer": "store_explorer.explorer",
    "TickRuler": "ruler.tick_ruler",
    "TimelineView": "timeline",
    "TraceExplorer": "trace_explorer.explorer",
    "VerdictBadge": "explorer.verdict_badge",
    "link": "ruler.link",
}

if TYPE_CHECKING:
    from scalkit.widgets.base.plot_view import PlotView
    from scalkit.widgets.explorer.code_panel import CodePanel
    from scalkit.widgets.explorer.data_picker import DataPicker
    from scalkit.widgets.explorer.expectation_editor import ExpectationEditor
    from scalkit.widgets.explorer.explorer import Explorer
    from scalkit.widgets.explorer.history_bar import HistoryBar
    from scalkit.widgets.explorer.hypothesis_list import HypothesisList
    from scalkit.widgets.explorer.model_table import ModelTable
    from scalkit.widgets.explorer.parameter_map import ParameterMap
    from scalkit.widgets.explorer.plot_panel import PlotPanel
    from scalkit.widgets.explorer.report_panel import ReportPanel
    from scalkit.widgets.explorer.rule_matrix import RuleMatrix
    from scalkit.widgets.explorer.run_panel import RunPanel
    from scalkit.widgets.explorer.session_bar import SessionBar
    from scalkit.widgets.explorer.verdict_badge import VerdictBadge
    from scalkit.widgets.guidelines.browser import GuidelineBrowser
    from scalkit.widgets.ruler.link import RulerLink, link
    from scalkit.widgets.ruler.tick_ruler import TickRuler
    from scalkit.widgets.store_explorer.explorer import StoreExplorer
    from scalkit.widgets.timeline import TimelineView
    from scalkit.widgets.trace_explorer.explorer import TraceExplorer

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
