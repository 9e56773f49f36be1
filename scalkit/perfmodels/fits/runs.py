"""The run files of messages that `scalkit model fit` measures, as tables of times by size, stride, queue or peer."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scalkit.errors import DataError
from scalkit.measure.records import Record
from scalkit.measure.runfile import AGAIN, records_of
from scalkit.measure.virtual_time import clock_attributes, virtual_of
from scalkit.support.arguments import path_of
from scalkit.support.arrays import Floats
from scalkit.support.files import require_own_files

_NS = 1e-9
_LEAST_S = 1e-10
"""A time that the clock cannot tell from nothing."""

_DETAILS = ("stride", "element", "queue", "round")


@dataclass(frozen=True)
class Trips:
    """All repetitions of one cell in one launch and pass.

    `op`: kind, as in ``microbench/p2p/kinds.def``.
    `p`, `size`, `detail`: processes, bytes, and the kind's own number (0 if it has none).
    `messages`: of a train or an exchange.
    `delay` in s: what the trip waits at one place; 0 if it does not.
    `t`, `beside`, `work` in s: times; what stands beside them is empty where the kind has none.
    `run`: name of the run file.
    """

    op: str
    p: int
    size: int
    detail: int
    messages: int
    delay: float
    t: Floats
    beside: Floats
    work: Floats
    run: str


@dataclass(frozen=True, repr=False)
class MessageRuns:
    """What a folder of message measurements holds.

    Attributes
    ----------
    folder : Path
    trips : tuple of Trips
    env : mapping
        The first record of the first file: machine, library, settings.
    record : mapping
        Of campaign.toml; empty if there is none.
    remarks : tuple of str
        Wrong data, truncated files.
    foreign_load : float
        Share of the machine that other programs used, in the median cell; 0 where nothing disturbs or nothing is known.
    """

    folder: Path
    trips: tuple[Trips, ...]
    env: Mapping[str, Any]
    record: Mapping[str, Any]
    remarks: tuple[str, ...]
    foreign_load: float = 0.0

    def __repr__(self) -> str:
        return f"MessageRuns({str(self.folder)!r}: {', '.join(self.ops) or 'nothing'})"

    @property
    def ops(self) -> tuple[str, ...]:
        """The kinds that were measured, in the order of the files."""
        return tuple(dict.fromkeys(one.op for one in self.trips))

    @property
    def is_simulated(self) -> bool:
        """Whether a simulator made the times."""
        return bool(self.env.get("simulated"))

    @property
    def virtual(self) -> Mapping[str, Any]:
        """The numbers of the machine whose virtual clock the times were read from; empty if the clock was real."""
        return virtual_of(self.env)

    @property
    def is_exact(self) -> bool:
        """Whether the times repeat: nothing disturbs them."""
        return self.is_simulated or self.virtual.get("compute") == "none"

    def table(self, op: str, by: str = "size", field: str = "t", **at: int) -> tuple[Floats, Floats]:
        """Return what a kind was measured at, ascending, and a row of repetitions for each, NaN where one is missing.

        `field`: the times, in s; what is zero on the clock is 0.1 ns.
        `**at`: only trips with this size, detail or number of processes.
        Raises DataError if the kind was not measured.
        """
        rows: dict[int, list[Floats]] = {}
        for one in self.of(op, **at):
            rows.setdefault(int(getattr(one, by)), []).append(getattr(one, field))
        if not rows:
            where = "".join(f" with {name} {value}" for name, value in at.items())
            has = ", ".join(self.ops) or "none"
            raise DataError(f"{self.folder} has no measurements of {op!r}{where}; it has {has}.")
        values = {key: np.concatenate(rows[key]) for key in sorted(rows)}
        found = np.full((len(values), max(map(len, values.values()))), np.nan)
        for k, row in enumerate(values.values()):
            found[k, : len(row)] = np.maximum(row, _LEAST_S)
        return np.array(list(values), dtype=np.float64), found

    def of(self, op: str, **at: int) -> list[Trips]:
        """Return the trips of a kind at a size, number of processes, or number of its own."""
        return [one for one in self.trips if one.op == op and all(getattr(one, key) == v for key, v in at.items())]


def read_message_runs(folder: str | Path) -> MessageRuns:
    """Return what is in a folder that `scalkit model fit` wrote.

    Parameters
    ----------
    folder : path
        With run files ``*.jsonl``, and perhaps ``campaign.toml``; or one run file.

    Raises
    ------
    DataError
        If it holds no message measurements, or a file is damaged.
    """
    place = path_of(folder, "the measurements")
    files = [place] if place.is_file() else sorted(place.glob("*.jsonl"))
    if not place.exists() or not files:
        raise DataError(f"{place} holds no run files; 'scalkit model fit --out {place}' measures them.")
    if place.is_dir():
        require_own_files(place, [file.name for file in files], hard_links=True)
    trips: list[Trips] = []
    remarks: list[str] = []
    envs: list[Mapping[str, Any]] = []
    loads: list[float] = []
    for file in files:
        try:
            records = records_of(str(file), file.read_bytes())
        except OSError as error:
            raise DataError(f"cannot read {file}: {error.strerror or error}.") from error
        envs += [one.fields for one in records if one.fields["rec"] == "env"]
        found = [one for one in records if one.fields["rec"] == "trip"]
        trips += [_trips(one, file) for one in found]
        loads += [one.number("foreign_load") for one in found if one.fields.get("foreign_load") is not None]
        if found and records[-1].fields["rec"] != "end":
            remarks.append(f"{file.name} has no end: that launch broke off.")
        wrong = [one for one in found if not one.flag("verified", True)]
        remarks += [f"{file.name}: {one.name('op')} of {one.whole('size_B')} B brought wrong data." for one in wrong]
    if not trips:
        raise DataError(f"{place} holds no times of messages; 'scalkit model fit --out FOLDER' measures them.")
    named = {str(one.get("mpi_library", "")).splitlines()[0][:60] for one in envs if one.get("mpi_library")}
    if len(named) > 1:
        raise DataError(f"{place} mixes {' and '.join(sorted(named))}; give each library a folder of its own.")
    clock_attributes([virtual_of(env) for env in envs])
    load = 0.0 if virtual_of(envs[0]) or not loads else float(np.median(loads))
    return MessageRuns(place, tuple(trips), envs[0] if envs else {}, _campaign(place), tuple(remarks), load)


def _trips(record: Record, file: Path) -> Trips:
    detail = next((name for name in _DETAILS if name in record.fields), "")
    if not (times := record.wholes("t_ns")):
        raise record.error(f"'t_ns' has no time. {AGAIN}")
    return Trips(
        *(record.name("op"), record.whole("p"), record.whole("size_B"), record.whole(detail) if detail else 0),
        messages=record.whole("messages", 1),
        delay=record.number("delay_ns", 0.0) * _NS,
        t=_seconds(times),
        beside=_seconds(record.wholes("beside_ns", [])),
        work=_seconds(record.wholes("work_ns", [])),
        run=file.stem,
    )


def _seconds(values: Any) -> Floats:
    return np.asarray(values, dtype=np.float64) * _NS


def _campaign(place: Path) -> Mapping[str, Any]:
    file = place / "campaign.toml"
    try:
        return tomllib.loads(file.read_text(encoding="utf-8")) if place.is_dir() and file.is_file() else {}
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {file}: {error}; restore it, or delete it.") from error
