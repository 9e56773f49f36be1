"""Campaigns of the microbenchmarks, of functions of the user, and of neighbourhood collectives."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scalkit.bench.arguments import FUNCTIONS, NEIGHBOURHOOD, PROGRAMS, Arguments, choose, in_virtual_time
from scalkit.bench.campaign.folder import Folder, Launch, make_plan
from scalkit.bench.campaign.launch import MpiCampaign, launch_seed
from scalkit.bench.functions.user import UserFunctions, user_functions
from scalkit.bench.libraries.mpi import Mpi
from scalkit.bench.libraries.targets import place_processes
from scalkit.bench.patterns.neighbourhood import experiments, table_text
from scalkit.bench.virtual.mpi import VirtualMpi
from scalkit.errors import UsageError
from scalkit.support.arguments import path_of, require_kind
from scalkit.support.native import build, sources


@dataclass(frozen=True)
class KernelCampaign(MpiCampaign):
    """A campaign of the microbenchmarks that is ready to run.

    `ops`: operations of each kind.
    `aside`: where another campaign that was in the folder is now.
    `functions`: those of the user.
    """

    arguments: Arguments
    ops: dict[str, tuple[str, ...]]
    aside: Path | None = None
    functions: UserFunctions | None = None
    identity: str = ""

    @property
    def plan(self) -> tuple[Launch, ...]:
        """All launches, in their order."""
        return make_plan(self.arguments)

    def program(self, launch: Launch) -> tuple[str, ...]:
        """Return the program of a rank, and its first arguments."""
        if launch.kind == FUNCTIONS:
            assert self.functions is not None
            return self.functions.command
        return (str(self.build.program({**PROGRAMS, NEIGHBOURHOOD: "sk_neighbours"}[launch.kind])),)

    def options(self, launch: Launch) -> Mapping[str, object]:
        """Return the options of the program that not all programs take."""
        own, exact = self.arguments, self.mpi.options
        if launch.kind == NEIGHBOURHOOD:
            few = {"repetitions": exact["min-reps"], "warmup": exact["warmup"]} if self.mpi.is_virtual else {}
            return {"sync": own.sync, **few}
        ops = {"ops": ",".join(self.ops[launch.kind])}
        if launch.kind == "memory":
            return ops
        return {**ops, "size": own.size, "datatype": own.datatype, **own.timing_options, **exact}

    def table(self, launch: Launch) -> str:
        """Return the experiments on neighbourhoods, in an order of each launch."""
        if launch.kind != NEIGHBOURHOOD:
            return ""
        rows = experiments(self.arguments.experiments or (), self.arguments.counts)
        return table_text(rows, launch.p, launch_seed(self.arguments.seed, launch))

    @property
    def facts(self) -> dict[str, dict[str, Any]]:
        """The conditions in campaign.toml."""
        return super().facts | ({"functions": {"sha256": self.functions.sha256}} if self.functions else {})


def prepare(out: str | Path, arguments: Arguments, mpi: Mpi, *, set_aside: bool = False, identity: str = "") -> KernelCampaign:
    """Return a campaign that is ready to run: programs built, folder and names checked.

    Parameters
    ----------
    out : str or Path
        Folder of the campaign; the same campaign there is resumed.
    arguments : Arguments
    mpi : Mpi
    set_aside : bool
        Rename a folder that holds another campaign, rather than refuse it.
    identity : str
        Begin of all ``run_id`` of a new folder; by default drawn. Folders that share it are read as one campaign.

    Raises
    ------
    UsageError
        If the folder cannot be used, holds another campaign or one begun under other conditions, or an operation is
        unknown.
    BuildError
        If the programs cannot be built.
    """
    folder = Folder(path_of(out, "the campaign"))
    require_kind(arguments, Arguments, "what to measure", "give scalkit.bench.Arguments(...)")
    require_kind(mpi, Mpi, "the MPI library", "give scalkit.bench.find_mpi()")
    folder.require_usable()
    mpi = place_processes(mpi, arguments.processes_per_node)
    tree = sources("microbench")
    kinds = [kind for kind in arguments.kinds if kind not in (FUNCTIONS, NEIGHBOURHOOD)]
    if arguments.experiments:
        if mpi.is_simulated:
            raise UsageError(f"{NEIGHBOURHOOD} collectives cannot be simulated; name an MPI library.")
        experiments(arguments.experiments, arguments.counts)
    ops = choose(tree, kinds, arguments.ops) if kinds else {}
    if isinstance(mpi, VirtualMpi):
        ops = in_virtual_time(tree, ops, arguments.ops, mpi.kind, mpi.network.per_node or 1)
    own = user_functions(arguments.functions, tree, mpi.real) if arguments.functions else None
    built = build(tree, mpi.mpicc, library=mpi.library)
    if own:
        ops[FUNCTIONS] = own.names
    campaign = KernelCampaign(folder, arguments, mpi, built, ops, functions=own, identity=identity)
    if set_aside and folder.difference(arguments, campaign.facts):
        return replace(campaign, aside=folder.set_aside())
    campaign.require_same()
    return campaign
