"""What a process does that is played.

A process is a generator. It yields ``Send(to, bytes)`` and ``Receive(source)``, each of which gives it a number,
``Wait(numbers)``, which lasts until all of these are done, and ``WaitAny(numbers)``, which lasts until one of them is done and
gives its number; reading happens while it waits. ``Compute(ps)`` lasts that long, and nothing is read meanwhile. Messages
from one process with the same tag are matched in the order in which they were sent.
"""

from collections.abc import Generator
from typing import Literal, NamedTuple

__all__ = ["Compute", "Process", "Receive", "Send", "Wait", "WaitAny"]


class Send(NamedTuple):
    """Begins to send; done when the buffer is free."""

    to: int
    n_bytes: int
    how: Literal["", "synchronous", "packed"] = ""
    tag: int = 0


class Receive(NamedTuple):
    """Begins to receive."""

    source: int
    tag: int = 0


class Wait(NamedTuple):
    """Lasts until all are done."""

    numbers: tuple[int, ...]


class WaitAny(NamedTuple):
    """Lasts until one is done; gives the first that is. A number of 0 is none."""

    numbers: tuple[int, ...]


class Compute(NamedTuple):
    """Lasts so many ps."""

    time: int


Process = Generator["Send | Receive | Wait | WaitAny | Compute", int, None]
