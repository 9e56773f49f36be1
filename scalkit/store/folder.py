"""The folder of a store: files that never change, written under another name and renamed; no locks."""

import contextlib
import datetime as dt
import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scalkit.errors import StoreError
from scalkit.native import cache_folder
from scalkit.store.runs.columns import SCHEMA_VERSION

MARKER = "scalkit-store.json"
INDEX = "index"
"""A folder that no store has any more: what is derived is made by who reads, in a place of one's own."""

SIGNERS = "allowed_signers"
RUNS, RETRACTED, SIGNATURES = "runs", "retracted.jsonl", "signatures.jsonl"
_TEMPORARY = "tmp"
_NAME = re.compile(r"[0-9a-f]{32}\.parquet")
_ORPHAN_AFTER_S = 24 * 3600.0
_FULL = (errno.ENOSPC, errno.EDQUOT)


def now() -> str:
    """Return the time in UTC, to the second."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class StoreFolder:
    """What lies on the disk, and the only code that changes it.

    A file appears under its name when all of it is on the disk: it is written into ``tmp/``, flushed, and renamed. Whoever is
    killed meanwhile leaves a file in ``tmp/`` that the next one who opens the store for writing sweeps away.
    """

    def __init__(self, path: Path, *, readonly: bool, archive: Path | str | None = None) -> None:
        self.path = path
        self.readonly = readonly
        self.archive = archive

    @property
    def shown(self) -> Path | str:
        """What the user knows the store by: the folder, or the zip or the URL that it was copied from."""
        return self.archive or self.path

    @property
    def name(self) -> str:
        """The name of what the user knows the store by."""
        return self.path.name if self.archive is None else Path(self.archive).stem

    @classmethod
    def opened(cls, path: Path, *, readonly: bool, archive: Path | str | None = None) -> "StoreFolder":
        """Return the folder, made if it is missing or empty; orphans are swept unless it is read-only.

        `archive` is the zip or the URL that it was copied from.

        Raises StoreError if it is no store, of a newer schema, or cannot be made.
        """
        folder = cls(path, readonly=readonly, archive=archive)
        if not (path / MARKER).is_file():
            if readonly:
                raise StoreError(
                    f"there is no store at {str(path)!r}; name the folder that 'scalkit store put' made, or a zip of it."
                )
            folder._make()
        folder._require_known_schema()
        if not readonly:
            folder.sweep()
            shutil.rmtree(folder.path / INDEX, ignore_errors=True)  # of an older scalkit, or of who sent the folder
        return folder

    @property
    def index(self) -> Path:
        """The folder of this user's index of the store: in the cache, as nobody else's is believed."""
        key = hashlib.sha256(os.fsencode(self.path.resolve())).hexdigest()[:32]
        return cache_folder("stores") / key

    @property
    def signers(self) -> Path:
        """The list of those whose signatures count, as ssh-keygen reads it."""
        return self.path / SIGNERS

    @property
    def runs(self) -> Path:
        """The folder of the runs."""
        return self.path / RUNS

    def _make(self) -> None:
        mine = (RUNS, _TEMPORARY, MARKER)  # also of a process that makes this very store at the same time
        if self.path.exists() and (not self.path.is_dir() or any(one.name not in mine for one in self.path.iterdir())):
            raise StoreError(f"{str(self.path)!r} is no store and not empty; name an empty or a new folder.")
        marker = {"scalkit_store": 1, "schema_version": SCHEMA_VERSION, "created": now()}
        with self._explained("make the store"):
            for name in (RUNS, _TEMPORARY):
                (self.path / name).mkdir(parents=True, exist_ok=True)
            self.replace(MARKER, (json.dumps(marker) + "\n").encode())

    def _require_known_schema(self) -> None:
        path = self.path / MARKER
        try:
            version = int(json.loads(path.read_text(encoding="utf-8"))["schema_version"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"cannot read {str(path)!r}: {error}; restore it, or delete it and open the store again, in its own folder."
            ) from error
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"the store {str(self.shown)!r} has schema {version}, newer than {SCHEMA_VERSION}, the newest that this "
                "scalkit reads; update scalkit."
            )
        if version < SCHEMA_VERSION and not self.readonly:
            with contextlib.suppress(StoreError):  # an older scalkit is told; who cannot write only reads
                marker = {**json.loads(path.read_text(encoding="utf-8")), "schema_version": SCHEMA_VERSION}
                self.replace(MARKER, (json.dumps(marker) + "\n").encode())

    def run_ids(self) -> list[str]:
        """Return the ids of all runs, retracted ones included, in no particular order."""
        return list(self.stamps())

    def stamps(self) -> dict[str, str]:
        """Return size and date of the file of every run by its id: a file that was replaced has another stamp."""
        found = {}
        with contextlib.suppress(FileNotFoundError), os.scandir(self.runs) as entries:
            for entry in entries:
                if _NAME.fullmatch(entry.name):
                    with contextlib.suppress(OSError):
                        status = entry.stat()
                        found[entry.name[:32]] = f"{status.st_size}:{status.st_mtime_ns}"
        return found

    def file_of(self, run_id: str) -> Path:
        """Return where a run lies, whether it is there or not."""
        return self.runs / f"{run_id}.parquet"

    def add(self, run_id: str, content: bytes) -> bool:
        """Return whether a run was added; False if it was there.

        Raises StoreError if the store is read-only, or the disk is full or fails. The store is then as before.
        """
        self.require_writable()
        if self.file_of(run_id).exists():
            return False
        self.replace(f"{RUNS}/{run_id}.parquet", content)
        return True

    def replace(self, name: str, content: bytes) -> None:
        """Write a file of the store, all or nothing."""
        target = self.path / name
        with self._explained(f"write {name}", len(content)):
            for attempt in range(3):
                temporary = self._temporary(target.name)
                try:
                    _write(temporary, content)
                    os.replace(temporary, target)
                    break
                except FileNotFoundError:  # another machine with this host's name took it for an orphan
                    if attempt == 2:
                        raise
                except BaseException:
                    with contextlib.suppress(OSError):
                        temporary.unlink()
                    raise
            _flush_folder(target.parent)

    def _temporary(self, name: str) -> Path:
        folder = self.path / _TEMPORARY
        folder.mkdir(exist_ok=True)
        return folder / f"{name}.{_host()}.{os.getpid()}.{secrets.token_hex(4)}"

    def scratch(self) -> Path:
        """Return a new folder in ``tmp/``, which is swept like any orphan."""
        self.require_writable()
        with self._explained("make a folder"):
            folder = self._temporary("merge")
            folder.mkdir()
        return folder

    def sweep(self) -> int:
        """Return how many orphans were deleted: what killed writers of this host left, and what is older than a day."""
        swept = 0
        with contextlib.suppress(OSError), os.scandir(self.path / _TEMPORARY) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if _is_orphan(entry.name, entry.stat(follow_symlinks=False).st_mtime):
                        _delete(Path(entry.path))
                        swept += 1
        return swept

    def retracted(self) -> list[dict[str, Any]]:
        """Return what was said of runs, oldest first: ``run_id``, ``reason``, ``by``, ``when``; ``restored``, ``signature``."""
        must = ("run_id", "reason", "by", "when")
        return self._lines(RETRACTED, must, ("restored", "signature"))

    def signatures(self) -> list[dict[str, Any]]:
        """Return the signatures of runs: ``run_id`` and ``signature``."""
        return self._lines(SIGNATURES, ("run_id", "signature"), ())

    def _lines(self, name: str, must: tuple[str, ...], may: tuple[str, ...]) -> list[dict[str, Any]]:
        try:
            lines = (self.path / name).read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        found = []
        for line in lines:
            with contextlib.suppress(ValueError, RecursionError):  # a line that a killed writer began
                fields = json.loads(line)
                if isinstance(fields, dict) and re.fullmatch(r"[0-9a-f]{32}", str(fields.get("run_id"))):
                    more = [key for key in may if fields.get(key)]
                    found.append({key: str(fields.get(key, "")) for key in (*must, *more)})
        return found

    def retract(self, entries: list[dict[str, Any]]) -> None:
        """Append what is said of runs."""
        self._append(RETRACTED, entries)

    def add_signatures(self, entries: list[dict[str, Any]]) -> None:
        """Append signatures of runs that are not there yet."""
        there = self.signatures()
        self._append(SIGNATURES, [one for one in entries if one not in there])

    def _append(self, name: str, entries: list[dict[str, Any]]) -> None:
        self.require_writable()
        if not entries:
            return
        text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
        with self._explained(f"write {name}", len(text)):
            # a newline first: whoever wrote before may have been killed within a line
            number = os.open(self.path / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                content = ("\n" + text).encode()
                if os.write(number, content) < len(content):  # what is there of a line is passed over
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(number)
            finally:
                os.close(number)

    def require_writable(self) -> None:
        """Return nothing if the store was opened for writing. Raises StoreError."""
        if self.archive is not None:
            shown, what = str(self.archive), "on a server" if isinstance(self.archive, str) else "a zip"
            raise StoreError(f"{shown!r} is {what}, which is only read; 'scalkit store merge FOLDER {shown}' makes a folder.")
        if self.readonly:
            raise StoreError(f"the store {str(self.path)!r} was opened to be read only; open it without readonly=True.")

    @contextlib.contextmanager
    def _explained(self, what: str, size: int = 0) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno in _FULL:
                needed = f" {size / 1e6:.2g} MB are needed;" if size else ""
                raise StoreError(
                    f"cannot {what} in {str(self.path)!r}: the disk is full;{needed} make room and do it again, "
                    "the store is as it was."
                ) from error
            if error.errno == errno.EFBIG:
                raise StoreError(
                    f"cannot {what} in {str(self.path)!r}: its {size / 1e6:.2g} MB are more than this process may write into a "
                    "file; raise the limit (ulimit -f) and do it again, the store is as it was."
                ) from error
            reason = error.strerror or str(error)
            raise StoreError(f"cannot {what} in {str(self.path)!r}: {reason}; check the folder and its permissions.") from error


def _write(path: Path, content: bytes) -> None:
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(number, view) :]
        os.fsync(number)
    finally:
        os.close(number)


def _flush_folder(path: Path) -> None:
    with contextlib.suppress(OSError):  # some file systems cannot flush a folder
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())[:64] or "host"


def _is_orphan(name: str, modified: float) -> bool:
    if time.time() - modified > _ORPHAN_AFTER_S:
        return True
    host, pid = name.split(".")[-3:-1] if name.count(".") >= 3 else ("", "")
    return host == _host() and pid.isascii() and pid.isdigit() and not _is_alive(int(pid))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink()
