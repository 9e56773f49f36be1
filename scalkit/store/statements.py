"""What people say of runs: that one is wrong, that it is not, and who signs that. Statements are added, never deleted.

Statements and signatures are sets of records, so that merging stores in any order gives the same. Which statement about a
run counts follows from the set alone, and from whom the reader trusts: one of a trusted signer counts before all others, then
the latest one, then, of the same second, the one with the larger hash.

A flag says that a run is implausible, or a copy of another one; see `scalkit.store.flags`. It takes the run out of all
answers until a person accepts the run, by restoring it. What people say counts before flags.
"""

import datetime as dt
import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from scalkit.errors import DataError, UsageError
from scalkit.store.filed.outcome import login
from scalkit.store.flags import Group, shown_copy, shown_flag
from scalkit.store.folder import StoreFolder
from scalkit.store.records import FILING, SIGNATURES, STATEMENTS, TIME, Record, now, record_name
from scalkit.store.runs.content import trusted
from scalkit.store.runs.texts import retraction_problem
from scalkit.store.signing import Signature, Signers, require_name, signed, text_of_run, text_of_statement
from scalkit.store.submissions.containers import Policy
from scalkit.support.arguments import each_of, require_text


def _nobody_is_trusted(_statement: Mapping[str, str]) -> bool:
    return False


def in_effect(
    statements: Iterable[Record],
    is_trusted: Callable[[Record], bool] = _nobody_is_trusted,
    signed_runs: Collection[str] = (),
    flags: Sequence[Record] = (),
    groups: Sequence[Group] = (),
    there: Collection[str] | None = None,
) -> list[Record]:
    """Return the retraction or flag of each run that is hidden, in whatever order the statements came.

    `is_trusted`: whether a signer whom the reader trusts made a statement.
    `signed_runs`: ids of runs that such a signer signed. Only statements of such signers take these out.
    `flags`: what is implausible in runs. `groups`: of copies.
    `there`: ids of the runs of the store; by default, all that are spoken of are there.
    """

    def rank(statement: Record) -> tuple[bool, str, str]:
        return is_trusted(statement), statement["when"], record_name(statement)

    latest: dict[str, tuple[tuple[bool, str, str], Record]] = {}
    for statement in statements:
        ranked = rank(statement), statement
        run_id = statement["run_id"]
        if run_id not in latest or latest[run_id][0] < ranked[0]:
            latest[run_id] = ranked
    hidden = {
        run_id: statement
        for run_id, (ranks, statement) in latest.items()
        if "restored" not in statement and (ranks[0] or run_id not in signed_runs)
    }
    retracted = frozenset(hidden)
    found = [shown_flag(one) for one in sorted(flags, key=record_name)]
    found = [one for one in found if one["run_id"] not in latest and one["run_id"] not in signed_runs]
    implausible = frozenset(one["run_id"] for one in found)
    for group in groups:
        of_group = _copies_in(group, frozenset(signed_runs), retracted, implausible, there)
        found += [one for one in of_group if one["run_id"] not in latest and one["run_id"] not in signed_runs]
    for one in found:
        before = hidden.get(one["run_id"])
        hidden[one["run_id"]] = one if before is None else {**before, "reason": f"{before['reason']}; {one['reason']}"}
    return [hidden[run_id] for run_id in sorted(hidden)]


def _copies_in(
    group: Group,
    signed_runs: frozenset[str],
    retracted: frozenset[str],
    implausible: frozenset[str],
    there: Collection[str] | None,
) -> list[Record]:
    """Return the runs of a group that are copies of its first one that is there and that no person retracted.

    Of runs that somebody signed whom the reader trusts the first comes before all others, and implausible ones come last.
    """
    units = [[run_id for run_id in unit if there is None or run_id in there] for unit in group]
    units = [unit for unit in units if unit]
    units.sort(key=lambda unit: (signed_runs.isdisjoint(unit), implausible.issuperset(unit)))
    kept = next((unit for unit in units if not retracted.issuperset(unit)), None)
    if kept is None:
        return []
    original = next(run_id for run_id in kept if run_id not in retracted)
    return [shown_copy(run_id, original) for unit in units if unit is not kept for run_id in unit]


