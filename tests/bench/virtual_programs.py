"""Campaigns of a program in virtual time, at several numbers of processes."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from scalkit.bench.command.campaign import CommandArguments, CommandCampaign, clock_name, prepare_command
from scalkit.bench.command.template import Template
from scalkit.bench.virtual.mpi import VirtualMpi


def program_campaign(out: Path, command: Sequence[str], counts: Sequence[int], mpi: VirtualMpi) -> CommandCampaign:
    """Return a campaign that is ready to run: each number of processes once."""
    template = Template(f"mpiexec -n {{p}} {shlex.join(command)}")
    points = tuple((("p", p),) for p in counts)
    return prepare_command(out, CommandArguments(template, points, runs=1, min_reps=1, max_reps=1, clock=clock_name(mpi)), mpi)
