"""Measuring: Python callables; parallel functions; MPI libraries, by microbenchmarks in campaigns that resume."""

from __future__ import annotations

from scalkit.bench.arguments import Arguments
from scalkit.bench.callables import measure_callable
from scalkit.bench.campaign import Campaign, Progress, Result, prepare
from scalkit.bench.measuring import measure_function
from scalkit.bench.mpi import Mpi, find_mpi
from scalkit.bench.plan import Launch, make_plan
from scalkit.bench.refinement import Refinement
from scalkit.bench.refining import range_of, run_refined

__all__ = [
    "Arguments",
    "Campaign",
    "Launch",
    "Mpi",
    "Progress",
    "Refinement",
    "Result",
    "find_mpi",
    "make_plan",
    "measure_callable",
    "measure_function",
    "prepare",
    "range_of",
    "run_refined",
]
