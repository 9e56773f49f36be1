"""A campaign of a program that measures cells, such as sk_p2p: launched until every run file is there, and resumed."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from scalkit import __version__
from scalkit.bench.arguments import Arguments
from scalkit.bench.campaign.campaign import LaunchLoop, Progress, Result
from scalkit.bench.campaign.folder import Folder, new_record
from scalkit.bench.campaign.launch import Launcher
from scalkit.bench.campaign.plan import Launch
from scalkit.bench.libraries.mpi import Mpi, cores, settings
from scalkit.bench.provenance import environment, machine, write_provenance
from scalkit.errors import UsageError
from scalkit.native import Build

_TEXTS = ("remarks", "failures")


class CellArguments(Protocol):
    """What decides a campaign of cells."""

    @property
    def runs(self) -> int:
        """How often all is launched anew."""

    @property
    def seed(self) -> int:
        """Of every random choice."""

    @property
    def budget_s(self) -> float | None:
        """For the whole campaign, in s."""

    def as_table(self) -> dict[str, Any]:
        """Return the arguments as they stand in campaign.toml."""

    def differing(self, table: Mapping[str, Any]) -> list[str]:
        """Return the names of the arguments that differ from those in a campaign.toml."""


@dataclass(frozen=True)
class CellCampaign:
    """A campaign that is ready to run; who inherits says what is launched."""

    folder: Folder
    arguments: CellArguments
    mpi: Mpi
    build: Build

    aside: ClassVar[None] = None
    """Nothing in the folder is ever renamed."""

    @property
    def plan(self) -> tuple[Launch, ...]:
        """All launches, in their order."""
        raise NotImplementedError

    def launcher(self, shared: tuple[Any, ...]) -> Launcher:
        """Return what starts them; `shared` are the first arguments of a `Launcher`."""
        raise NotImplementedError

    @property
    def more_facts(self) -> Mapping[str, dict[str, Any]]:
        """What campaign.toml says beyond what all campaigns say."""
        return {}

    @property
    def settings(self) -> dict[str, str]:
        """The environment variables that scalkit sets."""
        crowded = self.mpi.is_virtual or max(launch.p for launch in self.plan) > cores()
        return {**self.mpi.environment, **settings(self.mpi.kind, library=self.mpi.library, oversubscribed=crowded)}

    @property
    def facts(self) -> dict[str, dict[str, Any]]:
        """What campaign.toml says about the conditions."""
        return {
            "mpi": {
                "name": self.mpi.name,
                "kind": self.mpi.kind,
                "library": self.mpi.library,
                "standard": self.mpi.standard,
                "mpicc": self.mpi.mpicc,
                "mpiexec": self.mpi.mpiexec,
            },
            **self.mpi.facts,
            **self.more_facts,
            "settings": self.settings,
            "environment": environment(),
            "sources": {"sha256": self.build.sources},
            "machine": machine(),
        }

    def run(
        self,
        *,
        launches: Sequence[Launch] | None = None,
        failed: Counter[tuple[str, int]] | None = None,
        timeout_s: float | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Result:
        """Do every launch whose run file is missing; see `scalkit.bench.campaign.campaign.Campaign.run`."""
        plan = self.plan if launches is None else tuple(launches)
        own = self.arguments
        with self.folder.locked() as lock, tempfile.TemporaryDirectory(prefix="scalkit-") as scratch:
            self.require_same()
            record = self.folder.record or self._new_record()
            self.folder.write(record)
            folder = Path(scratch)
            write_provenance(folder, (launch.kind for launch in plan), self.mpi, self.build, self.settings)
            known: tuple[Any, ...] = (
                self.mpi,
                self.build,
                self._shared,
                {},
                self.folder,
                str(record["id"]),
                self.settings,
                folder,
                lock,
            )
            before = self.folder.missing(plan)
            budget_s = own.budget_s * len(before) / len(self.plan) if own.budget_s is not None else None
            loop = LaunchLoop(self.launcher(known), plan, budget_s, timeout_s, on_progress or (lambda progress: None))
            loop.failed = Counter() if failed is None else failed
            about = tuple(launch.name for launch in before)
            remarks, earlier = ([text for text in record.get(key, ()) if not text.startswith(about)] for key in _TEXTS)
            failures = loop.run()
            missing = self.folder.missing(plan)
            remarks += loop.remarks
            self.folder.write({**record, "remarks": remarks, "failures": earlier + failures})
        done, fresh = len(plan) - len(missing), len(before) - len(missing)
        return Result(self.folder.path, len(plan), done, fresh, tuple(failures), tuple(missing), tuple(remarks))

    @property
    def _shared(self) -> Arguments:
        return Arguments(("collectives",), (2,), self.arguments.runs, self.arguments.seed)

    def _new_record(self) -> dict[str, Any]:
        return {
            **new_record(self._shared),
            "arguments": self.arguments.as_table(),
            "scalkit": __version__,
            "plan": [launch.name for launch in self.plan],
            "failures": [],
            "remarks": [],
            **self.facts,
        }

    def require_same(self) -> None:
        """Return nothing if what is in the folder was measured with the same arguments, library and programs.

        Raises UsageError, naming what differs.
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
