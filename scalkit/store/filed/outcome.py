"""What filing did, and which earlier states of the same runs it replaced."""

from __future__ import annotations

import contextlib
import getpass
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scalkit.errors import UsageError
from scalkit.store.runs.content import RunContent

if TYPE_CHECKING:
    from scalkit.store.store import Store


@dataclass(frozen=True)
class Filed:
    """What `Store.put` did.

    `added`, `known`: ids of the runs that are new, and of those that were there already.
    `replaced`: ids of runs that were retracted because an added one has all of their files and more.
    `flagged`, of (id, sentence): what is implausible in added runs, which no answer has until they are restored.
    """

    added: tuple[str, ...]
    known: tuple[str, ...]
    replaced: tuple[str, ...] = ()
    flagged: tuple[tuple[str, str], ...] = ()


def replaced_by(store: Store, added: Sequence[RunContent]) -> tuple[str, ...]:
    """Retract earlier states of added runs, those whose run files, by their hashes, are all in them; return their ids."""
    replaced = []
    for run in added:
        measured = run.record["measured"]
        if not measured["inputs"]:
            continue
        sql = "SELECT run_id, record FROM runs WHERE campaign = ? AND label = ? AND machine = ? AND run_id <> ?"
        values = (measured["campaign"], measured["label"], measured["machine"], run.run_id)
        for row in store.query(sql, values).itertuples():
            if set(json.loads(row.record)["measured"]["inputs"].values()) < set(measured["inputs"].values()):
                reason = f"replaced by {run.run_id}, which has more launches of the same run"
                with contextlib.suppress(UsageError):  # a trusted signer says that it is right
                    store.retract(row.run_id, reason, by="scalkit store put")
                    replaced.append(row.run_id)
    return tuple(replaced)


def login() -> str:
    """Return the login name; empty if there is none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
