"""Virtual time in run files and Datasets: which machine's clock times were read from, and the words for it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from scalkit.errors import DataError
from scalkit.support.clocks import VIRTUAL
from scalkit.support.text import counted
from scalkit.support.units import format_quantity

LEFT_OUT = "messages through shared memory, contention of links and network hardware are left out"
"""What the machine of virtual time does not have."""

TIMED = ("time", "master_share", "idle_share")
"""Metrics that come from a clock."""

_NUMBERS = (("L_s", "L", "s"), ("o_s", "o", "s"), ("g_s", "g", "s"), ("G_s_per_B", "G", "s/B"))


def virtual_of(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the ``env`` record of a run file says about its virtual machine; empty if its clock was a real one."""
    provenance = fields.get("provenance")
    found = provenance.get("virtual") if isinstance(provenance, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def is_virtual(attrs: Mapping[Any, Any]) -> bool:
    """Return whether the run times of a Dataset with these attributes were read from a virtual clock."""
    return attrs.get("clock") == "virtual"


def machine_of(attrs: Mapping[Any, Any]) -> Mapping[str, Any]:
    """Return the numbers of the virtual machine in the attributes of a Dataset; empty if there is none."""
    try:
        found = json.loads(str(attrs.get("virtual", "{}")))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def machine_in_words(machine: Mapping[str, Any]) -> str:
    """Return the name of a virtual machine: ``"cluster with 4 processes a node in virtual time"``."""
    name = str(machine.get("network") or "a network")
    per_node = machine.get("per_node", 1)
    nodes = f" with {per_node} processes a node" if isinstance(per_node, int) and per_node > 1 else ""
    return f"{name}{nodes} {VIRTUAL}"


def numbers_in_words(machine: Mapping[str, Any]) -> str:
    """Return its numbers, switches, and what computing costs.

    As in ``"L 1.00 us, o 300 ns, g 100 ns, G 80.0 ps/B; computing costs no time"``.
    """
    parts = [_network(machine), *filter(None, [switches_in_words(machine)])]
    inside = machine.get("inside")
    if isinstance(inside, Mapping):
        parts.append(f"inside a node {_network(inside)}")
    compute = machine.get("compute", "none")
    parts.append("computing costs no time" if compute == "none" else f"computing by {compute}")
    return "; ".join(parts)


def switches_in_words(machine: Mapping[str, Any]) -> str:
    """Return how its nodes are connected; empty where each has a link to every other.

    >>> switches_in_words({"hop_s": 2e-7, "tree": 4})
    'fat tree of switches with 4 below them, 200 ns for each further switch'
    """
    tree, routers, hosts, hop = (machine.get(key) for key in ("tree", "routers", "hosts", "hop_s"))
    if not isinstance(hop, int | float):
        return ""
    if isinstance(tree, int):
        return f"fat tree of switches with {tree} below them, {format_quantity(float(hop), 's')} for each further switch"
    if isinstance(routers, int) and isinstance(hosts, int):
        groups = f"dragonfly of groups of {counted(routers, 'router')} with {counted(hosts, 'node')} each"
        return f"{groups}, {format_quantity(float(hop), 's')} for each link between routers"
    return ""


def clock_attributes(machines: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return what attrs say of the virtual clock that times were read from; nothing if the clock was a real one.

    `machines`: as `virtual_of` returns them, one for each launch with times.
    Raises DataError if there are several clocks.
    """
    clocks = list(dict.fromkeys(map(clock_of, machines)))
    if len(clocks) > 1:
        raise DataError(f"these run times differ in their clock: {' and '.join(map(repr, clocks))}; read them apart.")
    return {"clock": "virtual", "virtual": json.dumps(dict(machines[0]))} if machines and machines[0] else {}


def said_of(attrs: Mapping[Any, Any]) -> str:
    """Return what a reader should know of the clock in the attributes of a Dataset, without a point; empty if it was real."""
    machine = machine_of(attrs)
    if not is_virtual(attrs) or not machine:
        return ""
    return f"{machine_in_words(machine)}: {numbers_in_words(machine)}; {LEFT_OUT}"


def clock_of(machine: Mapping[str, Any]) -> str:
    """Return what distinguishes one clock from others: measurements with different clocks are never mixed."""
    return f"{machine_in_words(machine)}: {numbers_in_words(machine)}" if machine else "real time"


def _network(numbers: Mapping[str, Any]) -> str:
    found = [(name, numbers.get(key), unit) for key, name, unit in _NUMBERS]
    return ", ".join(
        f"{name} {format_quantity(float(value), unit)}"
        for name, value, unit in found
        if isinstance(value, int | float) and not isinstance(value, bool)
    )