class Statements:
    """The part of a store that holds what people say of its runs."""

    _folder: StoreFolder
    _signers: Signers
    _trusted: dict[str, bool]

    def resolve(self, run_id: str) -> str:
        """Return the id of the run with this beginning. Raises DataError unless one run has it."""
        require_text(run_id, "the id of the run")
        found = [one for one in self._folder.run_ids() if run_id and one.startswith(run_id)]
        if len(found) == 1:
            return found[0]
        if found:
            raise DataError(f"{len(found)} runs have an id that begins with {run_id!r}; give more of it.")
        raise DataError(f"there is no run {run_id!r:.50} in {str(self._folder.shown)!r}; 'scalkit store runs' lists them.")

    def record(self, run_id: str) -> dict[str, Any]:
        """Return everything that is known about a run: ``measured``, ``filing``, ``run_id`` and ``schema_version``.

        The filing is the one signed by a signer whom the reader trusts, or else that of its file.
        """
        record = self.filed(run_id)
        filing = self.signed_filings([record["run_id"]]).get(record["run_id"])
        return record if filing is None else {**record, "filing": filing}

    def filed(self, run_id: str) -> dict[str, Any]:
        """Return the record in the file of a run, whoever signed another filing of it."""
        full = self.resolve(run_id)
        return trusted(self._folder.read_run(full), full)[0]

    def retract(self, run_id: str, reason: str, by: str | None = None, key: str | os.PathLike[str] | None = None) -> None:
        """Take a run out of all answers; its file stays, and `merge` carries the retraction on.

        `run_id`: or its beginning.
        `reason`: what is wrong with it.
        `by`: who says so; by default the login name. With a key, the name under which others trust it.
        `key`: SSH key to sign it with. A signed statement counts before unsigned ones where its signer is trusted.
        Raises DataError if there is no such run.
        Raises UsageError if there is no reason, a text is one that `validate` refuses, or a trusted signer signed the run
        and nobody whom the reader trusts signs this.
        Raises StoreError if the store is read-only, or it is to be signed and there is no ssh-keygen.
        """
        self._state(run_id, reason, by, key)

    def restore(self, run_id: str, reason: str, by: str | None = None, key: str | os.PathLike[str] | None = None) -> None:
        """Undo the retraction of a run, or accept one that is flagged: it is in the answers again, and all statements are kept.

        Parameters as in `retract`.

        Raises DataError if there is no such run.
        Raises UsageError if there is no reason, a text is one that `validate` refuses, the run is not retracted, or a
        trusted signer retracted it and nobody whom the reader trusts signs this.
        Raises StoreError as of `retract`.
        """
        self._state(run_id, reason, by, key, is_restored=True)

    def _state(
        self, run_id: str, reason: str, by: str | None, key: str | os.PathLike[str] | None, *, is_restored: bool = False
    ) -> None:
        """Add a statement about a run that is later than all others about it."""
        full = self.resolve(run_id)
        if is_restored and not self._is_retracted(full):
            raise UsageError(f"the run {full[:12]} is neither retracted nor flagged; there is nothing to restore.")
        what, why = (
            ("restoration", "why the run is right after all") if is_restored else ("retraction", "what is wrong with the run")
        )
        require_text(reason, "the reason")
        if not reason.strip():
            raise UsageError(f"a {what} needs a reason; say {why}.")
        before = max((one["when"] for one in self._folder.statements() if one["run_id"] == full), default="")
        entry: Record = {"run_id": full, "reason": reason, "by": login() if by is None else by, "when": _after(before)}
        require_text(entry["by"], "who says so")
        if is_restored:
            entry["restored"] = "yes"
        problem = retraction_problem([entry], Policy().max_text)
        if problem is not None:
            raise UsageError(problem[1])
        self._folder.require_writable()
        if key is not None:
            require_name(entry["by"])
            entry["signature"] = signed(text_of_statement(entry), key)
        if self._is_retracted(full, entry) == is_restored:
            raise UsageError(
                f"this {what} of the run {full[:12]} would not count: a signer whom you trust says otherwise; sign it with a key "
                "that you trust, as in --key ~/.ssh/id_ed25519."
            )
        self._folder.add_records(STATEMENTS, [entry])

    def _is_retracted(self, run_id: str, *further: Record) -> bool:
        """Return whether a run is retracted, or would be after further statements."""
        return run_id in {one["run_id"] for one in self._in_effect([*self._folder.statements(), *further])}

    def retractions(self) -> list[Record]:
        """Return what is retracted, or flagged and not accepted: ``run_id``, ``reason``, ``by``, ``when``.

        Retractions that are signed have ``signature``; flags have ``found``, a code, and those of copies ``copy_of``.
        """
        return self._in_effect(self._folder.statements())

    def _in_effect(self, statements: Sequence[Record]) -> list[Record]:
        unsure = {one["run_id"] for one in statements if not self.is_trusted(one)}
        unsure |= {one["run_id"] for one in self._folder.flags()}
        unsure |= {run_id for group in self._folder.copies() for unit in group for run_id in unit}
        signed_runs = {run_id for run_id, one in self.signed(unsure).items() if one.is_trusted} if unsure else ()
        there = set(self._folder.run_ids())
        return in_effect(statements, self.is_trusted, signed_runs, self._folder.flags(), self._folder.copies(), there)

    # ---- who says so ----

    def sign(
        self, key: str | os.PathLike[str], run_ids: str | Sequence[str] | None = None, name: str | None = None
    ) -> tuple[str, ...]:
        """Sign runs, by default all; return their ids.

        `key`: SSH key, as ``~/.ssh/id_ed25519``.
        `run_ids`: ids, or their beginnings.
        `name`: the name under which others trust the key; by default the login name.
        Raises UsageError if the key cannot be used, or the name is none.
        Raises StoreError if there is no ssh-keygen.
        """
        self._folder.require_writable()
        signer = require_name(login() if name is None else name)
        given = self._folder.run_ids() if run_ids is None else run_ids
        whole = sorted(self.resolve(one) for one in each_of(given, str, "the runs", "give their ids"))
        records = []
        for run_id in whole:
            record = self.record(run_id)
            filing = {field: str(record["filing"].get(field, "")) for field in FILING}
            signature = signed(text_of_run(record, filing, signer), key)
            records.append({"run_id": run_id, "signer": signer, "signature": signature, **filing})
        self._folder.add_records(SIGNATURES, records)
        return tuple(whole)

    def signed(self, run_ids: Collection[str] | None = None) -> dict[str, Signature]:
        """Return what the signatures of runs are worth; damaged and unsigned runs have none.

        `run_ids`: only of these.
        Returns: for each run the signature of a trusted signer, or else one of somebody else; of several the one whose filing is
        the earliest.
        """
        there = set(self._folder.run_ids())
        listed = self._signers.names()
        by_run: dict[str, list[Record]] = {}
        for one in self._folder.signatures():
            if one["run_id"] in there and (run_ids is None or one["run_id"] in run_ids):
                by_run.setdefault(one["run_id"], []).append(one)
        found = {}
        for run_id, several in by_run.items():
            several.sort(key=order_of_filings)
            hopeful = [one for one in several if one["signer"] in listed]
            try:
                record = self.filed(run_id) if hopeful else {}
            except DataError:  # it is damaged
                continue
            good = next((one for one in hopeful if self._has_signed_run(record, one)), None)
            best = good or several[0]
            found[run_id] = Signature(best["signer"], good is not None, {field: best[field] for field in FILING})
        return found

    def _has_signed_run(self, record: Mapping[str, Any], one: Record) -> bool:
        filing = {field: one[field] for field in FILING}
        return self._has_signed(text_of_run(record, filing, one["signer"]), one["signature"], one["signer"])

    def signed_filings(self, run_ids: Collection[str] | None = None) -> dict[str, Record]:
        """Return who filed runs according to signers whom the reader trusts, by the ids of the runs.

        `run_ids`: only of these.
        """
        return {run_id: one.filing for run_id, one in self.signed(run_ids).items() if one.is_trusted}

    def is_trusted(self, statement: Mapping[str, str]) -> bool:
        """Return whether a statement was signed by the signer that it names, and the reader trusts that one."""
        if "signature" not in statement:
            return False
        return self._has_signed(text_of_statement(statement), statement["signature"], statement["by"])

    def _has_signed(self, text: bytes, signature: str, name: str) -> bool:
        """Return what the list of signers says; each answer is kept while the list stays as it is."""
        if name not in self._signers.names():
            return False
        listed = "\n".join(self._signers.lines())
        key = hashlib.sha256("\0".join((listed, text.decode(), signature, name)).encode()).hexdigest()
        if key not in self._trusted:
            self._trusted[key] = self._signers.has_signed(text, signature, name)
        return self._trusted[key]


def order_of_filings(filing: Mapping[str, str]) -> tuple[str, ...]:
    """Return what filings of one run are ordered by: their time, an unknown one last, then their text."""
    filed = filing["filed"]
    return ("" if filed else "unknown", filed, *(filing[field] for field in FILING))


def _after(before: str) -> str:
    """Return the time, at least a second after another one: the latest statement counts."""
    if not before:
        return now()
    least = dt.datetime.fromisoformat(before) + dt.timedelta(seconds=1)
    return max(now(), least.strftime(TIME))
