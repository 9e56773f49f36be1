"""Measurements: the run-file format, the Dataset that they live in, and the statistic that makes a series of them."""

from __future__ import annotations

from scalkit.measure.combined import combine
from scalkit.measure.experiments import ExperimentTable, holds_experiments, read_experiments
from scalkit.measure.netcdf import write_netcdf
from scalkit.measure.points import measurements
from scalkit.measure.process_times import ProcessTimes, process_times
from scalkit.measure.reduce import Series, series
from scalkit.measure.schema import METRICS, Metric, check, fixed_parameters, parameters_of
from scalkit.measure.several import SeveralSeries, several_series
from scalkit.measure.sources import read
from scalkit.options import Statistic

__all__ = [
    "METRICS",
    "ExperimentTable",
    "Metric",
    "ProcessTimes",
    "Series",
    "SeveralSeries",
    "Statistic",
    "check",
    "combine",
    "fixed_parameters",
    "holds_experiments",
    "measurements",
    "parameters_of",
    "process_times",
    "read",
    "read_experiments",
    "series",
    "several_series",
    "write_netcdf",
]
