"""Signatures by SSH keys, and the reader's own list of those whose signatures count."""

import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalkit.errors import BuildError, StoreError, UsageError
from scalkit.store.runs.content import canonical
from scalkit.support.arguments import path_of, require_text
from scalkit.support.files import whole_file
from scalkit.support.native import settings_folder

NAMESPACE = "scalkit-store"
"""A signature for anything else, as of a commit, does not count here."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9@._+-]{0,99}")
_KEY = re.compile(r"(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,3}(?= |\n|$)")
_LINE = re.compile(rf'(?P<text>({_NAME.pattern}) namespaces="{NAMESPACE}" {_KEY.pattern}) sha256:(?P<sum>[0-9a-f]{{16}})')
_ARMOUR = re.compile(r"-----BEGIN SSH SIGNATURE-----\n[A-Za-z0-9+/=\n]{100,4000}-----END SSH SIGNATURE-----\n?")
_TIMEOUT_S = 120


@dataclass(frozen=True)
class Signature:
    """A signature and its worth to a reader.

    `signer`: the name that it claims.
    `is_trusted`: whether the reader's list has a key under that name with which it was made.
    `filing`: who filed the run, according to it.
    """

    signer: str
    is_trusted: bool
    filing: dict[str, str]


class Signers:
    """The list of those whose signatures count for a reader. It belongs to the reader; no store has one.

    `path`: of the list; by default what the environment variable ``SCALKIT_SIGNERS`` names, or else ``allowed_signers`` in
    the folder of this user's settings of scalkit. Each line is as ``ssh-keygen(1)`` describes it under ALLOWED SIGNERS, and
    ends with a checksum of the rest.
    """

    def __init__(self, path: object = None) -> None:
        self._path = None if path is None else path_of(path, "the list of signers")
        self._read: tuple[tuple[object, ...], list[str]] | None = None

    @property
    def path(self) -> Path:
        """Where the list is, or would be. Raises BuildError if this user has no home directory."""
        if self._path is not None:
            return self._path
        named = os.environ.get("SCALKIT_SIGNERS")
        return Path(named).absolute() if named else settings_folder() / "allowed_signers"

    def lines(self) -> list[str]:
        """Return the lines of the list; none if there is none. Raises StoreError if one of them is damaged."""
        try:
            path = self.path
            status = path.stat()
            stamp = (path, status.st_ino, status.st_size, status.st_mtime_ns)
            if self._read is not None and self._read[0] == stamp:
                return list(self._read[1])
            text = path.read_text(encoding="utf-8")
        except (FileNotFoundError, BuildError):  # without a home directory there is no list either
            return []
        except (OSError, ValueError) as error:
            raise StoreError(f"cannot read the list of signers {str(self.path)!r}: {error}; restore or delete it.") from error
        found = []
        for number, line in enumerate(text.splitlines(), 1):
            parts = _LINE.fullmatch(line)
            if parts is None or parts["sum"] != _checksum(parts["text"]):
                raise StoreError(
                    f"line {number} of the list of signers {str(self.path)!r} does not fit its checksum; delete it and add "
                    "the signer again with 'scalkit store trust'."
                )
            found.append(line)
        self._read = stamp, found
        return list(found)

    def names(self) -> frozenset[str]:
        """Return the names in the list. Raises StoreError if it is damaged."""
        return frozenset(line.partition(" ")[0] for line in self.lines())

    def add(self, name: str, public_key: str | os.PathLike[str]) -> None:
        """Let the signatures of a key count under a name.

        Raises UsageError if the name has other characters than letters, digits and ``@._+-``, or the file is no public key.
        Raises StoreError if the list is damaged or cannot be written.
        """
        line = _line_of(name, path_of(public_key, "the key"))
        there = self.lines()
        if line in there:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"cannot make {str(self.path.parent)!r}: {error.strerror}; name another list with SCALKIT_SIGNERS."
            ) from error
        with whole_file(self.path, StoreError, "name another list of signers") as part:
            part.write_text("".join(f"{one}\n" for one in (*there, line)), encoding="utf-8")

    def has_signed(self, text: bytes, signature: str, name: str) -> bool:
        """Return whether a signature of a text was made with a key that this list has under a name.

        Raises StoreError if the list is damaged, or there is no ssh-keygen.
        """
        lines = self.lines()
        if not _ARMOUR.fullmatch(signature) or not _NAME.fullmatch(name) or not lines:
            return False
        with tempfile.TemporaryDirectory(prefix="scalkit-signature-") as folder:
            file, allowed = Path(folder) / "signature", Path(folder) / "allowed_signers"
            file.write_text(signature, encoding="ascii")
            allowed.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            words = ["-Y", "verify", "-n", NAMESPACE, "-I", name, "-s", str(file), "-f", str(allowed)]
            return _ssh_keygen(words, text).returncode == 0


def trust(name: str, public_key: str | os.PathLike[str], *, signers: str | os.PathLike[str] | None = None) -> Path:
    """Let the signatures of a key count for this user, in all stores; return the list that has it.

    `name`: under which the signer signs, as ``"alice@lab.org"``. `public_key`: a file such as ``~/.ssh/id_ed25519.pub``.
    `signers`: the list; by default this user's.
    Raises UsageError if the name or the key is none. Raises StoreError if the list is damaged or cannot be written.
    """
    listed = Signers(signers)
    listed.add(name, public_key)
    return listed.path


def text_of_run(record: Mapping[str, Any], filing: Mapping[str, str], signer: str) -> bytes:
    """Return what is signed of a run: its whole record, and the name of who signs it.

    `record`: has the run's id, which is the hash of what was measured.
    `filing`: in place of the record's own.
    """
    whole = {"run_id": record["run_id"], "measured": record["measured"], "filing": dict(filing), "signer": signer}
    return canonical(whole).encode()


def text_of_statement(statement: Mapping[str, str]) -> bytes:
    """Return what is signed of a statement: all of it, which includes the name of who makes it."""
    return canonical({key: value for key, value in statement.items() if key != "signature"}).encode()


def signed(text: bytes, key: str | os.PathLike[str]) -> str:
    """Return the signature of a text by a private key, or by the public one whose private key an agent has.

    Raises UsageError if the key cannot be used; StoreError if there is no ssh-keygen.
    """
    path = str(path_of(key, "the key"))
    done = _ssh_keygen(["-Y", "sign", "-q", "-n", NAMESPACE, "-f", path], text)
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no reason given"]
        raise UsageError(f"cannot sign with {path!r}: {words[0]}; name an SSH key, as ~/.ssh/id_ed25519.")
    return done.stdout.decode()


def is_name(name: str) -> bool:
    """Return whether a text may be the name of a signer: letters, digits and ``@._+-``."""
    return _NAME.fullmatch(name) is not None


def require_name(name: str) -> str:
    """Return the name of a signer. Raises UsageError if it has other characters than letters, digits and ``@._+-``."""
    require_text(name, "the name of the signer")
    if not is_name(name):
        raise UsageError(f"the signer {name!r:.60} is no name; use letters, digits and @._+-, as in alice@lab.org.")
    return name


def _line_of(name: str, public_key: Path) -> str:
    require_name(name)
    try:
        found = _KEY.match(public_key.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {str(public_key)!r}: {error}; name a public key.") from error
    if found is None:
        raise UsageError(f"{str(public_key)!r} is no public key of SSH; name a file such as ~/.ssh/id_ed25519.pub.")
    text = f'{name} namespaces="{NAMESPACE}" {found[0]}'
    return f"{text} sha256:{_checksum(text)}"


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _ssh_keygen(words: Sequence[str], text: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["ssh-keygen", *words], input=text, capture_output=True, check=False, timeout=_TIMEOUT_S)
    except FileNotFoundError as error:
        raise StoreError(
            "signatures need the program ssh-keygen, which is not here; install OpenSSH (openssh-client)."
        ) from error
    except subprocess.TimeoutExpired as error:
        raise StoreError(f"ssh-keygen did not end within {_TIMEOUT_S} s; unlock the key in an agent (ssh-add).") from error
