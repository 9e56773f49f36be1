"""Records of programs that measure cells of a pattern: units of a master and its workers, and trips of messages."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from scalkit.measure.records import Record, pass_of
from scalkit.measure.schema import Metric
from scalkit.support.arrays import Floats

DETAILS = ("peer", "stride", "queue", "round")
"""Numbers that some kinds of trips have beside the size of their messages."""


WORKERS = "workers"
"""The parameter of a master and its workers."""

MASTER_WORKER = "sk_master_worker"
"""The program that measures them."""

UNIT_TIME = Metric("time", "s", "time for each work unit", exact=False)
SHARES = {
    metric.name: metric
    for metric in (
        Metric("master_share", "1", "share of its time that the master does not wait for workers", exact=False),
        Metric("idle_share", "1", "share of their time that workers have no unit", exact=False),
    )
}
"""What is measured beside the time; an expectation without a metric is not about them."""


@dataclass(frozen=True)
class Units:
    """One pass of one variant of a master and its workers; times in ns, in order of execution.

    `op`: variant, and work on a unit: ``"Master_worker[Waitany:100us]"``; without work it is communication alone.
    `p`, `size_bytes`, `result_bytes`, `work_ns`, `number`: processes; bytes of a unit and of its result; work on a unit
    as asked for; pass.
    `units`: of a repetition, of all workers together.
    `t_ns`: of each repetition: first unit to last result, without any further look at the clock.
    `watched_ns`, `collect_ns`, `busy_ns`, `worked_ns`: of a second run of each repetition in which the clock is read
    around every call: the whole; what of it the master was inside the collecting calls; what the workers, together, had
    a unit, and what they worked on it.
    `ready_ns`: of collecting calls whose result had been there for long.
    `foreign_load`: NaN if unknown.
    """

    op: str
    p: int
    size_bytes: int
    result_bytes: int
    work_ns: int
    number: int
    units: int
    t_ns: tuple[int, ...]
    watched_ns: tuple[int, ...]
    collect_ns: tuple[int, ...]
    busy_ns: tuple[int, ...]
    worked_ns: tuple[int, ...]
    ready_ns: tuple[int, ...]
    verified: bool
    foreign_load: float

    @classmethod
    def of(cls, record: Record) -> "Units":
        """Return the pass, after a check that all lists have a value for each repetition."""
        t_ns, watched_ns = record.wholes("t_ns", least=1), record.wholes("watched_ns", least=1)
        lists: dict[str, Any] = {name: record.wholes(name) for name in ("collect_ns", "busy_ns", "worked_ns")}
        for name, values in {"watched_ns": watched_ns, **lists}.items():
            if len(values) != len(t_ns):
                raise record.error(f"{name} has {len(values)} values, and t_ns {len(t_ns)}; restore the file or measure again.")
        return cls(
            **pass_of(record, t_ns) | {"p": record.whole("p", least=2)},
            result_bytes=record.whole("result_B", 0),
            work_ns=record.whole("work_ns", 0),
            units=record.whole("units", least=1),
            watched_ns=watched_ns,
            ready_ns=record.wholes("ready_ns", []),
            **lists,
        )

    @property
    def time(self) -> Floats:
        """Time for each work unit in s, of every repetition."""
        return np.asarray(self.t_ns, dtype=np.float64) * 1e-9 / self.units

    @property
    def master_share(self) -> Floats:
        """Share of its time that the master does not wait for workers, of every repetition, from 0 to 1.

        The master waits while it is inside a collecting call, but for the time that such a call needs when its result is
        there already: the shortest of `ready_ns`, once for each unit.
        """
        watched, collect = (np.asarray(one, dtype=np.float64) for one in (self.watched_ns, self.collect_ns))
        handled = self.units * float(min(self.ready_ns, default=0))
        share: Floats = 1.0 - np.clip(collect - handled, 0.0, watched) / watched
        return share

    @property
    def idle_share(self) -> Floats:
        """Share of the workers' time in which they have no unit, of every repetition, from 0 to 1."""
        watched, busy = (np.asarray(one, dtype=np.float64) for one in (self.watched_ns, self.busy_ns))
        share: Floats = 1.0 - np.clip(busy / (watched * (self.p - 1)), 0.0, 1.0)
        return share


@dataclass(frozen=True)
class Trip:
    """One pass of one kind of trip of messages, with its number beside the size, if it has one; times in ns."""

    op: str
    p: int
    size_bytes: int
    detail: str
    value: int
    number: int
    t_ns: tuple[int, ...]
    verified: bool
    foreign_load: float

    @classmethod
    def of(cls, record: Record) -> "Trip":
        """Return the pass."""
        detail = next((name for name in DETAILS if name in record.fields), "")
        value = record.whole(detail) if detail else 0
        return cls(**pass_of(record, record.wholes("t_ns")), detail=detail, value=value)
