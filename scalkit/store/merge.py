"""`merge`: takes over runs of another store that are valid and new, and its retractions."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit.errors import DataError
from scalkit.store.flags import FLAGGED_BY, Group, shown_copy
from scalkit.store.folder import StoreFolder
from scalkit.store.records import FLAGS, SIGNATURES, STATEMENTS, Record
from scalkit.store.runs.content import trusted
from scalkit.store.runs.marks import MARKS, TOKENS
from scalkit.store.statements import in_effect, order_of_filings
from scalkit.store.submissions.containers import Policy
from scalkit.store.submissions.copies import MarkedRun, Origin
from scalkit.store.submissions.report import Checked, Report, copies_of, examined, marked, reasons_of, restorations
from scalkit.support.markup import counted

if TYPE_CHECKING:
    from scalkit.store.store import Store


_MOST_SHOWN = 5

_MOST_ROUNDS = 5
"""So often copies are looked for again, where others add runs at the same time."""


@dataclass(frozen=True)
class Merged:
    """What a merge did.

    `added`, `skipped`: ids of the runs that were taken over, and of those that were there.
    `refused`: files that were not taken over, with their reasons. `statements`: how many of them were taken over.
    `hidden`: runs that were here and that retractions from there take out of all answers.
    `flagged`: runs from there or here that are implausible, or copies of others, and are left out of all answers from now on.
    `accepted`: a sentence for each new run that is flagged and in the answers, as a person there accepted it, or signed it.
    `shown`: runs that were retracted or flagged here and are in the answers again, by restorations or signatures from there.
    `left`: runs that are here, and that retractions from there would have taken out that do not count here.
    `repaired`: ids of runs whose files here were damaged, and are whole again.
    `notes`: what is to be said besides.
    """

    added: tuple[str, ...]
    skipped: tuple[str, ...]
    refused: tuple[Checked, ...]
    statements: int
    hidden: tuple[Hidden, ...] = ()
    flagged: tuple[Hidden, ...] = ()
    accepted: tuple[str, ...] = ()
    shown: tuple[Hidden, ...] = ()
    left: tuple[Hidden, ...] = ()
    repaired: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"{len(self.added)} added, {len(self.skipped)} there already, {len(self.refused)} refused"
        text += f", {counted(self.statements, 'statement')} taken over" if self.statements else ""
        text += f", {len(self.repaired)} repaired" if self.repaired else ""
        lines = [f"{text}."]
        lines += [f"  {one.file}: {words} [{code}]" for one in self.refused for code, words in one.refused[:5]]
        for what, runs in (
            ("hidden now, as retracted there", self.hidden),
            ("flagged and left out of all answers until accepted with 'scalkit store retract --restore'", self.flagged),
            ("flagged and in the answers, as people accepted or signed that", self.accepted),
            ("in the answers again, by what was said there", self.shown),
            ("retracted there and still in the answers here", self.left),
        ):
            if runs:
                lines.append(f"  {counted(len(runs), 'run')} {what}:")
                lines += [f"    {run}" for run in runs]
        lines += [f"  {note}" for note in self.notes[:_MOST_SHOWN]]
        if len(self.notes) > _MOST_SHOWN:
            lines.append(f"  and {len(self.notes) - _MOST_SHOWN} notes more")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        fields = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}
        runs = {name: [asdict(one) for one in fields[name]] for name in ("hidden", "flagged", "shown", "left")}
        return fields | runs | {"refused": reasons_of(self.refused)}


@dataclass(frozen=True)
class Hidden:
    """A run that is retracted or flagged: its id and its platform, why, by whom and when, and whether it was here before."""

    run_id: str
    platform: str
    reason: str
    by: str
    when: str
    was_here: bool = True

    def __str__(self) -> str:
        what = f"{self.run_id[:12]} ({self.platform}): {' '.join(self.reason.split())!r}"
        if self.by == FLAGGED_BY and not self.when:
            return f"{what}, {'which was here before' if self.was_here else 'which is new'}"
        return f"{what}{f', by {self.by}' if self.by else ', they do not say who'}, {self.when}"


def merge(store: Store, other: Path, policy: Policy | None = None, *, retractions: bool = True) -> Merged:
    """Take over the runs and statements of another store, a folder or a zip.

    Runs, statements and signatures are sets, and a merge unites them: in whatever order stores are merged, and however
    often, the result is the same. Of a run that several people filed, the file has the filing with the earliest time. What
    is implausible, and which runs are copies of each other, follows from the runs alone; what others say of that is ignored.

    Every file is validated first, by another process, and what is taken over was written again by that process.

    `store`: opened for writing.
    `retractions`: whether retractions and restorations are taken over, too. Those that count here follow from the rules in
    `scalkit.store.statements`.
    Raises DataError if there is nothing at the path.
    Raises StoreError if the store is read-only, or the disk is full.
    """
    store.folder.require_writable()
    with examined(other, policy) as (report, clean):
        store.folder.prepare()
        there = set(store.folder.run_ids())
        added: list[str] = []
        skipped: list[str] = []
        repaired: list[str] = []
        notes = list(report.notes)
        before = {entry["run_id"]: entry for entry in store.retractions()}
        groups, unreadable = _copies(store, report, clean, policy or Policy())
        # What is said of runs comes first: whoever is killed meanwhile leaves no run without what is said of it.
        n_statements = store.folder.add_records(STATEMENTS, list(report.statements)) if retractions else 0
        store.folder.add_records(SIGNATURES, list(report.signatures))
        store.folder.add_records(FLAGS, list(report.flags))
        store.folder.set_copies(groups)
        for run_id in report.accepted:
            content = _content(clean, run_id)
            if run_id not in there and store.folder.add(run_id, content):
                added.append(run_id)
                continue
            is_repaired, note = _unite(store.folder, run_id, content)
            (repaired if is_repaired else skipped).append(run_id)
            notes += [note] if note else []
        store.folder.drop_flags()
        expected = there | set(added)
        for _ in range(_MOST_ROUNDS):
            now_there = set(store.folder.run_ids())
            if now_there == expected:
                break
            # Others added runs meanwhile, and looked for copies without the ones that were added here.
            groups, unreadable = _copies(store, report, clean, policy or Policy())
            store.folder.set_copies(groups)
            expected = now_there
        damaged = unreadable - set(repaired)
        notes += [f"the run {run_id[:12]} is damaged and was not compared with others." for run_id in sorted(damaged)]
        notes += [text for text in store.problems if text[:32] not in damaged]
        after = {entry["run_id"]: entry for entry in store.retractions()}
        new = after.keys() - before.keys()
        flagged = {run_id for run_id in new if "found" in after[run_id]}
        theirs = {entry["run_id"]: entry for entry in in_effect(report.statements)}
        return Merged(
            tuple(added),
            tuple(skipped),
            report.refused,
            n_statements,
            hidden=_of_runs(store, after, (there & new) - flagged),
            flagged=_of_runs(store, after, flagged, there),
            accepted=_accepted(store, after, added),
            shown=_of_runs(store, before, there & before.keys() - after.keys()),
            left=_of_runs(store, theirs, there & theirs.keys() - after.keys()),
            repaired=tuple(repaired),
            notes=tuple(notes),
        )


def _copies(store: Store, report: Report, clean: Path, policy: Policy) -> tuple[tuple[Group, ...], set[str]]:
    """Return the groups of copies among all runs that are here and there, and the runs that cannot be read."""
    known = _known(store)
    here = {origin.run_id for origin, _ in known}
    accepted = set(report.accepted)
    new = [one for one in report.checked if one.run_id in accepted and one.run_id not in here]  # also of damaged ones here
    unreadable: set[str] = set()

    def content(run_id: str) -> bytes:
        return _content(clean, run_id) if run_id in accepted else store.folder.read_run(run_id)

    return copies_of([*known, *marked(new)], content, policy, unreadable), unreadable


def _accepted(store: Store, after: Mapping[str, Record], added: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence for each new run that is flagged and in the answers, as a person accepted or signed it."""
    words = {run_id: f"accepted {by}" for run_id, by in restorations(store.folder.statements()).items()}
    words |= {run_id: f"signed by {one.signer}, whom you trust" for run_id, one in store.signed(added).items() if one.is_trusted}
    flagged = {one["run_id"]: one["reason"] for one in store.folder.flags()}
    for group in store.folder.copies():
        original = group[0][0]
        flagged |= {run_id: shown_copy(run_id, original)["reason"] for unit in group[1:] for run_id in unit}
    return tuple(
        f"{run_id[:12]}: {flagged[run_id]!r}, {words[run_id]}"
        for run_id in added
        if run_id in flagged and run_id in words and run_id not in after
    )


