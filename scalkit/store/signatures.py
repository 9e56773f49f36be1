"""Signatures by SSH keys: who files, retracts or restores can sign it, and a store lists whose signatures count."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scalkit.errors import StoreError, UsageError
from scalkit.store.runs.record import canonical

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
