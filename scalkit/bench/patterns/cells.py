"""Campaigns of a single program that measures cells, such as messages between two processes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from scalkit.bench.campaign.folder import Folder, Launch
from scalkit.bench.campaign.launch import MpiCampaign
from scalkit.bench.libraries.mpi import Mpi
from scalkit.bench.libraries.simulator import REPETITIONS, SimulatedMpi
from scalkit.support.native import build, sources


@dataclass(frozen=True)
class CellCampaign(MpiCampaign):
    """A campaign that is ready to run; a subclass names the program and its options."""

    program_name: ClassVar[str]

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

    def program(self, launch: Launch) -> tuple[str, ...]:
        """Return the program of a rank."""
        return (str(self.build.program(self.program_name)),)

    def repetitions(self, wanted: int) -> int:
        """Return how often a cell is repeated in a launch: few times where all are alike."""
        return REPETITIONS if self.mpi.repeats_exactly else wanted
