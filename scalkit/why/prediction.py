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
from scalkit.perfmodels.played.machine import play_all
from scalkit.perfmodels.played.steps import ITEM, Compute, Process, Receive, Send, Wait
from scalkit.trace.files.tables import RECEIVE, SEND, SYNCHRONOUS
from scalkit.trace.local.part import LocalTrace, load, require_all_calls
from scalkit.trace.waits.functions import base_name

_BEGUN = {f"MPI_I{name[4:].lower()}": name for name in FUNCTIONS}
_SILENT = frozenset({"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Probe", "MPI_Mprobe", "MPI_Type_free", "MPI_Comm_free"})
_DRAWS = 5
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
    `processes`: how many. `low_s`, `high_s`: the least and the greatest time, where computing was drawn anew each time.
    """

    time_s: float
    recorded_s: float
    computing_s: float
    messages: int
    left_out: dict[str, int] = field(default_factory=dict)
    processes: int = 0
    low_s: float = 0.0
    high_s: float = 0.0


def predict(
    trace: str | PathLike[str],
    network: Network | str,
    *,
    scale: float = 1.0,
    library: str = "MPICH",
    algorithms: Mapping[str, str] | None = None,
    processes: int | None = None,
) -> Prediction:
    """Return how long a recorded program would take on a network.

    What lies between calls of MPI takes as long as it took. Messages are sent as the library sends them, and collective
    operations with the messages of its algorithms.

    `trace`: folder of a trace.
    `network`: a name, file, or numbers, as `scalkit measure --network` takes them; every process has a node of its own.
    `scale`: seconds that a second of computing takes; 0: communication alone.
    `library`: ``"MPICH"`` or ``"Open MPI"``.
    `algorithms`: algorithm of an operation, as in ``{"allreduce": "ring"}``; by default what MPICH 5.0 takes.
    `processes`: how many, by default as many as were recorded. There can be more where all do the same but the first and the
    last: each gets as much data, and computes as long as one of them did, drawn at random, several times anew.
    Raises DataError if there is no whole trace, it is not regular, or it has one-sided operations, or messages that nobody sent.
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
    players = _Players(loaded, scale, library, dict(algorithms or {}), processes)
    machine = Machine.of(**network.machine)
    times: list[float] = []
    try:
        for _ in range(_DRAWS if players.is_extrapolated and scale > 0 else 1):
            players.begin()
            played = play_all([players.process(k) for k in range(players.processes)], WIRES[library], machine)
            times.append(1e-9 * played.time)
    except RuntimeError as error:
        raise DataError(f"{trace}: {error}; a receive or a send has no partner in the trace.") from error
    spans = [span for span in map(players.span, range(loaded.count)) if span]
    recorded = max((high - low for low, high in spans), default=0)
    computing = max(players.computing, default=0)
    return Prediction(
        float(np.median(times)),
        1e-9 * recorded,
        1e-9 * computing,
        sum(played.messages),
        dict(players.left_out),
        players.processes,
        min(times),
        max(times),
    )


