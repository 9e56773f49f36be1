"""Flags: what scalkit finds in runs. They are derived from the runs, and those that others bring are not believed.

A run that is implausible has a record of that. Runs that are copies of each other are a group; all groups stand in one file,
which follows from the runs of the store alone, and which every merge makes anew.
"""

import json
from collections.abc import Sequence

from scalkit.store.records import Record
from scalkit.store.runs.content import canonical, is_intact, sealed

COPIES = "copies.json"
"""The file of a store that has the groups of copies."""

FLAGGED_BY = "scalkit"
"""Who says what flags say."""

Group = tuple[tuple[str, ...], ...]
"""Runs that are copies of each other, by their ids. The one that was measured first comes first. States of one campaign that
went on stand together."""


def flag(run_id: str, code: str, reason: str) -> Record:
    """Return the record of what is implausible in a run: a code, as ``"clock-stopped"``, and a sentence."""
    return {"run_id": run_id, "found": code, "reason": reason.removesuffix(".")}


def shown_flag(one: Record) -> Record:
    """Return a flag as what `Store.retractions` has."""
    return {"run_id": one["run_id"], "reason": one["reason"], "by": FLAGGED_BY, "when": "", "found": one["found"]}


def shown_copy(run_id: str, original: str, name: str = "") -> Record:
    """Return that a run is a copy as what `Store.retractions` has.

    `original`: the id of the run that it is a copy of. `name`: what to call that; by default by the beginning of its id.
    """
    reason = f"it has repetitions of {name or f'the run {original[:12]}'}, or parts of them, as they are or changed"
    return {"run_id": run_id, "reason": reason, "by": FLAGGED_BY, "when": "", "found": "raw-copied", "copy_of": original}


def content_of(groups: Sequence[Group]) -> bytes:
    """Return the content of the file of all groups."""
    return (canonical(sealed({"copies": list(groups)})) + "\n").encode()


def groups_in(content: bytes) -> tuple[Group, ...]:
    """Return the groups in the content of their file. Raises ValueError, KeyError, TypeError if it is something else."""
    record = json.loads(content)
    if not isinstance(record, dict) or not is_intact(record):
        raise ValueError("the content does not fit its checksum")
    return tuple(tuple(tuple(map(str, unit)) for unit in group) for group in record["copies"])
