"""Fits of growths to measurements, and the choice among them."""

from scalkit.judge.fit.checks import check_series
from scalkit.judge.fit.model import Model
from scalkit.judge.fit.paper import fit_series
from scalkit.support.options import MIN_POINTS

__all__ = ["MIN_POINTS", "Model", "check_series", "fit_series"]
