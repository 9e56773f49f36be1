"""What is measured about messages between two processes, and between all of them: cells for sk_p2p, sizes, launches."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scalkit.bench.campaign.folder import Launch
from scalkit.bench.libraries.mpi import Mpi
from scalkit.bench.limits import CampaignArguments, require_choices, require_numbers, require_range
from scalkit.bench.patterns.cells import CellCampaign
from scalkit.errors import UsageError

PARTS = ("latency", "exchange", "loggp", "overlap", "sync", "datatypes", "reduce", "matching", "bisection")
"""The parts of a campaign of messages, by name."""

LOCAL = ("datatypes", "reduce", "matching")
"""Parts about what processors do with data; it takes no time on a virtual clock."""

_LATENCY_STEPS = 4
"""Sizes in each octave: a protocol switch is found within one of them."""

_LARGEST_B = 1 << 22
_LOGGP_B = (1, 256, 512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152)
_OVERLAP_B = tuple(4**k for k in range(5, 12))
_STRIDED_B = 1 << 16
_STRIDES = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
_PACKED_B = tuple(512 * 4**k for k in range(6))
_PACKED_STRIDES = (2, 8, 32)
"""Strides that are packed at all of these sizes, in and out of the caches."""

_REDUCED_B = tuple(512 * 4**k for k in range(7))
_ELEMENTS = (1, 8)
_QUEUES = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
_LEAST_SIZES, _MOST_SIZES, _MOST_SIZE = 3, 200, 1 << 30
_MOST_PROCESSES, _MOST_REPS, _MOST_ROUNDS = 4096, 100_000, 10_000


@dataclass(frozen=True)
class MessageArguments(CampaignArguments):
    """What decides a campaign of messages; two with the same ones are the same.

    `parts`: of `PARTS`.
    `runs`: how often all is launched anew.
    `seed`: of every random choice.
    `reps`: repetitions of a cell in a launch.
    `sizes` in B: of latency and bandwidth; empty for four an octave, up to 4 MiB.
    `counts`: even numbers of processes for the bisection.
    `rounds`: random matchings for each of them.
    `bisection_size` in B.
    `budget_s` in s: for the whole campaign.
    Raises UsageError if one makes no sense.
    """

    parts: tuple[str, ...]
    runs: int
    seed: int
    reps: int = 100
    sizes: tuple[int, ...] = ()
    counts: tuple[int, ...] = (2,)
    rounds: int = 30
    bisection_size: int = 1 << 20
    budget_s: float | None = None

    def __post_init__(self) -> None:
        require_choices("--what", self.parts, PARTS)
        if self.sizes:
            require_numbers("--sizes", self.sizes, 0, _MOST_SIZE, _MOST_SIZES)
            if len(self.sizes) < _LEAST_SIZES:
                raise UsageError(
                    f"--sizes: latency and bandwidth need at least {_LEAST_SIZES} sizes, got {len(self.sizes)}; name more, or "
                    "leave --sizes out."
                )
        require_numbers("-n", self.counts, 2, _MOST_PROCESSES)
        if odd := [n for n in self.counts if n % 2]:
            raise UsageError(f"-n {odd[0]}: matchings need even numbers of processes.")
        require_range("reps", self.reps, 1, _MOST_REPS)
        require_range("rounds", self.rounds, 1, _MOST_ROUNDS)
        require_range("bisection_size", self.bisection_size, 1, _MOST_SIZE)
        self.require_usual()


def cells_of(launch: Launch, arguments: MessageArguments) -> str:
    """Return what sk_p2p shall measure in a launch, as its ``--cells`` takes it."""
    if launch.kind == "bisection":
        return f"Perfect_matching:{arguments.bisection_size}@{_joined(range(arguments.rounds))}"
    parts = arguments.parts
    trips = {*(arguments.sizes or _latency_sizes() if "latency" in parts else ())}
    found: list[str] = []
    if "exchange" in parts:
        found.append(f"Exchange:{_joined(arguments.sizes or _latency_sizes()[::2])}")
    if "loggp" in parts:
        trips |= {*_LOGGP_B}
        found += [f"{kind}:{_joined(_LOGGP_B)}" for kind in ("Train", "Train_delayed", "Receive_arrived")]
    if "loggp" in parts or "sync" in parts:
        found.append(f"Send_to_late:{_joined(sorted(factor << k for k in range(19) for factor in (2, 3)))}")
    if "overlap" in parts:
        found += [f"{kind}:{_joined(_OVERLAP_B)}" for kind in ("Overlap_send", "Overlap_receive")]
    if "datatypes" in parts:
        found.append(f"Strided:{_STRIDED_B}@{_joined(_STRIDES)}")
        found.append(f"Pack:{_joined(_PACKED_B)}@{_joined(_PACKED_STRIDES)}")
    if "reduce" in parts:
        found.append(f"Reduce_local:{_joined(_REDUCED_B)}@{_joined(_ELEMENTS)}")
    if "matching" in parts:
        found.append(f"Queued:8@{_joined(_QUEUES)}")
    return "/".join([f"Round_trip:{_joined(sorted(trips))}", *found] if trips else found)


def message_plan(arguments: MessageArguments) -> tuple[Launch, ...]:
    """Return all launches, run after run."""
    between_two = set(arguments.parts) - {"bisection"}
    plan: list[Launch] = []
    for run in range(arguments.runs):
        plan += [Launch("messages", 2, run)] if between_two else []
        plan += [Launch("bisection", p, run) for p in arguments.counts] if "bisection" in arguments.parts else []
    return tuple(plan)


def _latency_sizes() -> list[int]:
    octaves = int(math.log2(_LARGEST_B))
    return [0, *sorted({round(2 ** (k / _LATENCY_STEPS)) for k in range(_LATENCY_STEPS * octaves + 1)})]


def _joined(numbers: Sequence[int] | range) -> str:
    return ",".join(map(str, numbers))


_PASSES = 5
_TRAIN, _EXCHANGES = 10, 3


@dataclass(frozen=True)
class MessageCampaign(CellCampaign):
    """A campaign of messages that is ready to run."""

    arguments: MessageArguments
    program_name = "sk_p2p"

    @property
    def plan(self) -> tuple[Launch, ...]:
        """All launches, in their order."""
        return message_plan(self.arguments)

    def options(self, launch: Launch) -> Mapping[str, object]:
        """Return the options of the program that not all programs take."""
        cells = {"cells": cells_of(launch, self.arguments)}
        if launch.kind == "bisection":
            return {**cells, "reps": 1, "passes": 1, "messages": _EXCHANGES}
        reps = self.repetitions(self.arguments.reps)
        return {**cells, "reps": reps, "passes": 1 if self.mpi.repeats_exactly else min(_PASSES, reps), "messages": _TRAIN}


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
    return MessageCampaign.ready(out, arguments, mpi, max(launch.p for launch in message_plan(arguments)))
