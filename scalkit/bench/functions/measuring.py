"""Measures functions of the user over numbers of processes in one call: `measure_function`."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import xarray as xr

from scalkit.bench.arguments import FUNCTIONS, Arguments
from scalkit.bench.campaign.folder import Folder
from scalkit.bench.campaign.refinement import point_budget
from scalkit.bench.campaign.refining import range_of, run_ranges
from scalkit.bench.libraries.targets import find_targets
from scalkit.errors import LaunchError
from scalkit.measure.sources import read_campaign


def measure_function(
    *functions: str,
    processes: Sequence[int] = (2, 4, 8, 16, 32),
    out: str | Path = "runs/functions",
    runs: int | None = None,
    seed: int | None = None,
    mpi: str | None = None,
    mpiexec: str | None = None,
    clock: str = "real",
    network: str | None = None,
    per_node: int | None = None,
    **options: Any,
) -> xr.Dataset:
    """Return the run times of parallel functions of your own, for `scalkit.validate`; as ``scalkit measure --function``.

    Parameters
    ----------
    *functions : str
        C files, such as ``"my_bcast.c"`` (docs/measurement.md).
    processes : sequence of int
        At least 2 each, ascending.
    out : path
        Folder of the run files; what is there of the same campaign is not measured again.
    runs : int, optional
        Launches of each number of processes; by default 10, in virtual time 1.
    seed : int, optional
        Of every random choice; by default that of the campaign in the folder, or drawn.
    mpi, mpiexec : str, optional
        The MPI library, a name of ``scalkit mpi list`` or the path of its compiler, and its launcher; by default found.
    clock : {"real", "virtual"}
        That of this machine, or that of a virtual one above which the library runs (docs/virtual-time.md).
    network : str, optional
        Of the virtual machine: ``"cluster"`` (default), ``"ethernet"``, ``"fat-tree"``, ``"dragonfly"``, a TOML file, or
        ``"L=1us,o=0.3us,g=0.1us,G=0.08ns/B"``.
    per_node : int, optional
        Processes on a node of the virtual machine; by default 1.
    **options
        Further fields of `Arguments`: ``size`` [B], ``datatype``, ``sync``, ``budget_s`` [s], ``max_reps``, ``min_reps``,
        ``standard_error``, ``cut_quartiles``, ``per_process``, ``refine``.

    Returns
    -------
    xarray.Dataset
        Metric ``time`` in s over function, ``p``, run and repetition.

    Raises
    ------
    UsageError, BuildError
        If a function cannot be measured, an option makes no sense, or the folder holds another campaign.
    LaunchError
        If the library does not run in virtual time, or a launch failed, for example because a function crashed; what was
        measured stays in the folder.
    """
    if seed is None:
        seed = Folder(Path(out)).record.get("arguments", {}).get("seed", secrets.randbelow(2**31))
    libraries = [] if mpi is None else [mpi]
    (target,) = find_targets(libraries, mpiexec=mpiexec, clock=clock, network=network, per_node=per_node)
    runs = target.mpi.usual_runs if runs is None else runs
    arguments = Arguments((FUNCTIONS,), tuple(processes), runs, seed, functions=tuple(functions), **options)
    budget_s = point_budget(arguments.budget_s, arguments.refine, 1, len(arguments.counts))
    (result,) = run_ranges([range_of(Path(out), replace(arguments, budget_s=budget_s), target.mpi)])
    if result.missing:
        raise LaunchError(
            f"{len(result.missing)} of {result.total} launches failed; what was measured is in {result.folder}. "
            f"The first: {result.failures[0]}"
        )
    return read_campaign(Path(out))
