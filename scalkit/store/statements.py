"""What people say of runs: that one is wrong, that it is not, and that they filed it. Statements are added, never deleted."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scalkit.errors import DataError, UsageError
from scalkit.store.filed.outcome import login
from scalkit.store.folder import StoreFolder, now
from scalkit.store.runs.texts import retraction_problem
from scalkit.store.signatures import line_of, of_run, of_statement, signed, signer_of
from scalkit.store.submissions.policy import Policy

_WHEN = "%Y-%m-%dT%H:%M:%SZ"
Entry = dict[str, Any]


def in_effect(statements: Iterable[Entry]) -> list[Entry]:
    """Return the retractions of runs of which the latest statement is no restoration, in whatever order they came."""
    listed = list(statements)
    last: dict[str, tuple[str, bool]] = {}
    for one in listed:
        last[one["run_id"]] = max(last.get(one["run_id"], ("", False)), (one["when"], "restored" in one))
    return [one for one in listed if "restored" not in one and not last[one["run_id"]][1]]


class Statements:
    """The part of a store that holds what people say of its runs."""

    _folder: StoreFolder

    def resolve(self, run_id: str) -> str:
        """Return the whole id of a run, given its beginning."""
        raise NotImplementedError

    def record(self, run_id: str) -> dict[str, Any]:
        """Return everything that is known about a run."""
        raise NotImplementedError

    def retract(
        self, run_id: str, reason: str, by: str | None = None, key: str | os.PathLike[str] | None = None
    ) -> None:
        """Take a run out of all answers; its file stays, and `merge` carries the retraction on.

        Parameters
        ----------
        run_id : str
            Or its beginning.
        reason : str
            What is wrong with it.
        by : str, optional
            Who says so; by default the login name.
        key : path, optional
            SSH key to sign it with, so that it counts in stores that trust the signer.

        Raises
        ------
        DataError
            If there is no such run.
        UsageError
            If there is no reason, or a text is one that `validate` refuses.
        StoreError
            If the store is read-only, or it is to be signed and there is no ssh-keygen.
        """
        self._state(run_id, "a retraction needs a reason; say what is wrong with the run.", reason, by, key)

    def restore(
        self, run_id: str, reason: str, by: str | None = None, key: str | os.PathLike[str] | None = None
    ) -> None:
        """Undo the retraction of a run: it is in the answers again, and both statements are kept. Parameters as in `retract`.

        Raises
        ------
        DataError
            If there is no such run.
        UsageError
            If there is no reason, a text is one that `validate` refuses, or the run is not retracted.
        StoreError
            As of `retract`.
        """
        full = self.resolve(run_id)
        if full not in {one["run_id"] for one in self.retractions()}:
            raise UsageError(f"the run {full[:12]} is not retracted; there is nothing to restore.")
        lacks = "a restoration needs a reason; say why the run is right after all."
        self._state(full, lacks, reason, by, key, restored="yes")

    def _state(
        self, run_id: str, lacks: str, reason: str, by: str | None, key: str | os.PathLike[str] | None, **more: str
    ) -> None:
        if not reason.strip():
            raise UsageError(lacks)
        full = self.resolve(run_id)
        before = max((one["when"] for one in self._folder.retracted() if one["run_id"] == full), default="")
        entry: Entry = {"run_id": full, "reason": reason, "by": login() if by is None else by, "when": _after(before)}
        entry |= more
        problem = retraction_problem([entry], Policy().max_text)
        if problem is not None:
            raise UsageError(problem[1])
        self._folder.require_writable()
        if key is not None:
            entry["signature"] = signed(of_statement(entry), key)
        self._folder.retract([entry])

    def retractions(self) -> list[Entry]:
        """Return what is retracted: ``run_id``, ``reason``, ``by``, ``when``, and ``signature`` where there is one."""
        return in_effect(self._folder.retracted())

    # ---- who filed a run ----

    def trust(self, name: str, public_key: str | os.PathLike[str]) -> None:
        """Let the signatures of a key count in this store; ``allowed_signers`` lists them, a line each.

        Raises
        ------
        UsageError
            If the name or the key is none.
        """
        self._folder.require_writable()
        path = self._folder.signers
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        before += "" if before.endswith("\n") or not before else "\n"
        line = line_of(name, Path(public_key))
        if line not in before.splitlines(keepends=True):
            self._folder.replace(path.name, (before + line).encode())

    def sign(self, key: str | os.PathLike[str], run_ids: str | Sequence[str] | None = None) -> tuple[str, ...]:
        """Sign runs, by default all; return their ids.

        Parameters
        ----------
        key : path
            SSH key, as ``~/.ssh/id_ed25519``.
        run_ids : str or sequence of str, optional
            Ids, or their beginnings.

        Raises
        ------
        UsageError
            If the key cannot be used.
        StoreError
            If there is no ssh-keygen.
        """
        self._folder.require_writable()
        wanted = [run_ids] if isinstance(run_ids, str) else self._folder.run_ids() if run_ids is None else run_ids
        entries = []
        for run_id in sorted(self.resolve(one) for one in wanted):
            entries.append({"run_id": run_id, "signature": signed(of_run(run_id, self.record(run_id)["filing"]), key)})
        self._folder.add_signatures(entries)
        return tuple(str(one["run_id"]) for one in entries)

    def signers(self) -> dict[str, str]:
        """Return who signed each run that a trusted signer did, by their names in ``allowed_signers``; of damaged ones nobody."""
        there, found = set(self._folder.run_ids()), dict[str, str]()
        for one in self._folder.signatures():
            run_id = one["run_id"]
            if run_id in there and run_id not in found:
                try:
                    filing = self.record(run_id)["filing"]
                except DataError:
                    continue
                name = signer_of(of_run(run_id, filing), one["signature"], self._folder.signers)
                found |= {run_id: name} if name else {}
        return found

    def signer(self, statement: Mapping[str, Any]) -> str:
        """Return which trusted signer made a statement; empty if none did."""
        return signer_of(of_statement(statement), str(statement.get("signature", "")), self._folder.signers)


def _after(before: str) -> str:
    """Return the time, at least a second after another one: the latest statement counts."""
    try:
        least = dt.datetime.strptime(before, _WHEN) + dt.timedelta(seconds=1)
    except (ValueError, OverflowError):
        return now()
    return max(now(), least.strftime(_WHEN))
