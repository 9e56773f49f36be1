"""What people say of runs: that one is wrong, that it is not, and that they filed it. Statements are added, never deleted."""

import datetime as dt
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scalkit.errors import DataError, StoreError, UsageError
from scalkit.store.filed.outcome import login
from scalkit.store.folder import StoreFolder, now
from scalkit.store.runs.content import canonical
from scalkit.store.runs.texts import retraction_problem
from scalkit.store.submissions.containers import Policy

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

    def retract(self, run_id: str, reason: str, by: str | None = None, key: str | os.PathLike[str] | None = None) -> None:
        """Take a run out of all answers; its file stays, and `merge` carries the retraction on.

        `run_id`: or its beginning.
        `reason`: what is wrong with it.
        `by`: who says so; by default the login name.
        `key`: SSH key to sign it with, so that it counts in stores that trust the signer.
        Raises DataError if there is no such run.
        Raises UsageError if there is no reason, or a text is one that `validate` refuses.
        Raises StoreError if the store is read-only, or it is to be signed and there is no ssh-keygen.
        """
        self._state(run_id, "a retraction needs a reason; say what is wrong with the run.", reason, by, key)

    def restore(self, run_id: str, reason: str, by: str | None = None, key: str | os.PathLike[str] | None = None) -> None:
        """Undo the retraction of a run: it is in the answers again, and both statements are kept. Parameters as in `retract`.

        Raises DataError if there is no such run.
        Raises UsageError if there is no reason, a text is one that `validate` refuses, or the run is not retracted.
        Raises StoreError as of `retract`.
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

        Raises UsageError if the name or the key is none.
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

        `key`: SSH key, as ``~/.ssh/id_ed25519``.
        `run_ids`: ids, or their beginnings.
        Raises UsageError if the key cannot be used.
        Raises StoreError if there is no ssh-keygen.
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


NAMESPACE = "scalkit-store"
"""A signature for anything else, as of a commit, does not count here."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9@._+-]{0,99}")
_KEY = re.compile(r"(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,3}(?= |\n|$)")
_ARMOUR = re.compile(r"-----BEGIN SSH SIGNATURE-----\n[A-Za-z0-9+/=\n]{100,4000}-----END SSH SIGNATURE-----\n?")


def of_run(run_id: str, filing: Mapping[str, Any]) -> bytes:
    """Return what is signed of a run: its id, which is the hash of what was measured, and who filed it."""
    return canonical({"run_id": run_id, "filing": dict(filing)}).encode()


def of_statement(entry: Mapping[str, Any]) -> bytes:
    """Return what is signed of a retraction, or of the end of one."""
    return canonical({key: value for key, value in entry.items() if key != "signature"}).encode()


def signed(text: bytes, key: str | os.PathLike[str]) -> str:
    """Return the signature of a text by a private key, or by the public one whose private key an agent has.

    Raises UsageError if the key cannot be used; StoreError if there is no ssh-keygen.
    """
    done = _ssh_keygen(["-Y", "sign", "-q", "-n", NAMESPACE, "-f", os.fspath(key)], text)
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no reason given"]
        raise UsageError(f"cannot sign with {os.fspath(key)!r}: {words[0]}; name an SSH key, as ~/.ssh/id_ed25519.")
    return done.stdout.decode()


def signer_of(text: bytes, signature: str, allowed: Path) -> str:
    """Return who signed a text, by the name that a list of trusted signers has; empty if it is none of them.

    `signature`: as `signed` returned it. `allowed`: lines as ``ssh-keygen(1)`` describes them under ALLOWED SIGNERS.
    Raises StoreError if there is no ssh-keygen.
    """
    if not _ARMOUR.fullmatch(signature) or not allowed.is_file():
        return ""
    with tempfile.TemporaryDirectory(prefix="scalkit-signature-") as folder:
        file = Path(folder) / "signature"
        file.write_text(signature, encoding="ascii")
        where = ["-s", str(file), "-f", str(allowed)]
        found = _ssh_keygen(["-Y", "find-principals", *where], b"")
        for name in found.stdout.decode("utf-8", "replace").splitlines() if found.returncode == 0 else ():
            words = ["-Y", "verify", "-n", NAMESPACE, "-I", name, *where]
            if _NAME.fullmatch(name) and _ssh_keygen(words, text).returncode == 0:
                return name
    return ""


def line_of(name: str, public_key: Path) -> str:
    """Return the line of a list of trusted signers that trusts a key under a name.

    Raises UsageError if the name has other characters than letters, digits and ``@._+-``, or the file is no public key.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"the signer {name!r:.60} is no name; use letters, digits and @._+-, as in alice@lab.org.")
    try:
        found = _KEY.match(public_key.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {str(public_key)!r}: {error}; name a public key.") from error
    if found is None:
        raise UsageError(f"{str(public_key)!r} is no public key of SSH; name a file such as ~/.ssh/id_ed25519.pub.")
    return f'{name} namespaces="{NAMESPACE}" {found[0]}\n'


def _ssh_keygen(words: Sequence[str], text: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["ssh-keygen", *words], input=text, capture_output=True, check=False, timeout=120)
    except FileNotFoundError as error:
        raise StoreError(
            "signatures need the program ssh-keygen, which is not here; install OpenSSH (openssh-client)."
        ) from error
    except subprocess.TimeoutExpired as error:
        raise StoreError("ssh-keygen did not end within 120 s; unlock the key in an agent (ssh-add).") from error
