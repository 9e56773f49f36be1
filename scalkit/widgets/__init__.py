"""Widgets for notebooks: the explorer and its parts. Each works alone, most of them beside a session."""

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
