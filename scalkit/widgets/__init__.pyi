from scalkit.widgets.base.plot_view import PlotView as PlotView
from scalkit.widgets.explorer.explorer import Explorer as Explorer
from scalkit.widgets.ruler.ruler import Ruler as Ruler
from scalkit.widgets.timeline import TimelineView as TimelineView
from scalkit.widgets.trace_explorer.explorer import TraceExplorer as TraceExplorer
