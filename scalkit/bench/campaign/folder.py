"""A campaign's folder: campaign.toml, one run file for each launch that is done; the launches in their random order."""

import os
import random
import secrets
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from scalkit import __version__
from scalkit.bench.arguments import Arguments
from scalkit.bench.limits import CampaignArguments, changed
from scalkit.bench.provenance import utc_now
from scalkit.errors import LaunchError, UsageError
from scalkit.support.files import whole_file
from scalkit.support.text import shortened
from scalkit.support.toml.writer import to_toml

MEMORY_RUNS = 3
"""Memory of objects repeats exactly; three launches show that it does."""

UNLIMITED_S = 600.0
"""Budget of one launch where the campaign has none."""

_T = TypeVar("_T")
STEMS = {"collectives": "time", "functions": "function"} | {
    kind: kind for kind in ("memory", "messages", "bisection", "neighbourhood", "master-worker", "program")
}


@dataclass(frozen=True)
class Launch:
    """One start of one program.

    Attributes
    ----------
    kind : str
    p : int
        Processes.
    run : int
    """

    kind: str
    p: int
    run: int

    @property
    def name(self) -> str:
        """Name of its run file without suffix."""
        return f"{STEMS[self.kind]}-p{self.p:04d}-r{self.run:02d}"

    @property
    def weight(self) -> float:
        """Time that it needs, relative to others."""
        return 4.0 + self.p

    @property
    def start_s(self) -> float:
        """Time in s that starting and ending this many processes takes, about."""
        return 0.2 + 0.05 * self.p

    @property
    def least_s(self) -> float:
        """Budget in s below which it is not worth starting; memory needs all of its objects."""
        return 5.0 + self.p / 2 if self.kind == "memory" else 1.0


def make_plan(arguments: Arguments) -> tuple[Launch, ...]:
    """Return all launches: run after run, within each in an order drawn from the seed."""

    def launches(run: int) -> list[Launch]:
        kinds = [kind for kind in arguments.kinds if kind != "memory" or run < MEMORY_RUNS]
        return [Launch(kind, p, run) for kind in kinds for p in arguments.counts_of(kind)]

    return tuple(drawn_orders(arguments.seed, map(launches, range(arguments.runs))))


def drawn_orders(seed: int, runs: Iterable[Iterable[_T]]) -> Iterator[_T]:
    """Yield what each run consists of, run after run, within each in an order drawn from the seed."""
    generator = random.Random(seed)
    for run in runs:
        launches = list(run)
        generator.shuffle(launches)
        yield from launches


def share(launch: Launch, waiting: Sequence[Launch], left_s: float | None) -> float:
    """Return the budget in s of the next launch.

    `waiting`: all that are still to do, `launch` among them.
    `left_s` in s: what is left for all of them; None without a limit.
    """
    if left_s is None:
        return UNLIMITED_S
    part = left_s * launch.weight / sum(other.weight for other in waiting)
    return max(launch.least_s, part - launch.start_s)


def least_time(plan: Sequence[Launch]) -> float:
    """Return the time in s below which a budget for these launches cannot be kept."""
    return sum(launch.start_s + launch.least_s for launch in plan)


@contextmanager
def locked_folder(path: Path, busy: str) -> Iterator[int]:
    """Make a folder, hold it against other processes of scalkit until the context ends, and yield the lock.

    The lock is a file descriptor. Launches inherit it, so that ranks which outlive a killed scalkit still hold it.

    `busy`: what to say if another process holds it.
    Raises UsageError if it cannot be made, another process holds it, or this system has no such locks.
    """
    try:
        import fcntl
    except ModuleNotFoundError:  # on Windows, and in a browser
        raise UsageError(f"cannot lock the folder {path}: this system has no fcntl; measure on Linux.") from None
    try:
        path.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise UsageError(f"cannot use the folder {path}: {error.strerror or error}; choose another.") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(busy) from None
        yield handle
    finally:
        os.close(handle)


CAMPAIGN = "campaign.toml"
SCHEMA = 1


