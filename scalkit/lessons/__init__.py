"""What the notebooks of the learning path call: data for lessons, real, simulated or printed in the paper."""

from __future__ import annotations

from scalkit.lessons import tables
from scalkit.lessons.example import read_or_example
from scalkit.lessons.measured_here import MeasuredHere, measure_here
from scalkit.lessons.paper import PublishedTable, published_tables
from scalkit.lessons.resolution import resolution
from scalkit.teaching.simulated import simulate

__all__ = [
    "MeasuredHere",
    "PublishedTable",
    "measure_here",
    "published_tables",
    "read_or_example",
    "resolution",
    "simulate",
    "tables",
]
