"""Fits of growths to measurements, and the choice among them."""

from scalkit.fit.checks import check_series
from scalkit.fit.model import Model
from scalkit.fit.paper import fit_series
from scalkit.support.options import MIN_POINTS

__all__ = ["MIN_POINTS", "Model", "check_series", "fit_series"]
