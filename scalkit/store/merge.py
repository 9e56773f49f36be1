"""`merge`: takes over runs of another store that are valid and new, and its retractions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit.markup import counted
from scalkit.store.submissions.policy import Policy
from scalkit.store.submissions.report import Checked, Report, examined

if TYPE_CHECKING:
    from scalkit.store.store import Store


@dataclass(frozen=True)
class Merged:
    """What a merge did.

    Attributes
    ----------
    added, skipped : tuple of str
        Ids of the runs that were taken over, and of those that were there.
    refused : tuple of Checked
        Files that were not taken over, with their reasons.
    retracted : int
        Retractions that were taken over.
    hidden : tuple of Hidden
        Runs that were here and that these retractions take out of all answers.
    left : tuple of Hidden
        Runs that are here, and that retractions would have taken out that were not taken over.
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
            were = (
                "was here is hidden now, as it is" if len(self.hidden) == 1 else "were here are hidden now, as they are"
            )
            lines.append(f"  {counted(len(self.hidden), 'run')} that {were} retracted there:")
            lines += [f"    {one}" for one in self.hidden]
        if self.left:
            stays = "stays" if len(self.left) == 1 else "stay"
            lines.append(f"  {counted(len(self.left), 'run')} retracted there {stays} in the answers here:")
            lines += [f"    {one}" for one in self.left]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        refused = [
            {"file": one.file, "reasons": [{"code": code, "text": text} for code, text in one.refused]}
            for one in self.refused
        ]
        return {
            "added": list(self.added),
            "skipped": list(self.skipped),
            "refused": refused,
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


def merge(store: Store, other: Path, policy: Policy | None = None, *, retractions: bool = True) -> Merged:
    """Take over the runs and retractions of another store, a folder or a zip; doing it again changes nothing.

    Every file is validated first, by another process, and what is taken over was written again by that process. A run
    whose repetitions are those of a run that is here, under another name, is refused.

    Parameters
    ----------
    store : Store
        Opened for writing.
    other : Path
    policy : Policy, optional
    retractions : bool
        Whether runs that were retracted there are taken out here, too. A retraction is not signed: leave those of strangers.

    Raises
    ------
    DataError
        If there is nothing at the path.
    StoreError
        If the store is read-only, or the disk is full.
    """
    store.folder.require_writable()
    scratch = store.folder.scratch()
    try:
        with examined(other, policy, scratch) as (report, clean):
            there = set(store.folder.run_ids())
            refused = [*report.refused, *_repeated(store, report, there)]
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
            before = store.retractions()
            known = {(entry["run_id"], entry["when"], entry["reason"]) for entry in before}
            new = [one for one in report.retracted if (one["run_id"], one["when"], one["reason"]) not in known]
            out = {entry["run_id"] for entry in before}
            own = _of_runs(store, [one for one in new if one["run_id"] in there - out])
            mine = new if retractions else [one for one in new if one["run_id"] in added]
            store.folder.retract([dict(entry) for entry in mine])
    finally:
        import shutil

        shutil.rmtree(scratch, ignore_errors=True)
    hidden, left = (own, ()) if retractions else ((), own)
    return Merged(tuple(added), tuple(skipped), tuple(refused), len(mine), hidden, left)


def _of_runs(store: Store, entries: list[dict[str, str]]) -> tuple[Hidden, ...]:
    """Return the first retraction of each run, with its platform."""
    if not entries:
        return ()
    runs = store.runs(retracted=True)
    platforms = dict(zip(runs["run_id"], runs["platform"], strict=True))
    first = {entry["run_id"]: entry for entry in reversed(entries)}
    return tuple(Hidden(platform=platforms.get(run_id, "unreadable"), **first[run_id]) for run_id in sorted(first))


def _repeated(store: Store, report: Report, there: set[str]) -> list[Checked]:
    """Return the files whose measurements are here already, in another run."""
    candidates = [one for one in report.checked if not one.refused and one.run_id not in there and one.hashes]
    wanted = sorted({number for one in candidates for number in one.hashes})
    if not wanted or not there:
        return []
    sql = (
        "SELECT p.raw_hash, p.run_id, r.campaign, r.label FROM points p JOIN runs r USING (run_id) "
        "WHERE p.raw_hash IN (SELECT unnest(?)) AND p.n >= 8 AND p.metric = 'time' AND NOT p.simulated"
    )
    found = {int(row.raw_hash): row for row in store.query(sql, [wanted]).itertuples()}
    refused = []
    for one in candidates:
        for number in one.hashes:
            row = found.get(number)
            if row is not None and (row.campaign, row.label) != (one.campaign, one.label):
                text = f"{one.file} has the very repetitions of run {row.run_id[:12]}, which is here already."
                refused.append(Checked(one.file, one.run_id, (("raw-duplicated", text),)))
                break
    return refused
