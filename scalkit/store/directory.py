"""A folder whose files are reached through descriptors, so that no link leads out of it.

The folder is opened first, and each name below it is resolved relative to that descriptor without following links. So a
name cannot become a link between the moment it is checked and the moment it is used.
"""

import contextlib
import os
import re
import secrets
import socket
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from scalkit.errors import StoreError
from scalkit.support.files import MOUNT_POINT, foreign_kind

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_TO_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_TO_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_CHUNK = 1 << 20
_ABANDONED_AFTER_S = 24 * 3600.0
TEMPORARY = "tmp"
"""Folder in which files are written before they get their names."""


class ForeignFileError(StoreError):
    """A name in a folder stands for something that may lie elsewhere: a link, a device, a pipe, a socket, a mount point.

    `kind`: which of them, in words.
    """

    def __init__(self, text: str, kind: str = "") -> None:
        super().__init__(text)
        self.kind = kind


class Directory:
    """A folder whose files and folders, at any depth, are reached from its own descriptor.

    `path`: may itself be a link, as its user named it.
    `hard_links`: accept files that have other names, too, as some installers link what they install.

    All methods take names such as ``"marker.json"`` or ``"runs/1.parquet"``.
    They raise ForeignFileError for links, devices, pipes, sockets and mount points; OSError for what the system refuses;
    ValueError for a name that leads elsewhere, such as ``"../x"``.
    """

    def __init__(self, path: Path, *, hard_links: bool = False) -> None:
        self.path = path
        self._hard_links = hard_links

    def entries(self, folder: str = "") -> dict[str, os.stat_result]:
        """Return what is in a folder by name; nothing if this folder has no such folder."""
        with contextlib.ExitStack() as opened:
            root = opened.enter_context(self._opened(""))
            try:
                number = opened.enter_context(self._opened(folder, root)) if folder else root
            except FileNotFoundError:
                return {}
            return self._entries(folder, number)

    def walk(self) -> Iterator[tuple[str, os.stat_result]]:
        """Yield name and status of all files and folders at all depths, the files of a folder before its folders."""
        waiting = [""]
        while waiting:
            folder = waiting.pop(0)
            with self._opened(folder) as number:
                found = self._entries(folder, number)
            for name, status in sorted(found.items()):
                whole = f"{folder}/{name}" if folder else name
                if stat.S_ISDIR(status.st_mode):
                    waiting.append(whole)
                yield whole, status

    def _entries(self, folder: str, number: int) -> dict[str, os.stat_result]:
        device = os.fstat(number).st_dev
        found = {}
        with os.scandir(number) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):  # it was removed meanwhile
                    status = entry.stat(follow_symlinks=False)
                    self._require_own(f"{folder}/{entry.name}" if folder else entry.name, status, device)
                    found[entry.name] = status
        return found

    def is_file(self, name: str) -> bool:
        """Return whether there is a file of a name."""
        *folders, file = _parts(name)
        try:
            with self._opened("/".join(folders)) as number:
                status = os.stat(file, dir_fd=number, follow_symlinks=False)
        except FileNotFoundError:
            return False
        self._require_own(name, status)
        return stat.S_ISREG(status.st_mode)

    def read(self, name: str, most: int | None = None) -> bytes:
        """Return the content of a file.

        `most`: bytes that it may have.
        Raises FileNotFoundError if there is none, StoreError if it is too large.
        """
        *folders, file = _parts(name)
        with self._opened("/".join(folders)) as parent:
            # The kind is looked at first, as opening a device can have effects, and again when it is open.
            self._require_own(name, os.stat(file, dir_fd=parent, follow_symlinks=False))
            number = os.open(file, _TO_READ, dir_fd=parent)
            try:
                self._require_own(name, os.fstat(number))
                self._require_same_mount(name, number, parent)
                size = os.fstat(number).st_size
                if most is not None and size > most:
                    raise StoreError(f"{name} in {str(self.path)!r} has {size} bytes; at most {most} are allowed.")
                with os.fdopen(number, "rb", closefd=False) as stream:
                    return stream.read()
            finally:
                os.close(number)

    def create(self) -> None:
        """Make this folder unless it is there."""
        self.path.mkdir(parents=True, exist_ok=True)

    def make(self, folder: str) -> None:
        """Make a folder in this one unless it is there."""
        with self._opened("") as root:
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, dir_fd=root)
            with self._opened(folder, root):  # it is no link
                pass

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write files, each all or nothing: one appears under its name when all of it is on the disk.

        Nothing is ever written into a file that is there, so that whoever has it under another name keeps it as it was.
        """
        with contextlib.ExitStack() as opened:
            root = opened.enter_context(self._opened(""))
            folders: dict[str, int] = {"": root}
            for folder in (TEMPORARY, *(name.rpartition("/")[0] for name in files)):
                if folder not in folders:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(folder, dir_fd=root)
                    folders[folder] = opened.enter_context(self._opened(folder, root))
            for name, content in files.items():
                folder, _, file = name.rpartition("/")
                _put(file, content, folders[TEMPORARY], folders[folder])
            for number in folders.values():
                with contextlib.suppress(OSError):  # some file systems cannot flush a folder
                    os.fsync(number)

    def delete(self, name: str) -> None:
        """Delete a file, if it is there."""
        *folders, file = _parts(name)
        with contextlib.suppress(FileNotFoundError), self._opened("/".join(folders)) as number:
            os.unlink(file, dir_fd=number)

    def sweep(self) -> None:
        """Delete temporary files that killed writers of this host left, and those that are older than a day."""
        for name, status in self.entries(TEMPORARY).items():
            if stat.S_ISREG(status.st_mode) and _is_abandoned(name, status.st_mtime):
                with self._opened(TEMPORARY) as number, contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=number)

    @contextlib.contextmanager
    def _opened(self, folder: str, root: int | None = None) -> Iterator[int]:
        """Provide the descriptor of a folder; empty is this one.

        `root`: descriptor of this one. Without it, the path is opened anew, as a folder may be replaced by its user.
        """
        with contextlib.ExitStack() as opened:

            def opening(name: str | Path, parent: int | None) -> int:
                flags = _FOLDER if parent is None else _FOLDER | os.O_NOFOLLOW
                number = os.open(name, flags, dir_fd=parent)
                opened.callback(os.close, number)
                return number

            number = opening(self.path, None) if root is None else root
            way = ""
            for part in _parts(folder) if folder else ():
                way = f"{way}/{part}" if way else part
                status = os.stat(part, dir_fd=number, follow_symlinks=False)
                self._require_own(way, status, os.fstat(number).st_dev)
                inner = opening(part, number)
                self._require_same_mount(way, inner, number)
                number = inner
            yield number

    def _require_same_mount(self, name: str, number: int, parent: int) -> None:
        """Raise ForeignFileError if something is mounted on a name: also a folder of the same device."""
        if _mount_of(number) != _mount_of(parent):
            raise self._foreign(name, MOUNT_POINT)

    def _require_own(self, name: str, status: os.stat_result, device: int | None = None) -> None:
        kind = foreign_kind(status, device, hard_links=self._hard_links)
        if kind:
            raise self._foreign(name, kind)

    def _foreign(self, name: str, kind: str) -> ForeignFileError:
        return ForeignFileError(
            f"{name!r} in {str(self.path)!r} is {kind}; only plain files and folders are allowed there: put a copy in its "
            "place, or delete it.",
            kind,
        )


def _parts(name: str) -> list[str]:
    """Return the parts of a name. Raises ValueError if it leads elsewhere."""
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"the name {name!r} leads elsewhere")
    return parts


def _mount_of(number: int) -> str:
    """Return what is known of the mount that an open file is on; empty where the system does not tell."""
    try:
        text = Path(f"/proc/self/fdinfo/{number}").read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""
    found = re.search(r"^mnt_id:\s*(\d+)$", text, re.MULTILINE)
    return found[1] if found else ""


def _put(file: str, content: bytes, temporary: int, target: int) -> None:
    """Write a file into the folder of temporary files, then give it its name in another folder."""
    for attempt in range(3):
        part = f"{file}.{_host()}.{os.getpid()}.{secrets.token_hex(4)}"
        try:
            _write(part, content, temporary)
            os.replace(part, file, src_dir_fd=temporary, dst_dir_fd=target)
            return
        except FileNotFoundError:  # another machine with this host's name took it for abandoned
            if attempt == 2:
                raise
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(part, dir_fd=temporary)
            raise


def _write(name: str, content: bytes, folder: int) -> None:
    number = os.open(name, _TO_CREATE, 0o666, dir_fd=folder)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(number, view) :]
        os.fsync(number)
    finally:
        os.close(number)


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())[:64] or "host"


def _is_abandoned(name: str, modified: float) -> bool:
    if time.time() - modified > _ABANDONED_AFTER_S:
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
