"""Measuring: Python callables; parallel functions; MPI libraries, by microbenchmarks in campaigns that resume."""

from __future__ import annotations

from scalkit.bench.arguments import Arguments
from scalkit.bench.campaign.campaign import Campaign, Progress, Result, prepare
from scalkit.bench.campaign.plan import Launch, make_plan
from scalkit.bench.campaign.refinement import Refinement
from scalkit.bench.campaign.refining import range_of, run_refined
from scalkit.bench.functions.callables import measure_callable
from scalkit.bench.functions.measuring import measure_function
from scalkit.bench.libraries.mpi import Mpi, find_mpi

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
