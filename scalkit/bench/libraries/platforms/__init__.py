"""Machines to simulate: a platform file of SimGrid, its hosts, and what each message costs its processor."""

import hashlib
import random
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from scalkit.errors import UsageError
from scalkit.support.schema_errors import hint

__all__ = ["Platform", "load_platform", "platform_names"]

_FOLDER = Path(__file__).resolve().parent
_LARGEST_B = 16 * 2**20
_MOST_HOSTS = 100_000
_OVERHEAD_KEYS = {"send": "os", "receive": "or", "isend": "ois"}
_OVERHEADS_S = {"send": 3e-7, "receive": 3e-7, "isend": 3e-7}


@dataclass(frozen=True)
class Platform:
    """A machine that SimGrid simulates.

    `file`: in SimGrid's XML.
    `sha256`: of the file.
    `hosts`: names of its hosts, in the order of the file.
    `cores`: of the host that has fewest.
    `overheads_s` in s: for ``send``, ``receive`` and ``isend``: what the processor pays for each message; without
    those that the file itself sets in its ``<config>``.
    `scatter_seed`: of the random order in which hosts are filled in the first run, as a batch system hands out what
    is free; each further run has one of its own. None fills them in the order of the file.
    """

    name: str
    description: str
    file: Path
    sha256: str
    hosts: tuple[str, ...] = field(repr=False)
    cores: int
    overheads_s: Mapping[str, float]
    scatter_seed: int | None = None

    def places(self, per_node: int) -> tuple[str, ...]:
        """Return the host of each process: `per_node` on the first host, then on the next, as many as there is room for.

        Raises UsageError if a host has fewer cores.
        """
        if not 1 <= per_node <= self.cores:
            raise UsageError(
                f"--per-node {per_node}: the hosts of {self.name} have {self.cores} cores; choose from 1 to {self.cores}."
            )
        hosts = list(self.hosts)
        if self.scatter_seed is not None:
            random.Random(self.scatter_seed).shuffle(hosts)
        return tuple(host for host in hosts for _ in range(per_node))

    def require_room(self, processes: int, per_node: int) -> None:
        """Return nothing if so many processes have a place. Raises UsageError if not; the text says what is possible."""
        room = len(self.places(per_node))
        if processes <= room:
            return
        more = f", or --per-node up to {self.cores}" if per_node < self.cores else ""
        raise UsageError(
            f"-n {processes}: {self.name} has {len(self.hosts)} hosts, which is room for {room} processes at {per_node} a host; "
            f"use at most {room}{more}."
        )


def platform_names() -> tuple[str, ...]:
    """Return the names of the platforms that scalkit brings."""
    return tuple(_bundled())


def load_platform(name: str) -> Platform:
    """Return a platform that scalkit brings, or that of a file of SimGrid.

    `name`: such as ``"juropa"``, or the path of an XML file.
    Raises UsageError if there is none, or the file is broken.
    """
    table = _bundled().get(name)
    if table is not None:
        return _of(name, table["description"], _FOLDER / table["file"], table["overheads_s"], table.get("scatter_seed"))
    path = Path(name)
    if path.suffix.lower() == ".xml" or "/" in name:
        return _of(path.stem, f"the platform file {name}", path, _OVERHEADS_S, None)
    known = platform_names()
    raise UsageError(
        f"--platform {name!r} is unknown{hint(name, known)}; choose from {', '.join(known)}, or name a platform "
        "file (.xml) of SimGrid."
    )


@cache
def _bundled() -> dict[str, dict[str, Any]]:
    return tomllib.loads((_FOLDER / "platforms.toml").read_text(encoding="utf-8"))


def _of(name: str, description: str, file: Path, overheads_s: Mapping[str, float], scatter_seed: int | None) -> Platform:
    try:
        if file.stat().st_size > _LARGEST_B:
            raise UsageError(f"the platform file {file} is larger than {_LARGEST_B >> 20} MiB; name a smaller one.")
        content = file.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read the platform file {file}: {reason}; check --platform.") from error
    try:
        root = ElementTree.fromstring(content)
        hosts = dict(_hosts(root))
    except (ElementTree.ParseError, ValueError) as error:
        raise UsageError(
            f"the platform file {file} is broken: {error}; mend it, or choose from {', '.join(platform_names())}."
        ) from error
    if not hosts:
        raise UsageError(f"the platform file {file} has no <host> and no <cluster>; name one that has.")
    digest = hashlib.sha256(content).hexdigest()
    named = {prop.get("id") for prop in root.findall("./config/prop")}
    overheads = {key: value for key, value in overheads_s.items() if f"smpi/{_OVERHEAD_KEYS[key]}" not in named}
    return Platform(name, description, file.resolve(), digest, tuple(hosts), min(hosts.values()), overheads, scatter_seed)


def _hosts(root: ElementTree.Element) -> Iterator[tuple[str, int]]:
    """Yield name and cores of each host, those of clusters among them."""
    if root.tag != "platform":
        raise ValueError(f"it begins with <{root.tag}> instead of <platform>")
    n = 0
    for element in root.iter():
        if element.tag == "host":
            names = [_attribute(element, "id")]
        elif element.tag == "cluster":
            prefix, suffix = element.get("prefix", ""), element.get("suffix", "")
            names = [f"{prefix}{i}{suffix}" for i in _numbers(_attribute(element, "radical"))]
        else:
            continue
        n += len(names)
        if n > _MOST_HOSTS:
            raise ValueError(f"it has more than {_MOST_HOSTS} hosts")
        cores = element.get("core", "1")
        if not re.fullmatch(r"[1-9][0-9]{0,5}", cores):
            raise ValueError(f"core={cores!r} of {names[0]} is no number of cores")
        yield from ((name, int(cores)) for name in names)


def _attribute(element: ElementTree.Element, name: str) -> str:
    value = element.get(name)
    if not value:
        raise ValueError(f"a <{element.tag}> has no {name}=")
    return value


def _numbers(radical: str) -> Iterator[int]:
    for part in radical.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,9})(?:-([0-9]{1,9}))?\s*", part)
        if match is None or (match[2] and int(match[2]) - int(match[1]) > _MOST_HOSTS):
            raise ValueError(f"radical={radical!r:.60} does not number its hosts, as in 0-1023")
        yield from range(int(match[1]), int(match[2] or match[1]) + 1)
