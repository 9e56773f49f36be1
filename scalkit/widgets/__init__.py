"""Widgets for notebooks: the ruler of ticks and the view of a figure. Each works alone."""

from scalkit.widgets.linking import RulerLink, link
from scalkit.widgets.plot_view import PlotView
from scalkit.widgets.ruler import TickRuler

Ruler = TickRuler

__all__ = ["PlotView", "Ruler", "RulerLink", "TickRuler", "link"]
