"""The record of a run: what its suites share. It travels as JSON in the metadata of the run's file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

MEASURED: dict[str, Any] = {
    "campaign": "",
    "label": "",
    "title": "",
    "site": "",
    "machine": "",
    "machine_desc": {},
    "started": "",
    "ended": "",
    "mpi_impl": "",
    "mpi_version": "",
    "mpi_library": "",
    "mpi_standard": "",
    "compiler": "",
    "flags": "",
    "os": "",
    "kernel": "",
    "environment": {},
    "nodes": 0,
    "processes_per_node": 0,
    "seed": 0,
    "mapping": "",
    "sync": "",
    "clock": {},
    "rank_reduction": "max",
    "harness_sha": "",
    "switches": {},
    "simulated": False,
    "simulation": {},
    "parameter": "p",
    "launches": [],
    "skips": [],
    "inputs": {},
    "remarks": [],
}
"""What was measured, where, when and with what: hashed to the file's name. These values mean unknown."""

FILING: dict[str, Any] = {
    "user": "",
    "contributor": "",
    "licence": "",
    "notes": "",
    "filed": "",
    "tool": "scalkit",
    "tool_version": "",
}
"""The person who filed the run, and when; no part of the hash, so that the same run filed twice is one."""

_LIBRARIES = (
    ("Open MPI", r"Open MPI v?([\w.+-]+)"),
    ("Intel MPI", r"Intel\(R\) MPI Library ([\w.+-]+)"),
    ("MVAPICH", r"MVAPICH\d?\S* Version\s*:?\s*([\w.+-]+)"),
    ("Cray MPICH", r"CRAY MPICH version ([\w.+-]+)"),
    ("MPICH", r"MPICH Version:?\s*([\w.+-]+)"),
    ("SimGrid SMPI", r"SMPI Version ([\w.+-]+)"),
)

LIBRARY_TEXTS = {"Intel MPI": "Intel(R) MPI Library", "Cray MPICH": "CRAY MPICH", "SimGrid SMPI": "SMPI Version"}
"""What a library writes of itself that has another name here."""


def new_record(measured: Mapping[str, Any], filing: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with every field, without its schema version and its id."""
    return {"measured": {**MEASURED, **measured}, "filing": {**FILING, **filing}}


def canonical(value: object) -> str:
    """Return a value as JSON text that is always the same: keys sorted, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def library_of(text: str) -> tuple[str, str]:
    """Return name and version of an MPI library from what it says of itself; empty if unknown.

    >>> library_of("Open MPI v5.0.11, package: ...")
    ('Open MPI', '5.0.11')
    """
    for name, pattern in _LIBRARIES:
        found = re.search(pattern, text[:2000])
        if found:
            return name, found[1].rstrip(",.")
    return "", ""


def platform_of(measured: Mapping[str, Any]) -> str:
    """Return what a program is compiled for and run on, in words: the machine and its MPI library."""
    library = f"{measured.get('mpi_impl', '')} {measured.get('mpi_version', '')}".strip()
    machine = str(measured.get("machine") or "unknown machine")
    return f"{machine}, {library}" if library else machine
