"""Flags: what scalkit finds in runs. They are derived from the runs, and those that others bring are not believed.

A run that is implausible has a record of that. Runs that are copies of each other are a group; all groups stand in one file,
which follows from the runs of the store alone, and which every merge makes anew.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from scalkit.store.records import Record
from scalkit.store.runs.content import canonical, is_intact, sealed

COPIES = "copies.json"
"""The file of a store that has the groups of copies."""

FLAGGED_BY = "scalkit"
"""Who says what flags say."""

Unit = tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """Runs that are copies of each other, by their ids.

    `units`: the one that was measured first comes first. States of one campaign that went on are one unit.
    `same`: those that have a measurement with the very same repetitions stand together; ascending.
    """

    units: tuple[Unit, ...]
    same: tuple[Unit, ...] = ()


def flag(run_id: str, code: str, reason: str) -> Record:
    """Return the record of what is implausible in a run: a code, as ``"clock-stopped"``, and a sentence."""
    return {"run_id": run_id, "found": code, "reason": reason.removesuffix(".")}


def shown_flag(one: Record) -> Record:
    """Return a flag as what `Store.retractions` has."""
    return {"run_id": one["run_id"], "reason": one["reason"], "by": FLAGGED_BY, "when": "", "found": one["found"]}


def shown_copy(group: Group, run_id: str, original: str, name: str = "") -> Record:
    """Return that a run is a copy as what `Store.retractions` has.

    `original`: the id of the run that it is a copy of. `name`: what to call that; by default by the beginning of its id.
    """
    what = name or f"the run {original[:12]}"
    is_same = any(run_id in several and original in several for several in group.same)
    reason = f"it has the very repetitions of {what}" if is_same else f"it has repetitions of {what}, or parts of them, changed"
    code = "raw-duplicated" if is_same else "raw-copied"
    return {"run_id": run_id, "reason": reason, "by": FLAGGED_BY, "when": "", "found": code, "copy_of": original}


def content_of(groups: Sequence[Group]) -> bytes:
    """Return the content of the file of all groups."""
    listed = [{"units": list(map(list, one.units)), "same": list(map(list, one.same))} for one in groups]
    return (canonical(sealed({"copies": listed})) + "\n").encode()


def groups_in(content: bytes) -> tuple[Group, ...]:
    """Return the groups in the content of their file. Raises ValueError, KeyError, TypeError if it is something else."""
    record = json.loads(content)
    if not isinstance(record, dict) or not is_intact(record):
        raise ValueError("the content does not fit its checksum")
    return tuple(
        Group(*(tuple(tuple(map(str, several)) for several in one[key]) for key in ("units", "same"))) for one in record["copies"]
    )
