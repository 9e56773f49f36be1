"""A campaign of a program that measures cells, such as sk_p2p: launched until every run file is there, and resumed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from scalkit.bench.arguments import Arguments
from scalkit.bench.campaign.campaign import LaunchedCampaign
from scalkit.bench.campaign.folder import Folder
from scalkit.bench.campaign.launch import Launcher
from scalkit.bench.campaign.plan import Launch
from scalkit.bench.libraries.mpi import Mpi
from scalkit.bench.libraries.simulator import REPETITIONS, SimulatedMpi
from scalkit.errors import UsageError
from scalkit.native import build, sources


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
