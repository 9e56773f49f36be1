"""Analyses a trace: all patterns, on one process or on several, with the same result."""

from __future__ import annotations

from difflib import get_close_matches
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from scalkit.errors import UsageError
from scalkit.support.arguments import path_of, require_kind
from scalkit.support.arrays import Ints
from scalkit.support.bundled import here_or_bundled
from scalkit.trace.causes.find import find_causes
from scalkit.trace.files.checks import Problem
from scalkit.trace.files.tables import RECEIVE, SEND
from scalkit.trace.local.arrays import exact_sums, extent, find_frame
from scalkit.trace.local.part import LocalTrace, Table, absent_metrics, load, sentences
from scalkit.trace.local.ranks import Ranks
from scalkit.trace.options import Options
from scalkit.trace.results.dataset import build
from scalkit.trace.results.sums import Waits
from scalkit.trace.waits.functions import base_name
from scalkit.trace.waits.patterns import add_waits
from scalkit.trace.waits.progress_waits import Analysis
from scalkit.trace.waits.requests import members
from scalkit.trace.waits.surroundings import Surroundings

if TYPE_CHECKING:
    from mpi4py import MPI


def analyse(
    folder: str | PathLike[str],
    options: Options | None = None,
    *,
    comm: MPI.Intracomm | None = None,
    keep_going: bool = False,
    causes: bool = True,
) -> xr.Dataset:
    """Return the waits of every call path and location of a trace.

    `folder`: of the trace.
    `comm`: processes that share the work, all of which call this; by default this process alone. The result is the same, on
    each.
    `keep_going`: leave out what is wrong with the trace; the result names it. By default that is an error.
    `causes`: find the critical path, delay costs, and what the largest of these would gain. Each process then holds the waits
    of all.
    Returns: as `scalkit.trace.results.dataset.build` says.
    Raises DataError if there is no trace, or something is wrong with it.
    Raises UsageError if `options` name a function that the trace does not call.
    """
    require_kind(options, Options | None, "the options", "give scalkit.trace.Options(...)")
    options, ranks = options or Options(), Ranks(comm)
    trace = load(here_or_bundled(path_of(folder, "a trace")), ranks, keep_going=keep_going)
    _check_names(options, trace)
    frame = find_frame(trace, ranks)
    left_out = trace.left_out
    causes = causes and not any(left_out)
    waits = Waits(trace.header.locations, len(trace.definitions.paths), keeps_edges=causes)
    analysis = Analysis(trace, ranks, options, frame, Surroundings(frame, trace), waits)
    profile(trace, waits)
    add_waits(analysis)
    gains = find_causes(analysis) if causes else None
    problems: list[Problem | str] = [*trace.problems, *sentences(left_out), *trace.header.not_read]
    return build(trace.header, trace.definitions, waits.collect(ranks), options, problems, gains, absent_metrics(left_out))


def _check_names(options: Options, trace: LocalTrace) -> None:
    """Refuse the name of a function that is not in the trace, which would change nothing."""
    found = trace.definitions
    regions = {base_name(found.region(k)) for k in range(len(found.paths))}
    there = sorted(name for name in regions if found.is_function(name))
    for name in options.no_progress:
        if base_name(name) not in there:
            near = get_close_matches(name, there, n=1)
            maybe = f"did you mean {near[0]!r}? It calls" if near else "it calls"
            raise UsageError(
                f"no_progress names {name!r}, of which the trace has no call; {maybe} {', '.join(there) or 'nothing'}."
            )


def profile(trace: LocalTrace, waits: Waits) -> None:
    """Add time, visits, operations and bytes of the locations of this process, and what they began with others.

    The time of a call path is that in which it was the innermost: without its calls and regions. It is counted from the
    first to the last record of a location.
    """
    parents = trace.definitions.around
    n_paths = len(parents)
    time, visits, operations, amount = (np.zeros((trace.count, n_paths), dtype=np.int64) for _ in range(4))
    for k, (calls, transfers, marks) in enumerate(trace.parts()):
        path, lengths = calls["path"], calls["leave"] - calls["enter"]
        time[k] += exact_sums(path, lengths, n_paths)
        inner = parents[path] >= 0
        time[k] -= exact_sums(parents[path[inner]], lengths[inner], n_paths)
        time[k] += _regions(calls, marks, n_paths)
        visits[k] += np.bincount(path, minlength=n_paths)
        visits[k] += np.bincount(marks["entered"][marks["entered"] >= 0], minlength=n_paths)
        is_rma = ~np.isin(transfers["kind"] & 0xFF, (SEND, RECEIVE))
        of_path = path[transfers["call"][is_rma] - trace.begins[k]]
        operations[k] += np.bincount(of_path, minlength=n_paths)
        amount[k] += exact_sums(of_path, transfers["bytes"][is_rma], n_paths)
        _note_traffic(trace, trace.first + k, transfers, is_rma, waits)
    for metric, values in (("time", time), ("visits", visits), ("rma_operations", operations), ("rma_bytes", amount)):
        location, at = np.nonzero(values)
        waits.add(metric, at, location + trace.first, values[location, at])


def _note_traffic(trace: LocalTrace, location: int, transfers: Table, is_rma: NDArray[np.bool_], waits: Waits) -> None:
    """Note what a location began with others whose location is known: one-sided operations, and sends."""
    n = trace.header.locations
    peer = members(trace, transfers["scope"], transfers["peer"])
    found = []
    for kept in (is_rma, (transfers["kind"] & 0xFF) == SEND):
        kept = kept & (peer >= 0)
        found += [np.bincount(peer[kept], minlength=n), exact_sums(peer[kept], transfers["bytes"][kept], n)]
    reached = np.flatnonzero(found[0] + found[2])
    waits.note_traffic(location, reached, tuple(one[reached] for one in found))


def _regions(calls: Table, marks: Table, n_paths: int) -> Ints:
    """Return how long each path was the innermost region of a location, calls in it included."""
    begin, end = extent(calls["enter"], calls["leave"], marks["time"])
    time = np.concatenate([[begin], marks["time"], [end]])
    path = np.concatenate([[0], marks["path"]])
    return exact_sums(path, np.diff(time), n_paths)