class _Players:
    """Makes each process, of its location or, where there are more processes, of one that does the same."""

    def __init__(self, trace: LocalTrace, scale: float, library: str, algorithms: dict[str, str], processes: int | None) -> None:
        self._trace, self._scale, self._library, self._algorithms = trace, scale, library, algorithms
        found = trace.definitions
        self._names = [base_name(found.region(k)) for k in range(len(found.paths))]
        self._outer = found.library_calls()[np.maximum(found.parents, 0)] & (found.parents >= 0)
        self._tags: dict[tuple[int, int], int] = {}
        self._begins = trace.begins
        self.processes = trace.count if processes is None else processes
        self.is_extrapolated = self.processes != trace.count
        self._rng = np.random.default_rng(1)
        self._plans: dict[int, list[tuple[int, int, int, str]]] = {}
        self.begin()
        if not np.isin(trace.transfers["kind"] & 0xFF, (SEND, RECEIVE)).all():
            raise DataError(
                f"{trace.header.folder} has one-sided operations; a prediction knows messages and collective operations."
            )
        for name in algorithms:
            if name not in FUNCTIONS.values():
                raise UsageError(f"the operation {name!r} is unknown; choose {', '.join(FUNCTIONS.values())}.")
        self._rows = [self._transfers(k) for k in range(trace.count)]
        self._sizes = [dict(zip(*(one.tolist() for one in sizes), strict=True)) for sizes in trace.sizes]
        begun = {int(done): int(call) for call, done in zip(*trace.collectives.values(), strict=True)}
        self._begun_by = begun
        if self.is_extrapolated:
            self._require_regular()

    def begin(self) -> None:
        """Forget what was played."""
        self.left_out: Counter[str] = Counter()
        self.computing = [0.0] * self.processes

    def _like(self, k: int) -> int:
        """Return the location that does what a process does."""
        if not self.is_extrapolated:
            return k
        return 0 if k == 0 else self._trace.count - 1 if k == self.processes - 1 else 1

    def _require_regular(self) -> None:
        """Raise DataError if processes in the middle do not all do the same, so that nobody knows what others would do."""
        n, folder = self._trace.count, self._trace.header.folder
        if self.processes < n or n < 4:
            raise UsageError(f"{self.processes} processes cannot be told of {n} in {folder}; record 4 or more, and name more.")
        scopes = np.unique(self._trace.calls["scope"])
        if any(self._trace.definitions.scopes[k].members.tolist() != list(range(n)) for k in scopes[scopes >= 0].tolist()):
            raise DataError(f"{folder} has communicators that lack processes, and nobody knows those of more processes.")
        known = [self._does(k) for k in range(1, n - 1)]
        for k, one in enumerate(known[1:], 2):
            if one != known[0]:
                pairs = enumerate(zip(one, known[0], strict=False))
                at = next((i for i, (mine, first) in pairs if mine != first), min(len(one), len(known[0])))
                raise DataError(
                    f"{folder}: call {at} of location {k} is not that of location 1, so nobody knows what more processes would "
                    "do; all but the first and the last must do the same."
                )

    def _does(self, k: int) -> list[tuple[object, ...]]:
        """Return what each call of a location does, with partners by their distance."""
        calls, rows, begun = self._trace.calls, self._trace.transfers, self._rows[k][0]
        found: list[tuple[object, ...]] = []
        for place, _, _, name in self._plan(k):
            of = begun.get(place, ())
            told = [(int(rows["kind"][r]), self._distance(k, r), int(rows["tag"][r]), int(rows["bytes"][r])) for r in of]
            found.append((name, told, int(calls["peer"][place]) if name in FUNCTIONS else 0, self._size(k, place)))
        return found

    def _distance(self, k: int, row: int) -> int:
        """Return how many ranks the partner of a transfer is ahead, or behind if that is nearer."""
        n = self._trace.count
        ahead = (int(self._trace.transfers["peer"][row]) - k) % n
        if 2 * ahead == n:
            raise DataError(f"a partner {ahead} ranks ahead of {n} is as many behind; record an odd number of processes.")
        return ahead if 2 * ahead < n else ahead - n

    def _plan(self, k: int) -> list[tuple[int, int, int, str]]:
        if k not in self._plans:
            self._plans[k] = list(self._calls(k))
        return self._plans[k]

    def _size(self, k: int, place: int) -> int:
        """Return what a call gives to a collective operation, in bytes; -1 if that is not known."""
        return int(self._sizes[k].get(int(self._trace.calls["number"][place]), -1))

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

    def process(self, me: int) -> Process:
        """Yield what a process does from the end of its first call to the begin of its last."""
        k = self._like(me)
        begun, ended = self._rows[k]
        numbers: dict[int, int] = {}
        names = {place: name for place, _, _, name in self._plan(k)}
        for at, (place, _, _, name) in enumerate(self._plan(k)):
            if at > 0 and (gap := self._gap(k, at)) > 0:
                self.computing[me] += self._scale * gap
                yield Compute(round(1000 * self._scale * gap))
            for row in begun.get(place, ()):
                numbers[row] = yield self._begin(me, row)
            if name in FUNCTIONS:
                yield from self._collective(me, place, name)
            elif self._begun_by.get(place) in names:
                yield from self._collective(me, self._begun_by[place], _BEGUN.get(names[self._begun_by[place]], ""))
            elif name not in _BEGUN and name not in _SILENT and not begun.get(place) and self._trace.calls["scope"][place] >= 0:
                self.left_out[name] += place not in ended
            waits = tuple(numbers[row] for row in ended.get(place, ()) if row in numbers)
            if waits:
                yield Wait(waits)

    def _gap(self, k: int, at: int) -> int:
        """Return how long is computed before a call of a location, or before that of one that does the same."""
        if self.is_extrapolated and 0 < k < self._trace.count - 1:
            k = int(self._rng.integers(1, self._trace.count - 1))
        plan = self._plan(k)
        return plan[at][1] - plan[at - 1][2]

    def _begin(self, me: int, row: int) -> Send | Receive:
        rows = self._trace.transfers
        scope, peer, kind = int(rows["scope"][row]), int(rows["peer"][row]), int(rows["kind"][row])
        if self.is_extrapolated:
            other = (me + self._distance(self._like(me), row)) % self.processes
        else:
            other = int(self._trace.definitions.scopes[scope].members[peer])
        tag = self._tags.setdefault((scope, int(rows["tag"][row])), len(self._tags) + 1)
        if kind & 0xFF == RECEIVE:
            return Receive(other, tag)
        return Send(other, int(rows["bytes"][row]), "synchronous" if kind & SYNCHRONOUS else "", tag)

    def _collective(self, me: int, place: int, name: str) -> Process:
        """Yield the messages of a collective operation, with the ranks and the tag of its communicator."""
        calls = self._trace.calls
        scope, root = int(calls["scope"][place]), max(int(calls["peer"][place]), 0)
        n_bytes = self._size(self._like(me), place)
        if scope < 0 or name not in FUNCTIONS or (n_bytes < 0 and name != "MPI_Barrier"):
            self.left_out[name or "collective operations that begin and do not wait"] += 1
            return
        members = range(self.processes) if self.is_extrapolated else self._trace.definitions.scopes[scope].members.tolist()
        n_bytes, P = max(n_bytes, 0), len(members)
        if self.is_extrapolated and root == self._trace.count - 1:
            root = P - 1
        tag = self._tags.setdefault((scope, -1), len(self._tags) + 1)
        own = (members.index(me) - root) % P
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
