"""The folder of a store: files that never change, written under another name and renamed; no locks."""

import contextlib
import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from scalkit.errors import StoreError
from scalkit.store.directory import TEMPORARY, Directory
from scalkit.store.flags import COPIES, Group, content_of, groups_in
from scalkit.store.records import (
    FLAGS,
    KINDS,
    RECORD_FILE,
    RECORDS,
    SIGNATURES,
    STATEMENTS,
    Record,
    name_of,
    record_content,
    record_in,
)
from scalkit.store.runs.columns import SCHEMA_VERSION
from scalkit.store.runs.content import canonical, is_intact, sealed, way_on
from scalkit.support.native import cache_folder

MARKER = "scalkit-store.json"
INDEX = "index"
"""A folder that no store has any more: each reader derives the index in a place of their own."""

SIGNERS = "allowed_signers"
"""A list of signers that a store may bring. It counts for nobody, as each reader has their own."""

RUNS = "runs"
"""The folder of the runs; `RECORDS` are the others."""

_RUN = re.compile(r"[0-9a-f]{32}\.parquet")
_FULL = (errno.ENOSPC, errno.EDQUOT)
_LARGEST_COPIES = 1 << 26
_LARGEST_RECORD = 1 << 20
"""Bytes of a marker, statement or signature; the longest text that a submission may have takes a hundredth of that."""


class OtherSchemaError(StoreError):
    """A store that another version of scalkit wrote. `code`: ``"schema-newer"`` or ``"schema-older"``."""

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code


