"""The algorithm of an operation from its messages: who sent what to whom is compared with what each algorithm sends."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from scalkit.errors import DataError, UsageError
from scalkit.perfmodels.collectives.identify import OTHER
from scalkit.perfmodels.formulas.quantities import format_value
from scalkit.perfmodels.played import SCHEDULES, WIRES, Machine, Played, play
from scalkit.support.arguments import require_kind
from scalkit.support.text import brief, counted

Row = tuple[int, int, int, int, int]
"""Source, receiver, bytes on the wire, when it left and when it arrived, in ps since the operation began."""

Match = Literal["to the nanosecond", "message by message", "by its edges", ""]
"""How a recorded operation agrees with an algorithm: in all times; in all messages and the order in which each process sends
them; in who sends how often to whom, with other bytes, headers or segments; or not at all."""

_EQUAL_PS = 2000
"""Times are whole nanoseconds, of which a process reads two, and the layer of virtual time counts picoseconds."""

_LARGE_B, _PROTOCOL_B = 4096, 128
"""Where the largest message has more than the first, those with less than the second are requests, answers and ends."""

_SAID: dict[Match, str] = {
    "to the nanosecond": "each message is sent and arrives when that algorithm's does",
    "message by message": "it sends the same messages in the same order, at other times",
    "by its edges": "the same processes send to the same ones, in other portions or with other headers",
}


class Plays:
    """The algorithms of a library, played on one machine.

    Parameters
    ----------
    library : str
        A key of `WIRES`.
    machine : Machine

    Raises
    ------
    UsageError
        If the messages of this library are not known.
    """

    def __init__(self, library: str, machine: Machine) -> None:
        if library not in WIRES:
            raise UsageError(f"the messages of {library!r:.40} are not known; those of {', '.join(WIRES)} are.")
        self.library, self.machine = library, machine

    def names(self, operation: str) -> tuple[str, ...]:
        """Return the algorithms of an operation."""
        return tuple(name for library, of, name in SCHEDULES if (library, of) == (self.library, operation))

    def of(self, operation: str, name: str, P: int, S: int) -> Played:
        """Return the messages and times of one algorithm with P processes and S bytes."""
        program = SCHEDULES[self.library, operation, name]
        return play(program, P, S, WIRES[self.library], self.machine)


@dataclass(frozen=True)
class Flow:
    """The messages of one call of an operation, and the algorithm that sends them.

    Attributes
    ----------
    function, operation, library : str
    P : int
        Processes.
    S : int, in B
    messages : tuple of (source, receiver, bytes, sent, arrival)
        Bytes with the headers of the library; times in ps since the operation began.
    names : tuple of str
        Algorithms that agree best, all of them; ``("other",)`` if none does.
    match : str
        How they agree.
    """

    function: str
    operation: str
    library: str
    P: int
    S: int
    messages: tuple[Row, ...]
    names: tuple[str, ...]
    match: Match

    @cached_property
    def rounds(self) -> tuple[int, ...]:
        """The round of each message, 0 for those of the protocol: after all that its sender has sent, and got, before, and after
        all that its receiver was sent before. So in a round a process sends one message, and gets one, at most.
        """
        return _rounds(self.messages, self.P)

    @property
    def n_rounds(self) -> int:
        """How many rounds there are."""
        return max(self.rounds, default=0)

    @property
    def title(self) -> str:
        """The function and its setting."""
        size = "" if self.operation == "barrier" else f" of {format_value(self.S, 'B')}"
        return f"{self.function}{size} with {self.P} processes"

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        n_data = sum(number > 0 for number in self.rounds)
        protocol = len(self.messages) - n_data
        beside = f" and {protocol} of the protocol" if protocol else ""
        sent = f"{counted(n_data, 'message')}{beside} in {counted(self.n_rounds, 'round')}"
        if not self.match:
            return f"{self.title}: no algorithm that scalkit knows of; {sent}."
        return f"{self.title}: {' or '.join(self.names)}, {sent}; {_SAID[self.match]}."


def name_messages(
    function: str, operation: str, P: int, S: int, messages: Iterable[Sequence[int]], plays: Plays | None = None, *, root: int = 0
) -> Flow:
    """Return which algorithm sends these messages.

    Parameters
    ----------
    function, operation : str
        As in ``"MPI_Bcast"`` and ``"broadcast"``.
    P, S : int, S in B
    messages : iterable of (source, receiver, bytes, sent, arrival)
        Of one call, times in ps since it began.
    plays : Plays, optional
        The library and the machine; without them only who sends to whom is compared, with the algorithms of all libraries.
    root : int
        Of a rooted operation: ranks are counted from it.

    Raises
    ------
    DataError
        If there is no message.
    """
    require_kind(plays, Plays | None, "the library", "give a Plays")
    try:
        rows = tuple((int(s - root) % P, int(t - root) % P, int(n), int(b), int(a)) for s, t, n, b, a in messages)
    except (TypeError, ValueError) as error:
        raise UsageError(f"the messages of {brief(P)} processes are {brief(messages)}; give five numbers each.") from error
    if not rows:
        raise DataError(f"{function} with {P} processes sent no message; there is nothing to name.")
    library = plays.library if plays else ""
    size = 0 if operation == "barrier" else S
    known = {name: plays.of(operation, name, P, size) for name in plays.names(operation)} if plays else {}
    found: dict[str, Match] = {name: _agreement(rows, one) for name, one in known.items()}
    for match in ("to the nanosecond", "message by message"):
        names = tuple(name for name, agrees in found.items() if agrees == match)
        if names:
            return Flow(function, operation, library, P, S, rows, names, match)
    names = _alike(operation, P, size, rows)
    return Flow(function, operation, library, P, S, rows, names or (OTHER,), "by its edges" if names else "")


def _agreement(rows: Sequence[Row], played: Played) -> Match:
    mine, theirs = sorted(rows), sorted(played.wire)
    if [one[:3] for one in mine] != [one[:3] for one in theirs]:
        return ""
    gaps = (abs(a - b) for one, other in zip(mine, theirs, strict=True) for a, b in zip(one[3:], other[3:], strict=True))
    if max(gaps) <= _EQUAL_PS:
        return "to the nanosecond"
    return "message by message" if _orders(rows) == _orders(played.wire) else ""


def _orders(rows: Iterable[Row]) -> dict[int, list[tuple[int, int]]]:
    """Return the receivers and bytes of each process in the order in which it sends."""
    found: dict[int, list[tuple[int, int]]] = {}
    for source, to, n_bytes, _, _ in sorted(rows, key=lambda one: one[3]):
        found.setdefault(source, []).append((to, n_bytes))
    return found


def _data(rows: Sequence[Row]) -> list[bool]:
    """Return which messages carry data, and are none of the protocol of large ones."""
    is_large = max(one[2] for one in rows) > _LARGE_B
    return [not is_large or one[2] >= _PROTOCOL_B for one in rows]


def _alike(operation: str, P: int, S: int, rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the algorithms in which the same processes send to the same ones, as often if that is so for any."""
    edges = Counter(one[:2] for one, is_data in zip(rows, _data(rows), strict=True) if is_data)
    machine = Machine(1_000_000, 300_000, 100_000, 80.0)  # only the edges count
    as_often, same = [], []
    for library, of, name in SCHEDULES:
        if of != operation:
            continue
        played = play(SCHEDULES[library, of, name], P, S, WIRES[library], machine)
        theirs = Counter((source, to) for source, sends in enumerate(played.sends) for to, n in sends if n or not S)
        if theirs == edges:
            as_often.append(name)
        elif set(theirs) == set(edges):
            same.append(name)
    return tuple(dict.fromkeys(as_often or same))


def _rounds(rows: Sequence[Row], P: int) -> tuple[int, ...]:
    found = [0] * len(rows)
    last, taken, coming = [0] * P, [0] * P, sorted(range(len(rows)), key=lambda k: rows[k][4])
    is_data, arrived = _data(rows), 0
    for k in sorted(range(len(rows)), key=lambda k: rows[k][3]):
        while rows[coming[arrived]][4] <= rows[k][3]:
            other = coming[arrived]
            last[rows[other][1]] = max(last[rows[other][1]], found[other])
            arrived += 1
        if is_data[k]:
            source, to = rows[k][:2]
            last[source] = taken[to] = found[k] = 1 + max(last[source], taken[to])
    return tuple(found)