@dataclass(frozen=True)
class Folder:
    """A folder that holds, or will hold, one campaign."""

    path: Path

    @property
    def record(self) -> dict[str, Any]:
        """The content of campaign.toml; empty if there is none.

        Raises UsageError if it cannot be read or is of a newer schema.
        """
        path = self.path / CAMPAIGN
        if not path.exists():
            return {}
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read {path}: {error}; restore it, or measure into another folder.") from error
        schema = content.get("schema")
        if not isinstance(schema, int) or schema > SCHEMA:
            raise UsageError(f"{path} has the schema {schema!r}; this scalkit knows up to {SCHEMA}: update it.")
        return content

    def require_usable(self) -> None:
        """Return nothing if this can become, or already is, the folder of a campaign.

        Raises UsageError if it is no folder, has other files but no campaign.toml, cannot be listed, or cannot have
        such a name.
        """
        try:
            self.path.stat()
            if not self.path.is_dir():
                raise UsageError(f"--out {self.path} is a file; name a folder.")
            half = f".{CAMPAIGN}."  # of a command that was killed while it wrote its first file
            others = (one for one in self.path.iterdir() if not one.name.startswith(half))
            if not (self.path / CAMPAIGN).exists() and any(others):
                raise UsageError(f"--out {self.path} has other files but no {CAMPAIGN}; name a new folder.")
        except (FileNotFoundError, NotADirectoryError):
            return
        except UsageError:
            raise
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UsageError(f"--out {_shown(ascii(str(self.path)))} cannot be used: {reason}; name another.") from error

    def require_same(self, arguments: CampaignArguments, facts: Mapping[str, Mapping[str, Any]]) -> None:
        """Return nothing if the campaign that is there was begun with the same arguments and under the same conditions.

        Raises UsageError, naming what differs.
        """
        if difference := self.difference(arguments, facts):
            raise UsageError(difference)

    def difference(self, arguments: CampaignArguments, facts: Mapping[str, Mapping[str, Any]]) -> str:
        """Return what differs in the campaign that is there, and how to go on; empty if nothing does.

        `facts`: the tables of a new campaign.toml.
        """
        record = self.record
        if not record:
            return ""
        another = "measure into another folder, or rename this one."
        table, own = record.get("arguments", {}), arguments.as_table()
        if names := arguments.differing(table):
            shown = "; ".join(_change(name, table.get(name), own.get(name)) for name in names)
            return f"{self.path} holds a campaign with other arguments: {shown}. Repeat its arguments to resume it, {another}"
        if shown := "; ".join(other_conditions(record, facts)):
            return f"{self.path} holds a campaign begun under other conditions: {shown}. Restore them to resume it, {another}"
        return ""

    def set_aside(self) -> Path:
        """Rename the folder to the first of ``NAME.1``, ``NAME.2``, ... that is free, and return that path.

        Raises UsageError if another process writes to it, or it cannot be renamed.
        """
        number = 1
        while (other := self.path.with_name(f"{self.path.name}.{number}")).exists():
            number += 1
        with self.locked():
            try:
                self.path.rename(other)
            except OSError as error:
                raise UsageError(f"cannot rename {self.path} to {other}: {error.strerror or error}.") from error
        return other

    def finished(self, launch: Launch) -> Path:
        """Return the path of a launch's run file when it is complete."""
        return self.path / f"{launch.name}.jsonl"

    def part(self, launch: Launch) -> Path:
        """Return the path of a launch's run file while it is written, or where it broke off."""
        return self.path / f"{launch.name}.jsonl.part"

    def missing(self, plan: Sequence[Launch]) -> list[Launch]:
        """Return the launches whose run file is not there, in the order of the plan."""
        return [launch for launch in plan if not self.finished(launch).is_file()]

    @contextmanager
    def locked(self) -> Iterator[int]:
        """Make the folder, hold it until the context ends, and yield the lock: see `scalkit.bench.campaign.folder.locked_folder`.

        Raises UsageError if it cannot be made, or another process holds it.
        """
        busy = f"another 'scalkit measure', or a launch that it left behind, is writing to {self.path}; wait for its end."
        with locked_folder(self.path, busy) as handle:
            yield handle

    def write(self, record: Mapping[str, Any]) -> None:
        """Write campaign.toml."""
        write_whole(self.path / CAMPAIGN, to_toml(record))


def new_record(arguments: CampaignArguments, plan: Iterable[str], identity: str = "") -> dict[str, Any]:
    """Return the beginning of a campaign.toml: `plan` are the names of its launches, an identity is drawn if none is given."""
    return {
        "schema": SCHEMA,
        "id": identity or secrets.token_hex(4),
        "started": utc_now(),
        "arguments": arguments.as_table(),
        "scalkit": __version__,
        "plan": list(plan),
        "remarks": [],
    }


def write_whole(path: Path, text: str) -> None:
    """Write a file that appears only when it is complete.

    Raises LaunchError if the disk is full or the folder cannot be written to.
    """
    with whole_file(path, LaunchError, "make room or choose another folder") as part:
        part.write_text(text, encoding="utf-8")


def other_conditions(record: Mapping[str, Any], facts: Mapping[str, Any], *, same_machine: bool = True) -> list[str]:
    """Return in words the conditions that differ: library, machine of a simulation, programs, variables, host and cores.

    `record`: a campaign.toml.
    `facts`: the tables of another one.
    `same_machine`: whether host and cores count.
    """
    then, now = (dict(_conditions(side, same_machine)) for side in (record, facts))
    return [_change(name, then.get(name), now.get(name)) for name in changed(now, then)]


def _conditions(side: Mapping[str, Any], same_machine: bool) -> Iterator[tuple[str, Any]]:
    """Yield the name, for people, and the value of each condition under which a campaign was begun."""
    yield "MPI library", side.get("mpi", {}).get("library")
    yield "hash of the functions", side.get("functions", {}).get("sha256")
    yield "hash of the microbenchmarks", side.get("sources", {}).get("sha256")
    for kind, machine in (("simulated", side.get("simulation", {})), ("virtual", side.get("virtual", {}))):
        for name, value in _leaves(machine):
            if name != "configuration":  # which repeats the others
                yield f"{name} of the {kind} machine", value
    yield from (*side.get("environment", {}).items(), *side.get("settings", {}).items())
    if same_machine:
        yield from ((name, side.get("machine", {}).get(name)) for name in ("host", "cores"))


def _change(name: str, then: object, now: object) -> str:
    return f"{name} was {_shown(then)}, is now {_shown(now)}"


def _leaves(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        yield from _leaves(value) if isinstance(value, Mapping) else [(name, value)]


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value)) or "empty"
    text = "absent" if value is None else str(value).strip().splitlines()[0] if str(value).strip() else "empty"
    return shortened(text)
