"""The record of a run: what its suites share. It travels as JSON in the metadata of the run's file."""

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scalkit.schema_errors import schema_in

_SCHEMA = Path(__file__).parents[1] / "submissions" / "record.schema.json"
_NOTHING: dict[str, Any] = {"string": "", "integer": 0, "boolean": False, "object": {}, "array": []}

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
    return {part: {**_unknown(part), **said} for part, said in (("measured", measured), ("filing", filing))}


def _unknown(part: str) -> dict[str, Any]:
    """Return what a record says where nothing is known: the default in its schema, or the empty value of the type there."""
    known = schema_in(_SCHEMA)["properties"][part]["properties"]
    return {name: one["default"] if "default" in one else _NOTHING[one["type"]] for name, one in known.items()}


def canonical(value: object) -> str:
    """Return a value as JSON text that is always the same: keys sorted, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def plain(value: Any) -> Any:
    """Return a value, or what lies in lists and mappings, as JSON can hold it: nothing in the place of NaN and infinity."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
