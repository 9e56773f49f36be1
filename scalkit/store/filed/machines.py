"""What a record says of the machine that was measured, processors, network and topology; of a simulated one not the host's."""

from collections.abc import Mapping
from typing import Any

from scalkit.measure.records import Env
from scalkit.measure.virtual_time import switches_in_words

_LOGGP = (("L_s", "L", "s"), ("o_s", "o", "s"), ("g_s", "g", "s"), ("G_s_per_B", "G", "s/B"))


def real(cpu: str, cores: int, facts: Mapping[str, Any], n_hosts: int) -> dict[str, Any]:
    """Return what is known of a real machine.

    `facts`: what the campaign found on the machine: ``network`` and ``topology``, if it knows. `n_hosts`: on how many it ran.
    """
    found = {key: str(facts[key]) for key in ("network", "topology") if facts.get(key)}
    if n_hosts == 1:
        found["network"] = "shared memory of one node"
    return {"cpu": cpu, "cores_per_node": cores, **found}


def simulated(simulation: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of the machine of SimGrid's platform."""
    said = {"network": simulation.get("platform"), "topology": simulation.get("description")}
    return {key: str(value) for key, value in said.items() if value}


def virtual(machine: Mapping[str, Any]) -> dict[str, Any]:
    """Return the machine of a virtual clock."""
    numbers = [f"{name} = {machine[key]:g} {unit}" for key, name, unit in _LOGGP if isinstance(machine.get(key), int | float)]
    per_node = machine.get("per_node", 1)
    switches = switches_in_words(machine) or "fully connected"
    topology = f"{switches}, {per_node} process{'' if per_node == 1 else 'es'} per node"
    return {"network": ", ".join([str(machine.get("network", "unknown")), *numbers]), "topology": topology}


def described(env: Env, campaign: Mapping[str, Any], simulation: Mapping[str, Any], n_hosts: int) -> dict[str, Any]:
    """Return ``machine_desc``, ``os``, ``kernel`` and ``simulation`` of a record.

    `simulation`: what computed the times; that machine stands in it as ``host``. `n_hosts`: on how many hosts it ran.
    """
    facts = campaign.get("machine")
    facts = facts if isinstance(facts, Mapping) else {}
    cores = env.fields.get("cores")
    said = {"cpu": env.fields.get("cpu"), "kernel": env.fields.get("kernel"), "os": facts.get("system")}
    host = {key: text if isinstance(text, str) else "" for key, text in said.items()}
    if env.simulated or env.virtual:
        machine = virtual(env.virtual) if env.virtual else simulated(simulation)
        return {"machine_desc": machine, "os": "", "kernel": "", "simulation": {**simulation, "host": host}}
    machine = real(host.pop("cpu"), cores if isinstance(cores, int) else 0, facts, n_hosts)
    return {"machine_desc": machine, **host, "simulation": dict(simulation)}


def over(found: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields of a record with what a user says in their place; of the machine only what the user names."""
    machine = {**found.get("machine_desc", {}), **said.get("machine_desc", {})}
    return {**found, **said, **({"machine_desc": machine} if machine else {})}
