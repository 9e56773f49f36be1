"""Traces of parallel programs: who waits for whom, above all for the progress of one-sided communication.

`analyse` reads a trace and finds the waits, on one process or with others on a part of the locations each (`OverMpi`).
"""

from __future__ import annotations

from scalkit.trace.analysing import analyse
from scalkit.trace.building import TraceBuilder
from scalkit.trace.growing import over_processes
from scalkit.trace.options import CHOICES, Options
from scalkit.trace.ranks import Alone, OverMpi, Ranks
from scalkit.trace.result import WAITS, read_result, write_result

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
