"""What the notebooks of the learning path call: data for lessons, real, simulated or printed in the paper."""

from scalkit.lessons import tables
from scalkit.lessons.beside import (
    Beside,
    libraries_latency,
    libraries_memory,
    libraries_times,
    libraries_virtual,
    simulated_times,
)
from scalkit.lessons.example import read_or_example
from scalkit.lessons.mafia import mafia_claims, mafia_table
from scalkit.lessons.measured_here import MeasuredHere, measure_here
from scalkit.lessons.paper import PublishedTable, published_tables
from scalkit.lessons.resolution import resolution
from scalkit.teaching.simulated import simulate

__all__ = [
    "Beside",
    "MeasuredHere",
    "PublishedTable",
    "libraries_latency",
    "libraries_memory",
    "libraries_times",
    "libraries_virtual",
    "mafia_claims",
    "mafia_table",
    "measure_here",
    "published_tables",
    "read_or_example",
    "resolution",
    "simulate",
    "simulated_times",
    "tables",
]
