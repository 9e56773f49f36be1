"""Measures messages: builds sk_p2p, launches it until every run file is there, and resumes."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from scalkit import __version__
from scalkit.bench.arguments import Arguments
from scalkit.bench.campaign import LaunchLoop, Progress, Result
from scalkit.bench.folder import Folder, new_record
from scalkit.bench.launch import Launcher, launch_seed
from scalkit.bench.mpi import Mpi, cores, settings
from scalkit.bench.plan import Launch
from scalkit.bench.platforms import Platform
from scalkit.bench.point_to_point import MessageArguments, cells_of, message_plan
from scalkit.bench.provenance import environment, machine, provenance
from scalkit.bench.simulator import REPETITIONS, SimulatedMpi
from scalkit.errors import UsageError
from scalkit.native import Build, build, sources

__all__ = ["MessageCampaign", "prepare_messages", "torus_of"]

_PASSES = 5
_TRAIN, _EXCHANGES = 10, 3


@dataclass(frozen=True)
class _MessageLauncher(Launcher):
    """Starts sk_p2p."""

    messages: MessageArguments = field(kw_only=True)

    def command(self, launch: Launch, budget_s: float) -> list[str]:
        """Return the command of a launch."""
        own, is_simulated = self.messages, self.mpi.is_simulated
        reps = REPETITIONS if is_simulated else own.reps
        options = {
            "out": str(self.folder.part(launch).absolute()),
            "expect-np": launch.p,
            "seed": launch_seed(own.seed, launch),
            "run-id": f"{self.run_id}-r{launch.run:02d}",
            "provenance": str(self.provenance),
            "budget": f"{budget_s:.3f}",
            "cells": cells_of(launch, own),
            "reps": 1 if launch.kind == "bisection" else reps,
            "passes": 1 if launch.kind == "bisection" or is_simulated else min(_PASSES, reps),
            "messages": _EXCHANGES if launch.kind == "bisection" else _TRAIN,
        }
        words = [f"--{name}={value}" for name, value in options.items()]
        program = str(self.build.program("sk_p2p"))
        return self.mpi.for_run(launch.run).command(launch.p, program, *words, forward=self._forward())


@dataclass(frozen=True)
class MessageCampaign:
    """A campaign of messages that is ready to run."""

    folder: Folder
    arguments: MessageArguments
    mpi: Mpi
    build: Build

    @property
    def plan(self) -> tuple[Launch, ...]:
        """All launches, in their order."""
        return message_plan(self.arguments)

    @property
    def settings(self) -> dict[str, str]:
        """The environment variables that scalkit sets."""
        crowded = max(launch.p for launch in self.plan) > cores()
        return {**self.mpi.environment, **settings(self.mpi.kind, oversubscribed=crowded)}

    @property
    def facts(self) -> dict[str, dict[str, Any]]:
        """What campaign.toml says about the conditions."""
        torus = torus_of(self.mpi.platform) if isinstance(self.mpi, SimulatedMpi) else ()
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
            **({"topology": {"torus": list(torus)}} if torus else {}),
            "settings": self.settings,
            "environment": environment(),
            "sources": {"sha256": self.build.sources},
            "machine": machine(),
        }

    def run(self, *, timeout_s: float | None = None, on_progress: Callable[[Progress], None] | None = None) -> Result:
        """Do every launch whose run file is missing; see `scalkit.bench.campaign.Campaign.run`."""
        plan, own = self.plan, self.arguments
        with self.folder.locked() as lock, tempfile.TemporaryDirectory(prefix="scalkit-") as scratch:
            self._require_same()
            record = self.folder.record or self._new_record()
            self.folder.write(record)
            file = Path(scratch) / "provenance.json"
            file.write_text(json.dumps(provenance(self.mpi, self.build, self.settings)), encoding="utf-8")
            shared = Arguments(("collectives",), (2,), own.runs, own.seed)
            launcher = _MessageLauncher(
                *(self.mpi, self.build, shared, {}, self.folder, str(record["id"]), self.settings, file, lock),
                messages=own,
            )
            before = self.folder.missing(plan)
            budget_s = own.budget_s * len(before) / len(plan) if own.budget_s is not None else None
            loop = LaunchLoop(launcher, plan, budget_s, timeout_s, on_progress or (lambda progress: None))
            failures = loop.run()
            missing = self.folder.missing(plan)
            remarks = [*record.get("remarks", ()), *loop.remarks]
            self.folder.write({**record, "remarks": remarks, "failures": failures})
        done, fresh = len(plan) - len(missing), len(before) - len(missing)
        return Result(self.folder.path, len(plan), done, fresh, tuple(failures), tuple(missing), tuple(remarks))

    def _new_record(self) -> dict[str, Any]:
        shared = Arguments(("collectives",), (2,), self.arguments.runs, self.arguments.seed)
        return {
            **new_record(shared),
            "arguments": self.arguments.as_table(),
            "scalkit": __version__,
            "plan": [launch.name for launch in self.plan],
            "failures": [],
            "remarks": [],
            **self.facts,
        }

    def _require_same(self) -> None:
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
        if record.get("sources", {}).get("sha256") != facts["sources"]["sha256"]:
            raise UsageError(f"{self.folder.path} was measured with other microbenchmarks; name another --out.")


def prepare_messages(out: Path, arguments: MessageArguments, mpi: Mpi) -> MessageCampaign:
    """Return a campaign of messages that is ready to run: program built, folder checked.

    Raises
    ------
    UsageError
        If the folder cannot be used or holds other measurements, or something cannot be measured there.
    BuildError
        If the program cannot be built.
    """
    folder = Folder(out)
    folder.require_usable()
    most = max(launch.p for launch in message_plan(arguments))
    if isinstance(mpi, SimulatedMpi):
        mpi.platform.require_room(most, mpi.per_node)
    if "hops" in arguments.parts and not (isinstance(mpi, SimulatedMpi) and torus_of(mpi.platform)):
        raise UsageError(
            "--what hops: only a simulated torus tells how many hops apart two nodes are, such as juqueen."
        )
    campaign = MessageCampaign(folder, arguments, mpi, build(sources("microbench"), mpi.mpicc, library=mpi.library))
    campaign._require_same()
    return campaign


def torus_of(platform: Platform) -> tuple[int, ...]:
    """Return the dimensions of the torus that a platform is, the first one running fastest; empty if it is none."""
    clusters = ElementTree.parse(platform.file).getroot().findall(".//cluster")
    text = clusters[0].get("topo_parameters", "") if len(clusters) == 1 else ""
    is_torus = bool(clusters) and clusters[0].get("topology") == "TORUS" and re.fullmatch(r"\d+(,\d+)*", text)
    return tuple(map(int, text.split(","))) if is_torus else ()
