"""The machine of virtual time as numbers: latency, overhead and gaps of LogGP, between nodes and perhaps inside one."""

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scalkit.errors import UsageError
from scalkit.support.units import SECONDS, split_quantity

NETWORKS = ("cluster", "ethernet", "fat-tree", "dragonfly")
"""Names of the networks that come with scalkit."""

_FOLDER = Path(__file__).with_name("networks")
_NAMES = ("L", "o", "g", "G")
_LEAST_L_S = 1e-9
"""Nobody can be reached sooner than this: the layer lets a process run on so far, and its clock counts whole nanoseconds."""

_MOST_S = 1e3
"""More than this is a mistake in the unit; the clock of the layer would overflow after some 10^7 messages."""

_LARGEST_B = 1_000_000


@dataclass(frozen=True)
class Network:
    """Numbers of LogGP: a message of k bytes takes ``L + 2 o + k G``, the next one leaves after ``max(o, g + k G)``.

    `name`: what a user called it.
    `L`, `o`, `g` in s: latency, at least 1 ns; time of the processor for each message, at each side; gap between
    messages.
    `G` in s/B: gap between bytes.
    `inside`: the same inside a node.
    `per_node`: processes on a node; None gives each a node of its own.
    `hop` in s: how much longer L is for each switch after the first one.
    `tree`, `dragonfly`: nodes, or switches, below a switch of a fat tree; routers of a group, and nodes on a router. Links are
    not shared: only the way is longer.
    Raises UsageError if a number is negative, not finite or unbelievably large, L is shorter than 1 ns, or nothing is
    known of the inside of a node with several processes.
    """

    name: str
    L: float
    o: float
    g: float
    G: float
    inside: "Network | None" = None
    per_node: int | None = None
    hop: float = 0.0
    tree: int | None = None
    dragonfly: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if bool(self.hop) != (self.tree is not None or self.dragonfly is not None) or (self.tree and self.dragonfly):
            raise UsageError(f"the network {self.name!r}: hop goes with tree or dragonfly, and with one of them.")
        if not all(1 <= one <= 4096 for one in self.dragonfly or (2,)) or not 2 <= (self.tree or 2) <= 4096:
            raise UsageError(f"the network {self.name!r}: a switch has 2 to 4096 below it, a router 1 to 4096 beside it.")
        for name in (*_NAMES, "hop"):
            value, unit = getattr(self, name), "s/B" if name == "G" else "s"
            if not 0 <= value <= _MOST_S:
                raise UsageError(
                    f"the network {self.name!r}: {name} is {value:g} {unit}; a number from 0 to {_MOST_S:g} {unit} is needed."
                )
        if self.L < _LEAST_L_S * (1 - 1e-9):
            raise UsageError(
                f"the network {self.name!r}: L is {self.L:g} s; at least 1 ns is needed, for nothing arrives when it is sent."
            )
        if self.per_node is not None and not 1 <= self.per_node <= 9999:
            raise UsageError(
                f"the network {self.name!r}: {self.per_node} processes on a node; a whole number from 1 to 9999 is needed."
            )
        if (self.per_node or 1) > 1 and self.inside is None:
            raise UsageError(
                f"the network {self.name!r} has no numbers for the inside of a node, which {self.per_node} processes on a node "
                "need; add [inside], or inside_L and so on, or leave --per-node out."
            )

    def with_per_node(self, per_node: int | None) -> "Network":
        """Return the same network with so many processes on a node; None keeps what it says itself."""
        return self if per_node is None else replace(self, per_node=per_node)

    @property
    def has_nodes(self) -> bool:
        """Whether several processes share a node."""
        return (self.per_node or 1) > 1

    @property
    def facts(self) -> dict[str, Any]:
        """The numbers as they stand in run files; those inside a node only where processes share one."""
        own: dict[str, Any] = {"network": self.name, **_in_units(self)}
        if self.has_nodes and self.inside is not None:
            own |= {"inside": _in_units(self.inside)}
        return own | self._switches | {"per_node": self.per_node or 1}

    @property
    def _switches(self) -> dict[str, Any]:
        switches = {"tree": self.tree} if self.tree else dict(zip(("routers", "hosts"), self.dragonfly or (), strict=False))
        return {"hop_s": float(f"{self.hop:.9g}"), **switches} if switches else {}

    @property
    def machine(self) -> dict[str, Any]:
        """What `scalkit.perfmodels.played.Machine.of` takes: the numbers between nodes."""
        switches = {name.removesuffix("_s"): value for name, value in self._switches.items()}
        return {name: getattr(self, name) for name in _NAMES} | switches

    @property
    def words(self) -> str:
        """The numbers as the layer takes them: ``L=1000 o=300 g=100 G=0.08``, in ns and ns/B."""
        words = [f"{name}={1e9 * getattr(self, name):.9g}" for name in _NAMES]
        if self.has_nodes and self.inside is not None:
            words += [f"per_node={self.per_node}"]
            words += [f"inside_{name}={1e9 * getattr(self.inside, name):.9g}" for name in _NAMES]
        switches = {**self._switches}
        words += [f"hop={1e9 * switches.pop('hop_s'):.9g}"] if switches else []
        return " ".join([*words, *(f"{name}={value}" for name, value in switches.items())])


def _in_units(network: Network) -> dict[str, float]:
    """Return L, o, g and G without the noise of conversions, by names that tell the unit."""
    found = {f"{name}_s{'_per_B' if name == 'G' else ''}": getattr(network, name) for name in _NAMES}
    return {name: float(f"{value:.9g}") for name, value in found.items()}


