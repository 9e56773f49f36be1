"""Folders and zips of stores from elsewhere: which files are in them, and what must not be."""

import re
import shutil
import stat
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from scalkit.errors import DataError
from scalkit.store.directory import TEMPORARY, Directory, ForeignFileError
from scalkit.store.folder import MARKER
from scalkit.support.arguments import require_positive
from scalkit.support.text import shortened


@dataclass(frozen=True)
class Policy:
    """Limits of a validation; sizes in bytes, times in s.

    `max_files`, `max_file_bytes`, `max_total_bytes`, `max_ratio`: of a zip or folder: number of files, size of each and of all,
    and how many times larger a file of a zip may be unpacked.
    `max_values`, `max_rows`, `max_row_groups`, `max_columns`: of a Parquet file; values of one column, repetitions included.
    `max_json_bytes`, `max_json_depth`, `max_text`: of a run's record. `max_statements`: of a store; so many signatures, too.
    `memory_bytes`, `cpu_s`, `file_cpu_s`, `wall_s`: of the processes that read: memory and computing of one, computing for one
    file, and time of all together.
    `link_bytes_per_s`: what no link of a machine carries; twice the link that a record declares, in
    ``machine_desc.link_By_per_s``, counts too.
    """

    max_files: int = 50_000
    max_file_bytes: int = 256 << 20
    max_total_bytes: int = 8 << 30
    max_ratio: float = 200.0
    max_values: int = 50_000_000
    max_rows: int = 1_000_000
    max_row_groups: int = 1_000
    max_columns: int = 64
    max_json_bytes: int = 4 << 20
    max_json_depth: int = 16
    max_text: int = 4096
    max_statements: int = 50_000
    memory_bytes: int = 4 << 30
    cpu_s: int = 600
    file_cpu_s: int = 120
    wall_s: float = 900.0
    link_bytes_per_s: float = 1e12

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            require_positive(value, name)


RUN_FILE = re.compile(r"[0-9a-f]{32}\.parquet")
_ALLOWED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}\.(parquet|json|jsonl|md|txt|cff|html|svg|pdf|csv)|allowed_signers")
_ENCRYPTED = 0x1
_CHUNK = 1 << 20
_DEEPEST = 5


class RefusedError(DataError):
    """A reason why a file is not accepted, with a short code that programs can tell apart."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


def listed(directory: Directory, policy: Policy) -> list[str]:
    """Return the names of the run files in a folder, after a look at everything else in it.

    Raises RefusedError if there are links, devices or the like, too many files, too much, or something unreadable.
    """
    total, number = 0, 0
    found = []
    try:
        for name, status in directory.walk():
            *folders, file = name.split("/")
            number += 1
            total += status.st_size if stat.S_ISREG(status.st_mode) else 0
            if number > policy.max_files:
                raise RefusedError("too-many-files", f"there are more than {policy.max_files} files.")
            if total > policy.max_total_bytes:
                raise RefusedError("too-large", f"there are more than {policy.max_total_bytes >> 20} MB.")
            if len(folders) > _DEEPEST:
                raise RefusedError("too-deep", f"{_short(name)} lies more than {_DEEPEST} folders deep.")
            if file.endswith(".parquet") and stat.S_ISREG(status.st_mode) and _has_runs(folders):
                found.append(name)
    except ForeignFileError as error:
        raise RefusedError(foreign_code(error), str(error)) from error
    except OSError as error:
        raise RefusedError("unreadable", f"the folder cannot be read: {error}; check its permissions.") from error
    return found


def foreign_code(error: ForeignFileError) -> str:
    """Return the code of the reason to refuse what is no plain file."""
    return "link" if "link" in error.kind else "special-file"


def _has_runs(folders: Sequence[str]) -> bool:
    """Return whether the Parquet files of a folder are runs, and not those of an index or half written."""
    return "index" not in folders[-2:] and folders[-1:] != [TEMPORARY]


def unpacked(archive: Path, into: Path, policy: Policy) -> Path:
    """Return the folder of the store in a zip, unpacked below `into`; its marker says where it is.

    Raises RefusedError if a name, a size, a ratio or a kind of file is not allowed.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            if into.exists():  # the process before this one unpacked it, and died of a file
                shutil.rmtree(into)
            members = opened.infolist()
            _require_modest(members, policy)
            for member in members:
                if not member.is_dir():
                    _extract(opened, member, into, policy)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
        if isinstance(error, RefusedError):
            raise
        raise RefusedError("zip-broken", f"{archive.name} cannot be unpacked: {error}.") from error
    markers = sorted(into.rglob(MARKER), key=lambda path: len(path.parts))
    return markers[0].parent if markers else into


def _require_modest(members: list[zipfile.ZipInfo], policy: Policy) -> None:
    if len(members) > policy.max_files:
        raise RefusedError("too-many-files", f"the zip has {len(members)} files; at most {policy.max_files} are allowed.")
    seen: set[str] = set()
    for member in members:
        _require_name(member, seen)
        if member.flag_bits & _ENCRYPTED:
            raise RefusedError("zip-encrypted", f"{_short(member.filename)} is encrypted.")
        if member.file_size > policy.max_file_bytes:
            size = member.file_size >> 20
            raise RefusedError("too-large", f"{_short(member.filename)} has {size} MB, too much.")
        if member.file_size > policy.max_ratio * max(member.compress_size, 1) and member.file_size > _CHUNK:
            ratio = member.file_size / max(member.compress_size, 1)
            raise RefusedError("zip-bomb", f"{_short(member.filename)} grows {ratio:.0f} times when unpacked.")
    if sum(member.file_size for member in members) > policy.max_total_bytes:
        raise RefusedError("too-large", f"the zip holds more than {policy.max_total_bytes >> 20} MB.")


def _require_name(member: zipfile.ZipInfo, seen: set[str]) -> None:
    name = member.filename
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or "\0" in name:
        raise RefusedError("zip-path", f"the name {_short(name)} leads out of the folder.")
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind == stat.S_IFLNK:
        raise RefusedError("link", f"{_short(name)} is a link; only files are allowed.")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise RefusedError("special-file", f"{_short(name)} is a device, a pipe or a socket; only files are allowed.")
    if name.casefold() in seen:
        raise RefusedError("zip-duplicate", f"the name {_short(name)} stands there twice.")
    seen.add(name.casefold())
    if len(path.parts) > _DEEPEST + 1:
        raise RefusedError("zip-path", f"{_short(name)} lies more than {_DEEPEST} folders deep.")
    if not member.is_dir() and not _ALLOWED.fullmatch(path.name):
        raise RefusedError("unexpected-file", f"{_short(name)} is no kind of file that belongs into a store.")


def _extract(opened: zipfile.ZipFile, member: zipfile.ZipInfo, into: Path, policy: Policy) -> None:
    """Write one file; what it says of its size is not believed."""
    target = into.joinpath(*PurePosixPath(member.filename).parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    left = min(policy.max_file_bytes, member.file_size)
    with opened.open(member) as source, target.open("xb") as sink:
        while chunk := source.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise RefusedError("zip-bomb", f"{_short(member.filename)} is larger than it says.")
            sink.write(chunk)


def _short(text: str) -> str:
    shown = text.encode("unicode_escape").decode()
    return repr(shortened(shown))
