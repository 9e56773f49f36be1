"""Measurements: the run-file format, the Dataset that they live in, and the statistic that makes a series of them."""

from typing import TYPE_CHECKING

from scalkit.measure.bandwidths import Bandwidth, bandwidths
from scalkit.measure.combined import combine
from scalkit.measure.netcdf import write_netcdf
from scalkit.measure.points import measurements
from scalkit.measure.process_times import ProcessTimes, process_times
from scalkit.measure.reduce import Series, series
from scalkit.measure.schema import METRICS, Metric, check, fixed_parameters, parameters_of
from scalkit.measure.several import SeveralSeries, several_series
from scalkit.measure.sources import read
from scalkit.moved import moved_names
from scalkit.options import Statistic

__all__ = [
    "METRICS",
    "Bandwidth",
    "Metric",
    "ProcessTimes",
    "Series",
    "SeveralSeries",
    "Statistic",
    "bandwidths",
    "check",
    "combine",
    "fixed_parameters",
    "measurements",
    "parameters_of",
    "process_times",
    "read",
    "series",
    "several_series",
    "write_netcdf",
]

if not TYPE_CHECKING:  # a type checker looks for names of old in vain
    __getattr__ = moved_names(
        __name__, "scalkit.formats.experiments", {"ExperimentTable", "holds_experiments", "read_experiments"}
    )
