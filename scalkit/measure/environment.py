"""The environment of measurements: where two results differ in it, their difference cannot be blamed on the program alone."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import xarray as xr

ENVIRONMENT = "environment"
"""Attribute of a Dataset: an object in JSON, with a list of all values of each fact."""

Environment = dict[str, list[str]]

_FIELDS = {"CPU": "cpu", "cores": "cores", "kernel": "kernel", "compiler": "compiler"}
"""Facts of the host in the first record of a run file."""

_METADATA = {"CPU": "cpu", "cores": "num_cpus", "kernel": "release", "compiler": "python_compiler", "Python": "python_version"}
"""Facts in files of other benchmarks, by the names that pytest-benchmark and Google Benchmark give them."""

_LONGEST = 60


def of_launches(launches: Iterable[Mapping[str, Any]]) -> Environment:
    """Return the environment of launches.

    `launches`: the first record of each run file. Those of a simulator or a virtual clock do not depend on the host.
    """
    return together(_of_launch(fields) for fields in launches)


def _of_launch(fields: Mapping[str, Any]) -> Environment:
    provenance = fields.get("provenance")
    provenance = provenance if isinstance(provenance, Mapping) else {}
    is_computed = bool(fields.get("simulated") or provenance.get("virtual") or provenance.get("simulation"))
    found = {} if is_computed else {name: fields.get(key) for name, key in _FIELDS.items()}
    settings = provenance.get("settings")
    if isinstance(settings, Mapping):
        found |= {str(name): value for name, value in settings.items()}
    sources = provenance.get("sources")
    found["benchmark sources"] = sources[:8] if isinstance(sources, str) else ""
    return {name: [str(value)] for name, value in found.items() if isinstance(value, str | int) and value}


def together(environments: Iterable[Environment]) -> Environment:
    """Return the environment of several results together."""
    found: dict[str, set[str]] = {}
    for one in environments:
        for name, values in one.items():
            found.setdefault(name, set()).update(values)
    return {name: sorted(values) for name, values in sorted(found.items())}


def as_attribute(environment: Environment) -> dict[str, str]:
    """Return the attribute of a Dataset for an environment; none if nothing is known."""
    return {ENVIRONMENT: json.dumps(environment, ensure_ascii=False)} if environment else {}


def from_attribute(attrs: Mapping[Any, Any]) -> Environment:
    """Return the environment in the attribute of a Dataset."""
    known: Environment = json.loads(str(attrs.get(ENVIRONMENT) or "{}"))
    return known


def environment_of(ds: xr.Dataset) -> Environment:
    """Return all that is known of the environment of a Dataset.

    The name of the machine is part of it only where its CPU is not known: nodes of a cluster and virtual machines of a CI
    service have names that change, although they are alike.
    """
    found = from_attribute(ds.attrs)
    metadata = json.loads(str(ds.attrs.get("metadata") or "{}"))
    found |= {name: [str(metadata[key])] for name, key in _METADATA.items() if metadata.get(key)}
    library = str(ds.attrs.get("mpi_library", "")).split("\n")[0]
    machine = "" if "CPU" in found else ds.attrs.get("measured_on")
    said = {"machine": machine, "MPI library": library, "Python": ds.attrs.get("python")}
    return found | {name: [" ".join(str(value).split())] for name, value in said.items() if value}


def what_changed(results: Iterable[xr.Dataset]) -> tuple[str, ...]:
    """Return the changes from each result to the next, as ``"kernel, from Linux 6.1 to Linux 6.2"``.

    Facts that are not known of two results are left out.
    """
    changed: dict[str, str] = {}
    before: Environment = {}
    for ds in results:
        now = environment_of(ds)
        for name, values in now.items():
            if name in before and before[name] != values:
                changed.setdefault(name, f"{name}, from {_shown(before[name])} to {_shown(values)}")
        before |= now
    return tuple(changed[name] for name in sorted(changed))


def _shown(values: list[str]) -> str:
    text = " and ".join(values)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
