"""Traces of parallel programs: who waits for whom, above all for the progress of one-sided communication.

`analyse` reads a trace and finds the waits, on one process or with others on a part of the locations each (`OverMpi`).
"""

from __future__ import annotations

from scalkit.trace.analysis import analyse
from scalkit.trace.files.builder import TraceBuilder
from scalkit.trace.local.ranks import Alone, OverMpi, Ranks
from scalkit.trace.options import CHOICES, Options
from scalkit.trace.results.dataset import read_result, write_result
from scalkit.trace.results.metrics import WAITS
from scalkit.trace.results.over_processes import over_processes

__all__ = [
    "CHOICES",
    "WAITS",
    "Alone",
    "Options",
    "OverMpi",
    "Ranks",
    "TraceBuilder",
    "analyse",
    "over_processes",
    "read_result",
    "write_result",
]
