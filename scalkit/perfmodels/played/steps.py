"""What schedules are made of: one message, an exchange, many at once; and numbers of processes that are no power of two."""

from collections.abc import Callable

from scalkit.perfmodels.played.actions import Process, Receive, Send, Wait

Program = Callable[[int, int, int], Process]
"""What process `me` of `P` does with `S` bytes."""

Table = dict[tuple[str, str], Program]
"""The programs of an operation, by library and algorithm."""

ITEM = 8
"""Bytes of what is reduced."""

SEGMENT = 8192
"""Bytes of the parts of a pipeline."""


def send(to: int, n: int) -> Process:
    number = yield Send(to, n)
    yield Wait((number,))


def receive(source: int) -> Process:
    number = yield Receive(source)
    yield Wait((number,))


def exchange(to: int, n: int, source: int) -> Process:
    """Send to one process while receiving from another."""
    one = yield Receive(source)
    other = yield Send(to, n)
    yield Wait((one, other))


def many(sends: list[tuple[int, int]], sources: list[int]) -> Process:
    numbers = []
    for source in sources:
        numbers.append((yield Receive(source)))
    for to, n in sends:
        numbers.append((yield Send(to, n)))
    yield Wait(tuple(numbers))


def power_below(P: int) -> int:
    return 1 << (P.bit_length() - 1)


def blocks_of(n: int, parts: int) -> list[int]:
    return [n // parts + (k < n % parts) for k in range(parts)]


def real(new: int, rest: int, odd: int) -> int:
    return 2 * new + odd if new < rest else new + rest