def read_network(text: str) -> Network:
    """Return the network of a name, a file, or numbers.

    `text`: one of `NETWORKS`; the path of a TOML file that has L, o, g and G with units, and perhaps ``[inside]``,
    ``per_node``, and ``hop`` with ``tree`` or ``dragonfly``; a model card of `scalkit model fit`; or
    ``"L=1us,o=0.3us,g=0.1us,G=0.08ns/B"``, perhaps with ``inside_L=200ns`` and so on.
    Raises UsageError if it is none of these, a number or its unit is missing, or a number makes no sense.
    """
    if "=" in text:
        return _typed(text)
    if text in NETWORKS:
        return _of_file(_FOLDER / f"{text}.toml", text)
    path = Path(text)
    if path.suffix != ".toml" and not path.is_file():
        raise UsageError(
            f"the network {text!r:.80} is unknown; choose {', '.join(NETWORKS)}, a TOML file, or numbers such as "
            "L=1us,o=0.3us,g=0.1us,G=0.08ns/B."
        )
    return _of_file(path, path.stem)


def _typed(text: str) -> Network:
    """Return the network of numbers between commas."""
    found: dict[str, str] = {}
    for word in (one for one in re.split(r"[,\s]+", text.strip()) if one):
        key, _, value = word.partition("=")
        if key in found:
            raise UsageError(f"the network {text!r:.80} has {key!r:.20} twice; name each number once.")
        found[key] = value
    inside = {key.removeprefix("inside_"): found.pop(key) for key in list(found) if key.startswith("inside_")}
    return _of_table({**found, **({"inside": inside} if inside else {})}, text, text)


def _of_file(path: Path, name: str) -> Network:
    try:
        with path.open("rb") as stream:
            content = stream.read(_LARGEST_B)
        table = tomllib.loads(content.decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot read the network {str(path)!r:.200}: {reason}; name a TOML file.") from error
    if "quantities" in table:
        return _of_card(table["quantities"], path, name)
    return _of_table(table, name, str(path))


def _of_card(quantities: Any, path: Path, name: str) -> Network:
    """Return the network of a model card: its overhead is the mean of those of sender and receiver."""

    def value(key: str) -> float:
        entry = quantities.get(key) if isinstance(quantities, Mapping) else None
        number = entry.get("value") if isinstance(entry, Mapping) else None
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise UsageError(
                f"the model card {str(path)!r:.200} has no number {key}; fit LogGP with 'scalkit model fit', or write the "
                "numbers of a network yourself."
            )
        return float(number)

    return Network(name, value("L"), (value("o_send") + value("o_receive")) / 2, value("g"), value("G"))


def _of_table(table: Mapping[str, Any], name: str, place: str, *, is_inside: bool = False) -> Network:
    allowed = _NAMES if is_inside else (*_NAMES, "inside", "per_node", "hop", "tree", "dragonfly")
    where = f"the network {place!r:.200}{', inside' if is_inside else ''}"
    unknown = [key for key in table if key not in allowed]
    if unknown:
        raise UsageError(f"{where}: {unknown[0]!r:.40} is unknown; known are {', '.join(allowed)}.")
    missing = [key for key in _NAMES if key not in table]
    if missing:
        raise UsageError(f"{where}: {missing[0]} is missing; L, o, g and G are needed.")
    numbers = {key: _quantity(table[key], key, where) for key in _NAMES}
    inside, per_node = table.get("inside"), table.get("per_node")
    if inside is not None and not isinstance(inside, Mapping):
        raise UsageError(f"{where}: inside is {inside!r:.40}; a table with L, o, g and G is needed.")
    if per_node is not None and (not isinstance(per_node, int) or isinstance(per_node, bool)):
        raise UsageError(f"{where}: per_node is {per_node!r:.40}; a whole number from 1 to 9999 is needed.")
    within = None if inside is None else _of_table(inside, f"{name}, inside", place, is_inside=True)
    hop = _quantity(table["hop"], "hop", where) if "hop" in table else 0.0
    tree, *_ = _whole(table["tree"], 1, "tree", where) if "tree" in table else (None,)
    dragonfly = _whole(table["dragonfly"], 2, "dragonfly", where) if "dragonfly" in table else None
    return Network(name, **numbers, inside=within, per_node=per_node, hop=hop, tree=tree, dragonfly=dragonfly)  # type: ignore[arg-type]


def _whole(given: Any, count: int, key: str, where: str) -> tuple[int, ...]:
    """Return whole numbers, as in 4, [4, 2] or 4x2."""
    words = [str(one) for one in given] if isinstance(given, list) else str(given).split("x")
    if len(words) != count or not all(one.isdecimal() and len(one) < 9 for one in words):
        example = "a whole number" if count == 1 else "routers and nodes on each, such as 4x2,"
        raise UsageError(f"{where}: {key} is {given!r:.40}; {example} is needed.")
    return tuple(map(int, words))


def _quantity(given: Any, key: str, where: str) -> float:
    """Return a number with its unit, in s or s/B."""
    example = "0.08ns/B" if key == "G" else "1us"
    number, unit = split_quantity(given) or (math.nan, "")
    factor = SECONDS.get(unit.removesuffix("/B")) if unit.endswith("/B") == (key == "G") else None
    if factor is None:
        raise UsageError(f"{where}: {key} is {given!r:.40}; a number with its unit is needed, such as {example}.")
    return number * factor
