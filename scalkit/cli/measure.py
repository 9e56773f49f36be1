"""Measure the MPI library of this machine, functions of your own, or any command, and keep the run files in one folder."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from scalkit.bench import Arguments
from scalkit.bench.arguments import FUNCTIONS
from scalkit.bench.campaign.folder import CAMPAIGN, Folder
from scalkit.bench.campaign.refinement import Refinement, point_budget
from scalkit.bench.campaign.refining import Range, range_of, sized_folder
from scalkit.bench.libraries.simulator import SimulatedMpi
from scalkit.bench.libraries.targets import Target, find_targets
from scalkit.bench.patterns.master_worker import KIND as MASTER_WORKER
from scalkit.bench.patterns.master_worker import FarmArguments, prepare_farm
from scalkit.cli.options.command import prepared_command, print_include, refuse_without_command
from scalkit.cli.options.declared import given
from scalkit.cli.options.measured import measure_all
from scalkit.cli.options.measuring_rules import counts_of, seed_of, sizes_of, words_of
from scalkit.cli.terminal.progress import terminated_like_interrupted
from scalkit.errors import UsageError

_NOT_OF_MASTER_WORKER = ("ops", "memory_n", "datatype", "min_reps", "standard_error", "refine")


def run(args: argparse.Namespace) -> int:
    """Measure what is missing, say what was, and return 0 or 2."""
    if args.include:
        return print_include()
    if args.timeout is not None and not args.timeout > 0:
        raise UsageError(f"--timeout {args.timeout:g}: a positive number of seconds is needed.")
    out = Path(args.out)
    with terminated_like_interrupted():
        ranges = [Range([prepared_command(args, out)])] if args.command_text is not None else _ranges(args, out)
        return measure_all(ranges, out, command="measure", timeout_s=args.timeout, as_json=args.json)


def _ranges(args: argparse.Namespace, out: Path) -> list[Range]:
    """Return what is measured, ready to run: the campaigns of each target."""
    refuse_without_command(args)
    counts, sizes = counts_of(args.processes, "-n"), sizes_of(args.size)
    is_sized = len(sizes) > 1 and MASTER_WORKER not in args.what
    _require_usable(args, out, is_sized=is_sized)
    if MASTER_WORKER in args.what:
        _refuse(args)
    rules = None if args.refine is None else Refinement(args.refine)
    if rules is not None and rules.over == "sizes":
        rules.require_points(sizes)
    targets = find_targets(
        args.mpi, args.platform, per_node=args.per_node, mpiexec=args.mpiexec, clock=args.clock, network=args.network
    )
    found = []
    for target in targets:
        label = target.label if len(targets) > 1 else ""
        if MASTER_WORKER in args.what:
            found.append(Range([prepare_farm(out / label, _farm(args, counts, sizes, out / label, target), target.mpi)]))
            continue
        folder = sized_folder(out, label, sizes[0]) if is_sized else out / label
        arguments = _arguments(args, counts, sizes, folder, target, rules)
        several = sizes if is_sized else ()
        found.append(range_of(out, arguments, target.mpi, several, label=label, set_aside=args.set_aside))
    return found


def _require_usable(args: argparse.Namespace, out: Path, *, is_sized: bool) -> None:
    """Return nothing if the results can be written."""
    several = "libraries" if len(args.mpi) + len(args.platform) > 1 else "message sizes" if is_sized else ""
    if not several:
        Folder(out).require_usable()
    elif out.exists() and (not out.is_dir() or (out / CAMPAIGN).exists()):
        raise UsageError(f"--out {out} is a file or holds one campaign; several {several} need a folder for theirs.")


def _arguments(
    args: argparse.Namespace,
    counts: tuple[int, ...],
    sizes: Sequence[int],
    folder: Path,
    target: Target,
    rules: Refinement | None,
) -> Arguments:
    if not args.what and not args.function:
        raise UsageError("nothing is named to measure; say collectives, memory, both, or --function FILE.")
    if isinstance(target.mpi, SimulatedMpi):
        target.mpi.platform.require_room(max(counts, default=0), target.mpi.per_node)
    args.seed = seed_of(args.seed, folder)
    return Arguments(
        kinds=(*args.what, *([FUNCTIONS] if args.function else [])),
        counts=counts,
        runs=target.mpi.usual_runs if args.runs is None else args.runs,
        seed=args.seed,
        ops=words_of(args.ops),
        size=sizes[0],
        datatype=args.datatype,
        budget_s=point_budget(args.budget, rules, len(sizes), max(1, len(counts))),
        min_reps=20 if args.min_reps is None else args.min_reps,
        max_reps=400 if args.max_reps is None else args.max_reps,
        standard_error=args.standard_error,
        refine=rules,
        functions=tuple(args.function) or None,
        processes_per_node=args.per_node if target.mpi.is_simulated else None,
        memory_counts=None if args.memory_n is None else counts_of(args.memory_n, "--memory-n"),
    )


def _refuse(args: argparse.Namespace) -> None:
    """Return nothing if all that is named goes with a master and its workers. Raises UsageError."""
    for key in given(args, "measure"):
        if key in _NOT_OF_MASTER_WORKER:
            raise UsageError(f"--{key.replace('_', '-')} does not go with {MASTER_WORKER}; leave it out.")
    if args.what != [MASTER_WORKER] or args.function:
        raise UsageError(f"{MASTER_WORKER} is measured by itself: leave out other names and --function.")


def _farm(args: argparse.Namespace, counts: tuple[int, ...], sizes: Sequence[int], folder: Path, target: Target) -> FarmArguments:
    args.seed = seed_of(args.seed, folder)
    return FarmArguments(
        counts=counts,
        runs=target.mpi.usual_runs if args.runs is None else args.runs,
        seed=args.seed,
        reps=30 if args.max_reps is None else args.max_reps,
        processes_per_node=args.per_node if target.mpi.is_simulated else None,
        budget_s=args.budget,
        sizes=FarmArguments.sizes if args.size == "8" else tuple(sizes),
    )
