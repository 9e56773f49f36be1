"""Measures messages: builds sk_p2p, launches it until every run file is there, and resumes."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from scalkit.bench.campaign.cells import CellCampaign, CellLauncher
from scalkit.bench.campaign.plan import Launch
from scalkit.bench.libraries.mpi import Mpi
from scalkit.bench.libraries.platforms import Platform
from scalkit.bench.libraries.simulator import SimulatedMpi
from scalkit.bench.patterns.point_to_point import LOCAL, MessageArguments, cells_of, message_plan
from scalkit.errors import UsageError

_PASSES = 5
_TRAIN, _EXCHANGES = 10, 3


@dataclass(frozen=True)
class _MessageLauncher(CellLauncher):
    """Starts sk_p2p."""

    program = "sk_p2p"

    def cells(self, launch: Launch, reps: int) -> dict[str, object]:
        """Return the options of the program."""
        is_matching = launch.kind == "bisection"
        return {
            "cells": cells_of(launch, self.own),
            "reps": 1 if is_matching else reps,
            "passes": 1 if is_matching or self.mpi.repeats_exactly else min(_PASSES, reps),
            "messages": _EXCHANGES if is_matching else _TRAIN,
        }


@dataclass(frozen=True)
class MessageCampaign(CellCampaign):
    """A campaign of messages that is ready to run."""

    arguments: MessageArguments

    starter = _MessageLauncher

    @property
    def plan(self) -> tuple[Launch, ...]:
        """All launches, in their order."""
        return message_plan(self.arguments)

    @property
    def more_facts(self) -> dict[str, dict[str, Any]]:
        """The torus of a simulated machine that is one."""
        torus = torus_of(self.mpi.platform) if isinstance(self.mpi, SimulatedMpi) else ()
        return {"topology": {"torus": list(torus)}} if torus else {}


def prepare_messages(out: Path, arguments: MessageArguments, mpi: Mpi) -> MessageCampaign:
    """Return a campaign of messages that is ready to run: program built, folder checked.

    Raises UsageError if the folder cannot be used or holds other measurements, or something cannot be measured there;
    BuildError if the program cannot be built.
    """
    for part in arguments.parts if mpi.is_virtual else ():
        if part in LOCAL:
            raise UsageError(
                f"--what {part}: handling data takes no time on a virtual clock; leave it out, or measure with --clock real."
            )
    if "hops" in arguments.parts and not (isinstance(mpi, SimulatedMpi) and torus_of(mpi.platform)):
        raise UsageError("--what hops: only a simulated torus tells how many hops apart two nodes are, such as juqueen.")
    return MessageCampaign.ready(out, arguments, mpi, max(launch.p for launch in message_plan(arguments)))


def torus_of(platform: Platform) -> tuple[int, ...]:
    """Return the dimensions of the torus that a platform is, the first one running fastest; empty if it is none."""
    clusters = ElementTree.parse(platform.file).getroot().findall(".//cluster")
    text = clusters[0].get("topo_parameters", "") if len(clusters) == 1 else ""
    is_torus = bool(clusters) and clusters[0].get("topology") == "TORUS" and re.fullmatch(r"\d+(,\d+)*", text)
    return tuple(map(int, text.split(","))) if is_torus else ()
