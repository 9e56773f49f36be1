from scalkit.widgets.base.plot_view import PlotView as PlotView
from scalkit.widgets.explorer.data_picker import DataPicker as DataPicker
from scalkit.widgets.explorer.expectation_editor import ExpectationEditor as ExpectationEditor
from scalkit.widgets.explorer.explorer import Explorer as Explorer
from scalkit.widgets.explorer.model_table import ModelTable as ModelTable
from scalkit.widgets.explorer.parameter_map import ParameterMap as ParameterMap
from scalkit.widgets.explorer.plot_panel import PlotPanel as PlotPanel
from scalkit.widgets.explorer.report_panel import ReportPanel as ReportPanel
from scalkit.widgets.explorer.rule_matrix import RuleMatrix as RuleMatrix
from scalkit.widgets.explorer.run_panel import RunPanel as RunPanel
from scalkit.widgets.explorer.session_bar import CodePanel as CodePanel
from scalkit.widgets.explorer.session_bar import HistoryBar as HistoryBar
from scalkit.widgets.explorer.session_bar import SessionBar as SessionBar
from scalkit.widgets.explorer.verdict_badge import Headline as Headline
from scalkit.widgets.explorer.verdict_badge import HypothesisList as HypothesisList
from scalkit.widgets.explorer.verdict_badge import VerdictBadge as VerdictBadge
from scalkit.widgets.guidelines.browser import GuidelineBrowser as GuidelineBrowser
from scalkit.widgets.ruler.link import RulerLink as RulerLink
from scalkit.widgets.ruler.link import link as link
from scalkit.widgets.ruler.tick_ruler import TickRuler as TickRuler
from scalkit.widgets.timeline import TimelineView as TimelineView
from scalkit.widgets.trace_explorer.explorer import TraceExplorer as TraceExplorer

Ruler = TickRuler
