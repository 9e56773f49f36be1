"""Fits of growths to measurements, and the choice among them."""

from scalkit.fit.linear import Fits, fit_ticks
from scalkit.fit.model import Model
from scalkit.fit.select import check_series, fit_series, growing_of, is_within_resolution
from scalkit.options import MIN_POINTS

__all__ = ["MIN_POINTS", "Fits", "Model", "check_series", "fit_series", "fit_ticks", "growing_of", "is_within_resolution"]
