"""`merge`: takes over runs of another store that are valid and new, and its retractions."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit.markup import counted
from scalkit.store.runs.marks import MARKS
from scalkit.store.statements import in_effect
from scalkit.store.submissions.containers import Policy
from scalkit.store.submissions.copies import Marks, Origin
from scalkit.store.submissions.report import Checked, examined, reasons_of, without_copies

if TYPE_CHECKING:
    from scalkit.store.store import Store


@dataclass(frozen=True)
class Merged:
    """What a merge did.

    `added`, `skipped`: ids of the runs that were taken over, and of those that were there.
    `refused`: files that were not taken over, with their reasons. `retracted`: retractions that were taken over.
    `hidden`: runs that were here and that these retractions take out of all answers.
    `left`: runs that are here, and that retractions would have taken out that were not taken over.
    """

    added: tuple[str, ...]
    skipped: tuple[str, ...]
    refused: tuple[Checked, ...]
    retracted: int
    hidden: tuple[Hidden, ...] = ()
    left: tuple[Hidden, ...] = ()

    def __str__(self) -> str:
        text = f"{len(self.added)} added, {len(self.skipped)} there already, {len(self.refused)} refused"
        text += f", {counted(self.retracted, 'retraction')} taken over" if self.retracted else ""
        lines = [f"{text}."]
        lines += [f"  {one.file}: {words} [{code}]" for one in self.refused for code, words in one.refused[:5]]
        if self.hidden:
            were = "was here is hidden now, as it is" if len(self.hidden) == 1 else "were here are hidden now, as they are"
            lines.append(f"  {counted(len(self.hidden), 'run')} that {were} retracted there:")
            lines += [f"    {one}" for one in self.hidden]
        if self.left:
            stays = "stays" if len(self.left) == 1 else "stay"
            lines.append(f"  {counted(len(self.left), 'run')} retracted there {stays} in the answers here:")
            lines += [f"    {one}" for one in self.left]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "added": list(self.added),
            "skipped": list(self.skipped),
            "refused": reasons_of(self.refused),
            "retracted": self.retracted,
            "hidden": [asdict(one) for one in self.hidden],
            "left": [asdict(one) for one in self.left],
        }


@dataclass(frozen=True)
class Hidden:
    """A run that others retracted: its id and its platform, why, by whom and when."""

    run_id: str
    platform: str
    reason: str
    by: str
    when: str

    def __str__(self) -> str:
        who = f", by {self.by}" if self.by else ", they do not say who"
        return f"{self.run_id[:12]} ({self.platform}): {' '.join(self.reason.split())!r}{who}, {self.when}"


def merge(store: Store, other: Path, policy: Policy | None = None, *, retractions: bool | None = None) -> Merged:
    """Take over the runs and retractions of another store, a folder or a zip; doing it again changes nothing.

    Every file is validated first, by another process, and what is taken over was written again by that process. A run
    whose repetitions are those of a run that is here, under another name, is refused.

    `store`: opened for writing.
    `retractions`: which runs of here that were retracted there are taken out, and which restored, too: all, none, or by
    default those of which a trusted signer (`Store.trust`) says so.
    Raises DataError if there is nothing at the path.
    Raises StoreError if the store is read-only, or the disk is full.
    """
    store.folder.require_writable()
    scratch = store.folder.scratch()
    try:
        with examined(other, policy, scratch) as (report, clean):
            there = set(store.folder.run_ids())
            known = [replace(one, marks={}) if one.run_id in there else one for one in report.checked]
            report = without_copies(replace(report, checked=tuple(known)), clean, _known(store), store.folder.file_of)
            refused = list(report.refused)
            names = {one.run_id for one in refused}
            added: list[str] = []
            skipped: list[str] = []
            for run_id in report.accepted:
                if run_id in names:
                    continue
                if run_id in there:
                    skipped.append(run_id)
                    continue
                content = (clean / f"{run_id}.parquet").read_bytes()
                (added if store.folder.add(run_id, content) else skipped).append(run_id)
            store.folder.add_signatures([one for one in report.signatures if one["run_id"] in {*added, *skipped}])
            before = store.folder.retracted()
            new = [one for one in report.retracted if one not in before]
            mine = [one for one in new if one["run_id"] in added or _counts(store, one, retractions)]
            out = {entry["run_id"] for entry in store.retractions()}
            store.folder.retract([dict(entry) for entry in mine])
            out_now = {entry["run_id"] for entry in store.retractions()}
            hidden = _of_runs(store, [one for one in in_effect(mine) if one["run_id"] in there & out_now - out])
            left = _of_runs(store, [one for one in in_effect(new) if one["run_id"] in there - out_now])
    finally:
        import shutil

        shutil.rmtree(scratch, ignore_errors=True)
    return Merged(tuple(added), tuple(skipped), tuple(refused), len(mine), hidden, left)


def _counts(store: Store, entry: dict[str, str], retractions: bool | None) -> bool:
    return bool(retractions if retractions is not None else "signature" in entry and store.signer(entry))


def _of_runs(store: Store, entries: list[dict[str, str]]) -> tuple[Hidden, ...]:
    """Return the first retraction of each run, with its platform."""
    if not entries:
        return ()
    runs = store.runs(retracted=True)
    platforms = dict(zip(runs["run_id"], runs["platform"], strict=True))
    first = {entry["run_id"]: entry for entry in reversed(entries)}
    return tuple(
        Hidden(one["run_id"], platforms.get(run_id, "unreadable"), one["reason"], one["by"], one["when"])
        for run_id, one in sorted(first.items())
    )


def _known(store: Store) -> Marks:
    """Return the marks of all runs of a store, retracted ones included."""
    runs = store.marks()
    origins, columns = [], []
    for run_id, own in runs.groupby("run_id", sort=False):
        measured = json.loads(own["record"].iloc[0])["measured"]
        origins.append(Origin.of(str(run_id), f"run {str(run_id)[:12]}, which is here already", measured))
        columns.append({name: own[name].tolist() for name in ("raw_hash", *MARKS)})
    return Marks.of(origins, columns)