def _unite(folder: StoreFolder, run_id: str, content: bytes) -> tuple[bool, str]:
    """Keep of two files of one run the one that was filed first.

    The measurements are the same, as both have the run's id. A filing that somebody signed is also in the signature.
    Returns: whether the file that was here is damaged, and a sentence if somebody else filed the run, too.
    """
    here = folder.read_run(run_id)
    if here == content:
        return False, ""
    other = trusted(content, run_id)[0]["filing"]
    try:
        own = trusted(here, run_id)[0]["filing"]
    except DataError:
        folder.replace_run(run_id, content)
        return True, ""
    # Equal filings, and other bytes: the file was written by another version, and is written again by this one.
    if order_of_filings(other) <= order_of_filings(own):
        folder.replace_run(run_id, content)
    if own == other:
        return False, ""
    first, second = sorted((own, other), key=order_of_filings)
    return False, f"the run {run_id[:12]} was filed {_filed(first)}, which is kept, and {_filed(second)}."


def _filed(filing: Mapping[str, str]) -> str:
    who = filing["contributor"] or filing["user"]
    return f"by {repr(who) if who else 'somebody'} at {filing['filed'] or 'an unknown time'}"


def _content(clean: Path, run_id: str) -> bytes:
    return (clean / f"{run_id}.parquet").read_bytes()


def _of_runs(
    store: Store, retractions: Mapping[str, Record], run_ids: Iterable[str], there: Collection[str] | None = None
) -> tuple[Hidden, ...]:
    """Return the retractions of some runs, with the platforms of the runs.

    `there`: ids of the runs that were here before; by default all were.
    """
    wanted = sorted(run_ids)
    if not wanted:
        return ()
    runs = store.runs(retracted=True)
    platforms = dict(zip(runs["run_id"], runs["platform"], strict=True))
    found = []
    for run_id in wanted:
        one = retractions[run_id]
        was_here = there is None or run_id in there
        found.append(Hidden(run_id, platforms.get(run_id, "unreadable"), one["reason"], one["by"], one["when"], was_here))
    return tuple(found)


def _known(store: Store) -> list[MarkedRun]:
    """Return all runs of a store with their marks, retracted ones included."""
    found: list[MarkedRun] = []
    for run_id, own in store.marks().groupby("run_id", sort=False):
        origin = Origin.of(str(run_id), json.loads(own["record"].iloc[0])["measured"])
        found.append((origin, {**{name: own[name].tolist() for name in ("raw_hash", *MARKS)}, TOKENS: own[TOKENS].iloc[0]}))
    return found
