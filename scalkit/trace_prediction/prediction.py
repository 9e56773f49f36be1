"""How long a recorded program would take on another network: its trace played again, message by message."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike

import numpy as np

from scalkit.bench.virtual.network import Network, read_network
from scalkit.errors import DataError, UsageError
from scalkit.perfmodels.collectives.cells import FUNCTIONS
from scalkit.perfmodels.played import SCHEDULES, WIRES, Machine
from scalkit.perfmodels.played.actions import Compute, Process, Receive, Send, Wait
from scalkit.perfmodels.played.machine import play_all
from scalkit.perfmodels.played.steps import ITEM
from scalkit.trace.files.tables import RECEIVE, SEND, SYNCHRONOUS
from scalkit.trace.local.left_out import require_all_calls
from scalkit.trace.local.part import LocalTrace, load
from scalkit.trace.waits.functions import base_name

_BEGUN = {f"MPI_I{name[4:].lower()}": name for name in FUNCTIONS}
_SILENT = frozenset({"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Probe", "MPI_Mprobe", "MPI_Type_free", "MPI_Comm_free"})
_HALF = 1 << 19
"""Bytes from which on MPICH 5.0 takes the algorithm for long vectors."""


@dataclass(frozen=True)
class Prediction:
    """What a program would take on a network.

    `time_s`, `recorded_s`: from the end of MPI_Init to the begin of MPI_Finalize, on the network and as recorded: the
    longest of all processes.
    `computing_s`: the longest that a process computes.
    `messages`: with those of the library's protocols.
    `left_out`: calls that may communicate, but take no time here, and how many there are.
    """

    time_s: float
    recorded_s: float
    computing_s: float
    messages: int
    left_out: dict[str, int] = field(default_factory=dict)


def predict(
    trace: str | PathLike[str],
    network: Network | str,
    *,
    scale: float = 1.0,
    library: str = "MPICH",
    algorithms: Mapping[str, str] | None = None,
) -> Prediction:
    """Return how long a recorded program would take on a network.

    What lies between calls of MPI takes as long as it took. Messages are sent as the library sends them, and collective
    operations with the messages of its algorithms.

    `trace`: folder of a trace.
    `network`: a name, file, or numbers, as `scalkit virtual --network` takes them; every process has a node of its own.
    `scale`: seconds that a second of computing takes; 0: communication alone.
    `library`: ``"MPICH"`` or ``"Open MPI"``.
    `algorithms`: algorithm of an operation, as in ``{"allreduce": "ring"}``; by default what MPICH 5.0 takes.
    Raises DataError if there is no whole trace, or it has one-sided operations, or messages that nobody sent.
    Raises UsageError if an argument makes no sense.
    """
    if not 0 <= scale < float("inf"):
        raise UsageError(f"the scale is {scale:g}; a number from 0 on is needed.")
    network = read_network(network) if isinstance(network, str) else network
    if network.has_nodes:
        raise UsageError(f"the network {network.name!r} has {network.per_node} processes on a node; a prediction knows one.")
    if library not in WIRES:
        raise UsageError(f"the library {library!r} is unknown; choose {' or '.join(WIRES)}.")
    loaded = load(trace)
    require_all_calls(loaded, "a prediction")
    players = _Players(loaded, scale, library, dict(algorithms or {}))
    machine = Machine.of(network.L, network.o, network.g, network.G)
    try:
        played = play_all([players.process(k) for k in range(loaded.count)], WIRES[library], machine)
    except RuntimeError as error:
        raise DataError(f"{trace}: {error}; a receive or a send has no partner in the trace.") from error
    spans = [span for span in map(players.span, range(loaded.count)) if span]
    recorded = max((high - low for low, high in spans), default=0)
    computing = max(players.computing, default=0)
    return Prediction(1e-9 * played.time, 1e-9 * recorded, 1e-9 * computing, sum(played.messages), dict(players.left_out))


class _Players:
    """Makes the process of each location."""

    def __init__(self, trace: LocalTrace, scale: float, library: str, algorithms: dict[str, str]) -> None:
        self._trace, self._scale, self._library, self._algorithms = trace, scale, library, algorithms
        found = trace.definitions
        self._names = [base_name(found.region(k)) for k in range(len(found.paths))]
        self._outer = found.library_calls()[np.maximum(found.parents, 0)] & (found.parents >= 0)
        self._tags: dict[tuple[int, int], int] = {}
        self._begins = trace.begins
        self.left_out: Counter[str] = Counter()
        self.computing = [0.0] * trace.count
        if not np.isin(trace.transfers["kind"] & 0xFF, (SEND, RECEIVE)).all():
            raise DataError(
                f"{trace.header.folder} has one-sided operations; a prediction knows messages and collective operations."
            )
        for name in algorithms:
            if name not in FUNCTIONS.values():
                raise UsageError(f"the operation {name!r} is unknown; choose {', '.join(FUNCTIONS.values())}.")
        self._rows = [self._transfers(k) for k in range(trace.count)]

    def _transfers(self, k: int) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """Return the transfers that each call of a location begins, receives first, and those that it ends."""
        rows = self._trace.transfers
        low, high = np.searchsorted(rows["location"], (k, k + 1))
        begun: dict[int, list[int]] = {}
        ended: dict[int, list[int]] = {}
        order = np.lexsort((rows["order"][low:high], rows["kind"][low:high] & 0xFF != RECEIVE, rows["call"][low:high]))
        for row in (order + low).tolist():
            begun.setdefault(int(rows["call"][row]), []).append(row)
            ended.setdefault(int(rows["done"][row]), []).append(row)
        return begun, ended

    def span(self, k: int) -> tuple[int, int] | None:
        """Return the end of MPI_Init and the begin of MPI_Finalize of a location, in ns; None if it has no call."""
        calls = list(self._calls(k))
        return (calls[0][2], calls[-1][1]) if calls else None

    def _calls(self, k: int) -> Iterator[tuple[int, int, int, str]]:
        """Yield place, begin, end and name of the calls of a location that no other call makes."""
        calls = self._trace.calls
        low = self._begins[k]
        high = self._begins[k + 1] if k + 1 < self._trace.count else len(calls["enter"])
        for place in range(low, high):
            if not self._outer[calls["path"][place]]:
                path = int(calls["path"][place])
                yield place, int(calls["enter"][place]), int(calls["leave"][place]), self._names[path]

    def process(self, k: int) -> Process:
        """Yield what a location does from the end of its first call to the begin of its last."""
        begun, ended = self._rows[k]
        numbers: dict[int, int] = {}
        collective = {int(done): int(call) for call, done in zip(*self._trace.collectives.values(), strict=True)}
        names = {place: name for place, _, _, name in self._calls(k)}
        before: int | None = None
        for place, enter, leave, name in self._calls(k):
            if before is not None and enter > before:
                self.computing[k] += self._scale * (enter - before)
                yield Compute(round(1000 * self._scale * (enter - before)))
            before = leave
            for row in begun.get(place, ()):
                numbers[row] = yield self._begin(row)
            if name in FUNCTIONS:
                yield from self._collective(k, place, name)
            elif place in collective and collective[place] in names:
                yield from self._collective(k, collective[place], _BEGUN.get(names[collective[place]], ""))
            elif name not in _BEGUN and name not in _SILENT and not begun.get(place) and self._trace.calls["scope"][place] >= 0:
                self.left_out[name] += place not in ended
            waits = tuple(numbers[row] for row in ended.get(place, ()) if row in numbers)
            if waits:
                yield Wait(waits)

    def _begin(self, row: int) -> Send | Receive:
        rows = self._trace.transfers
        scope, peer, kind = int(rows["scope"][row]), int(rows["peer"][row]), int(rows["kind"][row])
        other = int(self._trace.definitions.scopes[scope].members[peer])
        tag = self._tags.setdefault((scope, int(rows["tag"][row])), len(self._tags) + 1)
        if kind & 0xFF == RECEIVE:
            return Receive(other, tag)
        return Send(other, int(rows["bytes"][row]), "synchronous" if kind & SYNCHRONOUS else "", tag)

    def _collective(self, k: int, place: int, name: str) -> Process:
        """Yield the messages of a collective operation, with the ranks and the tag of its communicator."""
        calls = self._trace.calls
        scope, root = int(calls["scope"][place]), max(int(calls["peer"][place]), 0)
        numbers, sizes = self._trace.sizes[k]
        at = np.flatnonzero(numbers == calls["number"][place])
        if scope < 0 or name not in FUNCTIONS or (len(at) == 0 and name != "MPI_Barrier"):
            self.left_out[name or "collective operations that begin and do not wait"] += 1
            return
        members = self._trace.definitions.scopes[scope].members.tolist()
        n_bytes, P = int(sizes[at[0]]) if len(at) else 0, len(members)
        tag = self._tags.setdefault((scope, -1), len(self._tags) + 1)
        own = (members.index(k) - root) % P
        program = SCHEDULES[self._library, FUNCTIONS[name], self._algorithm(FUNCTIONS[name], P, n_bytes)](own, P, n_bytes)
        answer: int | None = None
        while True:
            try:
                action = next(program) if answer is None else program.send(answer)
            except StopIteration:
                return
            if isinstance(action, Send):
                action = action._replace(to=members[(action.to + root) % P], tag=tag)
            elif isinstance(action, Receive):
                action = Receive(members[(action.source + root) % P], tag)
            answer = yield action

    def _algorithm(self, operation: str, P: int, n_bytes: int) -> str:
        """Return the algorithm that was asked for, or that MPICH takes."""
        known = [name for library, of, name in SCHEDULES if (library, of) == (self._library, operation)]
        if operation in self._algorithms:
            if self._algorithms[operation] in known:
                return self._algorithms[operation]
            raise UsageError(
                f"{self._library} has no algorithm {self._algorithms[operation]!r} of {operation}; choose {', '.join(known)}."
            )
        if self._library != "MPICH":
            raise UsageError(
                f"which algorithm of {operation} {self._library} takes is not known; name one of {', '.join(known)}."
            )
        return chosen_by_mpich(operation, P, n_bytes)


def chosen_by_mpich(operation: str, P: int, n_bytes: int) -> str:
    """Return the algorithm that MPICH 5.0 takes by itself: seen in virtual time with 4 to 16 processes, 8 B to 1 MiB."""
    is_power = P & (P - 1) == 0
    items = n_bytes // ITEM >= 1 << (P.bit_length() - 1)
    if operation == "broadcast":
        if P < 8 or n_bytes < 12288:
            return "binomial"
        return "scatter-doubling" if is_power and n_bytes < _HALF else "scatter-ring"
    if operation == "reduce":
        return "rabenseifner" if n_bytes > 2048 and items else "binomial"
    if operation == "allreduce":
        return "rabenseifner" if items else "recursive-doubling"
    if operation == "allgather":
        if is_power and P * n_bytes < _HALF:
            return "recursive-doubling"
        return "bruck" if P * n_bytes < 81920 else "ring"
    if operation == "alltoall":
        if P > 8 and n_bytes <= 256:
            return "bruck"
        return "linear" if n_bytes <= 32768 else "pairwise"
    if operation == "reduce-scatter":
        return "recursive-halving" if P * n_bytes < _HALF else "pairwise"
    return "dissemination" if operation == "barrier" else "binomial"
