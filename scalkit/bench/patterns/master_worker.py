"""A master that hands out units of work to all other processes: what is measured, and the campaign that measures it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalkit.bench.arguments import table_of
from scalkit.bench.campaign.folder import Launch
from scalkit.bench.libraries.mpi import Mpi
from scalkit.bench.limits import CampaignArguments, require_choices, require_numbers, require_range
from scalkit.bench.patterns.cells import CellCampaign
from scalkit.support.native import sources

KIND = "master-worker"

_PASSES = 3
_SMALLEST_B, _LARGEST_B, _MOST_WORK_US = 8, 1 << 26, 10_000_000
_MOST_NUMBERS, _MOST_PROCESSES, _MOST_REPS, _MOST_UNITS = 64, 4096, 100_000, 1_000_000


def variants() -> tuple[str, ...]:
    """Return the names of all ways to collect and hand out, those with a plain ``MPI_Send`` first.

    Raises BuildError if the sources are not there.
    """
    text = table_of(sources("microbench"), "masterworker/variants.def")
    collecting = re.findall(r'^SK_COLLECTING\(\w+, "([^"]*)"', text, re.MULTILINE)
    handing = re.findall(r'^SK_HANDING\(\w+, "([^"]*)"', text, re.MULTILINE)
    return tuple(f"{one}{end}" for end in handing for one in collecting)


@dataclass(frozen=True)
class FarmArguments(CampaignArguments):
    """What decides a campaign of a master and its workers; two with the same ones are the same.

    `counts`: numbers of processes, ascending; all but one of them work.
    `runs`: how often all is launched anew.
    `seed`: of every random choice.
    `variants`: of `variants`.
    `sizes` in B: of a unit, ascending.
    `work_us` in us: work on a unit, ascending; 0 is communication alone.
    `result_size` in B.
    `units`: for each worker in a repetition.
    `reps`: repetitions of a cell in a launch.
    `processes_per_node`: of a simulated machine.
    `budget_s` in s: for the whole campaign.
    Raises UsageError if one makes no sense.
    """

    counts: tuple[int, ...]
    runs: int
    seed: int
    variants: tuple[str, ...] = ("Waitsome", "Waitany", "Recv_any")
    sizes: tuple[int, ...] = (1024,)
    work_us: tuple[int, ...] = (0, 100)
    result_size: int = 16
    units: int = 50
    reps: int = 30
    processes_per_node: int | None = None
    budget_s: float | None = None

    def __post_init__(self) -> None:
        require_choices("variants", self.variants, variants())
        require_numbers("-n", self.counts, 2, _MOST_PROCESSES, _MOST_NUMBERS)
        require_numbers("sizes", self.sizes, _SMALLEST_B, _LARGEST_B, _MOST_NUMBERS)
        require_numbers("work_us", self.work_us, 0, _MOST_WORK_US, _MOST_NUMBERS)
        require_range("--reps", self.reps, 1, _MOST_REPS)
        require_range("units", self.units, 1, _MOST_UNITS)
        require_range("result_size", self.result_size, _SMALLEST_B, _LARGEST_B)
        self.require_usual()

    @property
    def kinds(self) -> tuple[str, ...]:
        """What is measured, in a word."""
        return (KIND,)

    def as_table(self) -> dict[str, Any]:
        """Return the arguments as they stand in campaign.toml; what is None is left out."""
        return {"kinds": list(self.kinds), **super().as_table()}


@dataclass(frozen=True)
class FarmCampaign(CellCampaign):
    """A campaign of a master and its workers that is ready to run."""

    arguments: FarmArguments
    program_name = "sk_master_worker"

    @property
    def plan(self) -> tuple[Launch, ...]:
        """All launches, run after run."""
        own = self.arguments
        return tuple(Launch(KIND, p, run) for run in range(own.runs) for p in own.counts)

    def options(self, launch: Launch) -> Mapping[str, object]:
        """Return the options of the program that not all programs take."""
        own = self.arguments
        reps = self.repetitions(own.reps)
        return {
            "variants": ",".join(own.variants),
            "sizes": ",".join(map(str, own.sizes)),
            "work-us": ",".join(map(str, own.work_us)),
            "result-size": own.result_size,
            "units": own.units,
            "reps": reps,
            "passes": 1 if self.mpi.repeats_exactly else min(_PASSES, reps),
        }


def prepare_farm(out: Path, arguments: FarmArguments, mpi: Mpi) -> FarmCampaign:
    """Return a campaign of a master and its workers that is ready to run: program built, folder checked.

    `out`: folder of the campaign; the same campaign there is resumed.
    Raises UsageError if the folder cannot be used or holds other measurements, or a simulated machine has no room;
    BuildError if the program cannot be built.
    """
    return FarmCampaign.ready(out, arguments, mpi, max(arguments.counts))