class StoreFolder:
    """What lies on the disk, and the only code that changes it.

    A file appears under its name when all of it is on the disk. Whoever is killed meanwhile leaves a file in ``tmp/``, which
    the next command that writes deletes. Reading changes nothing.
    """

    def __init__(self, path: Path, *, readonly: bool, archive: Path | None = None, hard_links: bool = False) -> None:
        self.path = path
        self.readonly = readonly
        self.archive = archive
        self._directory = Directory(path, hard_links=hard_links)
        self._records: dict[str, tuple[str, Record]] = {}
        self._is_prepared = False
        self._was_new = False

    @property
    def shown(self) -> Path:
        """What the user knows the store by: the folder, or the zip that it was copied from."""
        return self.archive or self.path

    @property
    def name(self) -> str:
        """The name of what the user knows the store by."""
        return self.path.name if self.archive is None else self.archive.stem

    @classmethod
    def opened(cls, path: Path, *, readonly: bool, archive: Path | None = None, hard_links: bool = False) -> "StoreFolder":
        """Return the folder; the first change makes it if it is missing or empty.

        `archive`: the zip that it was copied from.
        `hard_links`: accept files that have other names, too.
        Raises StoreError if it is no store, has links, is of a newer schema, or cannot be made.
        """
        folder = cls(path, readonly=readonly, archive=archive, hard_links=hard_links)
        if not path.exists() or MARKER not in folder.entries():
            if readonly:
                raise folder._missing()
            folder._was_new = True
            if folder.is_new:
                return folder
            folder._make()
        folder.require_known()
        for name in (RUNS, TEMPORARY):
            folder.entries(name)
        for name in RECORDS:
            folder._read_records(name)
        folder.copies()
        return folder

    def entries(self, name: str = "") -> dict[str, os.stat_result]:
        """Return what is in the folder, or in one of its folders, by name; nothing if there is no such folder.

        Raises StoreError if there is no store, or it cannot be read, or has links and the like.
        """
        if name and self.is_new:
            raise self._missing()
        with self._explained(f"read {name or 'the store'}"):
            return self._directory.entries(name)

    @property
    def is_new(self) -> bool:
        """Whether there is nothing yet, so that the first change makes the store.

        One that vanished is not new.
        """
        return self._was_new and (not self.path.exists() or not self.entries())

    def _missing(self) -> StoreError:
        return StoreError(
            f"there is no store at {str(self.path)!r}; name the folder of one, or a zip of it, or "
            "make one: 'scalkit store put' and Store.put do so with the first run."
        )

    def require_known(self) -> None:
        """Return nothing if this scalkit reads stores like this one. Raises StoreError."""
        if MARKER not in self.entries():
            return
        version = self._schema_version()
        if version != SCHEMA_VERSION:
            raise OtherSchemaError(
                f"the store {str(self.shown)!r} has schema {version}, and this scalkit reads {SCHEMA_VERSION}; {way_on(version)}",
                "schema-newer" if version > SCHEMA_VERSION else "schema-older",
            )

    @property
    def index(self) -> Path:
        """The folder of this user's index of the store: in the cache, as nobody else's is believed."""
        key = hashlib.sha256(os.fsencode(self.path.resolve())).hexdigest()[:32]
        return cache_folder("stores") / key

    @property
    def runs(self) -> Path:
        """The folder of the runs."""
        return self.path / RUNS

    def _make(self) -> None:
        # Also of a process that makes this very store at the same time.
        own = (RUNS, *RECORDS, COPIES, TEMPORARY, MARKER, SIGNERS)
        if self.path.exists() and (not self.path.is_dir() or any(one.name not in own for one in self.path.iterdir())):
            raise StoreError(f"{str(self.path)!r} is no store and not empty; name an empty or a new folder.")
        with self._explained("make the store"):
            self._directory.create()
            self._directory.make(RUNS)
        self.write({MARKER: marker_content()})
        self._was_new = False

    def _schema_version(self) -> int:
        problem = "its content does not fit its checksum"
        try:
            with self._explained(f"read {MARKER}"):
                marker = json.loads(self._directory.read(MARKER, _LARGEST_RECORD))
            version = marker["schema_version"]
            if isinstance(version, int) and (is_intact(marker) or version != SCHEMA_VERSION):
                return version
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            problem = f"it is no record of scalkit ({type(error).__name__})"
        raise StoreError(
            f"{str(self.path / MARKER)!r} is damaged: {problem}; delete it and open the store for writing, which makes it anew."
        )

    def prepare(self) -> None:
        """Make ready for the first change: make a new store, and delete what killed writers left.

        Raises StoreError if the store cannot be written.
        """
        self.require_writable()
        if self._is_prepared:
            return
        if self.is_new:
            self._make()
        with self._explained("clear temporary files"):
            self._directory.sweep()
        self._is_prepared = True

    def run_ids(self) -> list[str]:
        """Return the ids of all runs, retracted ones included, in no particular order."""
        return list(self.stamps())

    def stamps(self) -> dict[str, str]:
        """Return size and date of the file of every run by its id: a file that was replaced has another stamp."""
        entries = self.entries(RUNS)
        files = {name: status for name, status in entries.items() if stat.S_ISREG(status.st_mode)}
        return {name[:32]: _stamp(status) for name, status in files.items() if _RUN.fullmatch(name)}

    def read_run(self, run_id: str) -> bytes:
        """Return the content of the file of a run. Raises FileNotFoundError if there is none."""
        name = f"{RUNS}/{run_id}.parquet"
        with self._explained(f"read {name}", may_lack=True):
            return self._directory.read(name)

    def add(self, run_id: str, content: bytes) -> bool:
        """Return whether a run was added; False if it was there.

        Raises StoreError if the store is read-only, or the disk is full or fails. The store is then as before.
        """
        self.prepare()
        name = f"{RUNS}/{run_id}.parquet"
        if self._directory.is_file(name):
            return False
        self.write({name: content})
        return True

    def replace_run(self, run_id: str, content: bytes) -> None:
        """Write the file of a run anew. Raises as `add` does."""
        self.prepare()
        self.write({f"{RUNS}/{run_id}.parquet": content})

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write files of the store by name, each all or nothing."""
        if not files:
            return
        what = f"write {next(iter(files))}" if len(files) == 1 else f"write {len(files)} files"
        with self._explained(what, sum(map(len, files.values()))):
            self._directory.write(files)

    def statements(self) -> list[Record]:
        """Return what was said of runs, oldest first: ``run_id``, ``reason``, ``by``, ``when``; ``restored``, ``signature``.

        Raises StoreError if one of them is damaged.
        """
        found = self._read_records(STATEMENTS)
        return [found[name] for name in sorted(found, key=lambda name: (found[name]["when"], name))]

    def signatures(self) -> list[Record]:
        """Return the signatures of runs: ``run_id``, ``signer``, ``signature``, and `FILING`, which they sign, too.

        Raises StoreError if one is damaged.
        """
        found = self._read_records(SIGNATURES)
        return [found[name] for name in sorted(found)]

    def flags(self) -> list[Record]:
        """Return what is implausible in runs: ``run_id``, ``found``, ``reason``. Raises StoreError if one is damaged."""
        found = self._read_records(FLAGS)
        return [found[name] for name in sorted(found)]

    def copies(self) -> tuple[Group, ...]:
        """Return the groups of runs that are copies of each other. Raises StoreError if the file is damaged."""
        if not self._directory.is_file(COPIES):
            return ()
        with self._explained(f"read {COPIES}"):
            content = self._directory.read(COPIES, _LARGEST_COPIES)
        try:
            return groups_in(content)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise StoreError(f"{COPIES} in {str(self.shown)!r} is damaged; delete it, the next merge makes it anew.") from error

    def set_copies(self, groups: Sequence[Group]) -> None:
        """Write the groups of runs that are copies of each other. Raises as `add` does."""
        self.prepare()
        if not groups:
            with self._explained(f"delete {COPIES}"):
                self._directory.delete(COPIES)
        elif tuple(groups) != self.copies():
            self.write({COPIES: content_of(groups)})

    def drop_flags(self) -> None:
        """Delete the flags of runs that are not there, as a merge that was killed leaves them."""
        there = set(self.run_ids())
        for name, record in self._read_records(FLAGS).items():
            if record["run_id"] not in there:
                with self._explained(f"delete {FLAGS}/{name}"):
                    self._directory.delete(f"{FLAGS}/{name}")

    @property
    def has_signers(self) -> bool:
        """Whether the store brings a list of signers, which counts for nobody."""
        return self._directory.is_file(SIGNERS)

    def record_files(self) -> dict[str, bytes]:
        """Return all records and the groups of copies as files by name. Raises StoreError if one of them is damaged."""
        files = {}
        for folder in RECORDS:
            for file, record in self._read_records(folder).items():
                files[f"{folder}/{file}"] = record_content(record)
        groups = self.copies()
        return files | ({COPIES: content_of(groups)} if groups else {})

    def damaged_records(self) -> dict[str, str]:
        """Return the names of all records that are damaged, and what is wrong; all are read anew."""
        self._records.clear()
        damaged = {}
        for folder in RECORDS:
            for file in _records_in(self.entries(folder)):
                name = f"{folder}/{file}"
                try:
                    self._record(name)
                except StoreError as error:
                    damaged[name] = str(error)
        return damaged

    def _read_records(self, folder: str) -> dict[str, Record]:
        """Return the records in a folder by the names of their files, which are the hashes of what is in them."""
        found = {}
        for file, status in _records_in(self.entries(folder)).items():
            name = f"{folder}/{file}"
            stamp = _stamp(status)
            if name not in self._records or self._records[name][0] != stamp:
                self._records[name] = stamp, self._record(name)
            found[file] = self._records[name][1]
        return found

    def _record(self, name: str) -> Record:
        """Return the record in a file. Raises StoreError if the file is damaged, or something else."""
        folder, _, file = name.partition("/")
        with self._explained(f"read {name}"):
            content = self._directory.read(name, _LARGEST_RECORD)
        if not RECORD_FILE.fullmatch(file) or file != name_of(content):
            raise StoreError(
                f"{name} in {str(self.shown)!r} is damaged: its content does not fit its name; restore it from another copy "
                "of the store, or delete it if what it says may be lost."
            )
        record = record_in(content, folder)
        if record is None:
            raise StoreError(f"{name} in {str(self.shown)!r} is no {KINDS[folder]}; delete it.")
        return record

    def add_records(self, folder: str, records: list[Record]) -> int:
        """Write records that are not there yet into one of the folders `RECORDS`; return how many they were."""
        self.prepare()
        there = self.entries(folder)
        contents = {name_of(content): content for content in map(record_content, records)}
        new = {f"{folder}/{name}": content for name, content in contents.items() if name not in there}
        self.write(new)
        return len(new)

    def require_writable(self) -> None:
        """Return nothing if the store was opened for writing. Raises StoreError."""
        if self.archive is not None:
            raise StoreError(
                f"{str(self.archive)!r} is a zip, which is only read; 'scalkit store merge FOLDER {self.archive}' makes a folder."
            )
        if self.readonly:
            raise StoreError(f"the store {str(self.path)!r} was opened to be read only; open it without readonly=True.")

    @contextlib.contextmanager
    def _explained(self, what: str, size: int = 0, *, may_lack: bool = False) -> Iterator[None]:
        """Let what the system refuses be a StoreError.

        `may_lack`: let FileNotFoundError pass while the folder itself is there.
        """
        try:
            yield
        except OSError as error:
            if may_lack and isinstance(error, FileNotFoundError) and self.path.exists():
                raise
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


def marker_content() -> bytes:
    """Return the content of the file that makes a folder a store."""
    return (canonical(sealed({"scalkit_store": 1, "schema_version": SCHEMA_VERSION})) + "\n").encode()


def _records_in(entries: Mapping[str, os.stat_result]) -> dict[str, os.stat_result]:
    """Return what is in a folder of records, without what systems put there, as ``.DS_Store``."""
    return {file: status for file, status in entries.items() if not file.startswith(".")}


def _stamp(status: os.stat_result) -> str:
    return f"{status.st_size}:{status.st_mtime_ns}"
