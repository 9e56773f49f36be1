"""A campaign: build, plan, launch after launch, resume; what fails is noted and the rest goes on."""

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from scalkit.bench.arguments import FUNCTIONS, NEIGHBOURHOOD, Arguments, choose, in_virtual_time
from scalkit.bench.campaign.folder import Folder, Launch, make_plan, new_record
from scalkit.bench.campaign.launch import Launcher
from scalkit.bench.campaign.loop import Progress, Result, do_missing
from scalkit.bench.functions.user import UserFunctions, user_functions
from scalkit.bench.libraries.mpi import Mpi
from scalkit.bench.libraries.simulator import REPETITIONS, SimulatedMpi
from scalkit.bench.libraries.targets import bind_processes
from scalkit.bench.limits import CampaignArguments
from scalkit.bench.patterns.neighbourhood import experiments
from scalkit.bench.provenance import conditions, write_provenance
from scalkit.bench.virtual.mpi import VirtualMpi
from scalkit.errors import UsageError
from scalkit.native import Build, build, sources


@dataclass(frozen=True)
class LaunchedCampaign:
    """What campaigns of MPI programs share; who inherits says what is launched."""

    folder: Folder
    arguments: CampaignArguments
    mpi: Mpi
    build: Build

    @property
    def plan(self) -> tuple[Launch, ...]:
        """All launches, in their order."""
        raise NotImplementedError

    @property
    def identity(self) -> str:
        """Begin of all ``run_id`` of a new folder; where it is empty one is drawn."""
        return ""

    def launcher(self, **shared: Any) -> Launcher:
        """Return what starts the launches; `shared` are fields of a `Launcher`."""
        raise NotImplementedError

    def require_same(self) -> None:
        """Return nothing if the folder is new or holds the same campaign, measured under the same conditions."""
        raise NotImplementedError

    def budget_of(self, launches: Sequence[Launch]) -> float | None:
        """Return the share of the budget, in s, of these launches of the plan."""
        raise NotImplementedError

    @property
    def facts(self) -> dict[str, dict[str, Any]]:
        """What campaign.toml says about the conditions: library, settings, environment, programs, machine."""
        return conditions(self.mpi, self.build, self.settings)

    @property
    def settings(self) -> dict[str, str]:
        """The environment variables that scalkit sets, the same for all numbers of processes."""
        most = max(launch.p for launch in self.plan)
        return self.mpi.environment_for(min(most, self.arguments.processes_per_node or most))

    def run(
        self,
        *,
        launches: Sequence[Launch] | None = None,
        failed: Counter[tuple[str, int]] | None = None,
        budget_s: float | None = None,
        timeout_s: float | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Result:
        """Do every launch whose run file is missing.

        `launches`: only these of the plan, with their share of the budget; by default all.
        `failed`: how often a kind failed with a number of processes in earlier calls; counted on.
        `budget_s` in s: for what is missing of them; by default its share of the campaign's budget.
        `timeout_s` in s: time limit of one launch; by default amply more than its budget.
        `on_progress`: called before and after each launch.
        Returns: also when launches failed.
        Raises UsageError if the folder holds another campaign, or another process is writing to it.
        Raises LaunchError if the folder cannot be written to, or a launch fails for a reason that all others
        share.
        Raises KeyboardInterrupt after Ctrl-C; the processes are ended, what was measured is kept, a second call
        resumes.
        """
        plan = self.plan if launches is None else tuple(launches)
        with self.folder.locked() as lock, tempfile.TemporaryDirectory(prefix="scalkit-") as scratch:
            self.require_same()
            names = [launch.name for launch in self.plan]
            new = {**new_record(self.arguments, names, self.identity), "failures": [], **self.facts}
            record = self.folder.record or new
            self.folder.write(record)
            write_provenance(Path(scratch), (launch.kind for launch in plan), self.mpi, self.build, self.settings)
            launcher = self.launcher(
                mpi=self.mpi,
                build=self.build,
                folder=self.folder,
                run_id=str(record["id"]),
                environment=self.settings,
                provenance=Path(scratch),
                lock=lock,
            )
            budget_s = self.budget_of(self.folder.missing(plan)) if budget_s is None else budget_s
            return do_missing(launcher, record, plan, budget_s, failed, timeout_s, on_progress)


@dataclass(frozen=True)
class Campaign(LaunchedCampaign):
    """A campaign that is ready to run."""

    arguments: Arguments
    ops: dict[str, tuple[str, ...]]
    aside: Path | None = None
    """Where another campaign that was in the folder is now."""
    functions: UserFunctions | None = None
    """Those of the user."""
    identity: str = ""

    @property
    def plan(self) -> tuple[Launch, ...]:
        """All launches, in their order."""
        return make_plan(self.arguments)

    def launcher(self, **shared: Any) -> Launcher:
        """Return what starts the launches."""
        own = self.functions.command if self.functions else ()
        return Launcher(arguments=self.arguments, ops=self.ops, functions=own, **shared)

    def require_same(self) -> None:
        """Return nothing if the folder is new or holds the same campaign, measured under the same conditions."""
        self.folder.require_usable()
        self.folder.require_same(self.arguments, self.facts)

    def budget_of(self, launches: Sequence[Launch]) -> float | None:
        """Return the share of the budget, in s, of these launches of the plan, by their weight."""
        given = self.arguments.budget_s
        if given is None:
            return None
        return given * sum(launch.weight for launch in launches) / sum(launch.weight for launch in self.plan)

    @property
    def facts(self) -> dict[str, dict[str, Any]]:
        """What campaign.toml says about the conditions: library, settings, environment, programs, machine."""
        found = super().facts
        found["mpi"] |= {"mpicc_show": self.mpi.show, "passed_over": list(self.mpi.passed_over)}
        return found | ({"functions": {"sha256": self.functions.sha256}} if self.functions else {})


def prepare(out: Path, arguments: Arguments, mpi: Mpi, *, set_aside: bool = False, identity: str = "") -> Campaign:
    """Return a campaign that is ready to run: programs built, folder and names checked.

    Parameters
    ----------
    out : Path
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
    folder = Folder(out)
    folder.require_usable()
    most = max(arguments.counts + (arguments.memory_counts or ()))
    mpi = bind_processes(mpi, arguments.bind, min(most, arguments.processes_per_node or most))
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
    campaign = Campaign(folder, arguments, mpi, built, ops, functions=own, identity=identity)
    if set_aside and folder.difference(arguments, campaign.facts):
        return replace(campaign, aside=folder.set_aside())
    folder.require_same(arguments, campaign.facts)
    return campaign


@dataclass(frozen=True)
class CellLauncher(Launcher):
    """Starts a program that measures cells; who inherits says which, and what it is told."""

    program: ClassVar[str]
    own: Any = field(kw_only=True)
    """The arguments of the campaign."""

    def cells(self, launch: Launch, reps: int) -> dict[str, object]:
        """Return the options of the program; `reps`: repetitions of a cell."""
        raise NotImplementedError

    def command(self, launch: Launch, budget_s: float) -> list[str]:
        """Return the command of a launch."""
        reps = REPETITIONS if self.mpi.repeats_exactly else self.own.reps
        options = {**self.options(launch, budget_s, self.own.seed), **self.cells(launch, reps)}
        return self.started_with(self.program, launch, options)


@dataclass(frozen=True)
class CellCampaign(LaunchedCampaign):
    """A campaign that is ready to run; who inherits says what is launched."""

    aside: ClassVar[None] = None
    """Nothing in the folder is ever renamed."""
    starter: ClassVar[type[Launcher]]
    """What starts a launch; its field ``own`` are the arguments of the campaign."""

    @classmethod
    def ready(cls, out: Path, arguments: Any, mpi: Mpi, most: int) -> Self:
        """Return a campaign whose program is built and whose folder was checked.

        `most`: processes of the largest launch.
        Raises UsageError if the folder cannot be used or holds other measurements, or a simulated machine has no room; BuildError
        if the program cannot be built.
        """
        folder = Folder(out)
        folder.require_usable()
        if isinstance(mpi, SimulatedMpi):
            mpi.platform.require_room(most, mpi.per_node)
        campaign = cls(folder, arguments, mpi, build(sources("microbench"), mpi.mpicc, library=mpi.library))
        campaign.require_same()
        return campaign

    def launcher(self, **shared: Any) -> Launcher:
        """Return what starts the launches."""
        common = Arguments(("collectives",), (2,), self.arguments.runs, self.arguments.seed)
        return self.starter(arguments=common, ops={}, own=self.arguments, **shared)  # type: ignore[call-arg]

    @property
    def more_facts(self) -> Mapping[str, dict[str, Any]]:
        """What campaign.toml says beyond what all campaigns say."""
        return {}

    @property
    def facts(self) -> dict[str, dict[str, Any]]:
        """What campaign.toml says about the conditions."""
        found = super().facts
        return {**found, "mpi": {"name": self.mpi.name, **found["mpi"]}, **self.more_facts}

    def budget_of(self, launches: Sequence[Launch]) -> float | None:
        """Return the share of the budget, in s, of these launches of the plan: each launch has the same."""
        given = self.arguments.budget_s
        return None if given is None else given * len(launches) / len(self.plan)

    def require_same(self) -> None:
        """Return nothing if what is in the folder was measured with the same arguments, library and programs.

        Raises UsageError that says what differs.
        """
        record = self.folder.record
        if not record:
            return
        table, own = record.get("arguments", {}), self.arguments.as_table()
        if names := self.arguments.differing(table):
            shown = "; ".join(f"{name} was {table.get(name)!s:.60}, is now {own.get(name)!s:.60}" for name in names[:4])
            raise UsageError(
                f"{self.folder.path} holds measurements with other arguments: {shown}. Repeat its arguments to resume it, "
                "name another --out, or leave the options out to fit what is there."
            )
        then, facts = record.get("mpi", {}).get("name"), self.facts
        if then != facts["mpi"]["name"]:
            raise UsageError(
                f"{self.folder.path} was measured with {then!s:.80}, now it is {facts['mpi']['name']:.80}; name another --out."
            )
        if record.get("virtual") != facts.get("virtual"):
            raise UsageError(f"{self.folder.path} was measured on another virtual machine; name another --out.")
        if record.get("sources", {}).get("sha256") != facts["sources"]["sha256"]:
            raise UsageError(f"{self.folder.path} was measured with other microbenchmarks; name another --out.")
