"""Files that appear only when they are complete, and names in a folder that are no files of its own."""

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scalkit.errors import DataError, ScalkitError


@contextmanager
def whole_file(
    path: str | os.PathLike[str], error: type[ScalkitError], way_on: str = "make room or choose another place", *, what: str = ""
) -> Iterator[Path]:
    """Yield a place beside `path` to write to; what is there in the end is moved to `path`, on the disk before it appears.

    After an error `path` is as it was and nothing lies beside it.

    `error`: of the exception for what the system refuses.
    `way_on`: what its sentence ends with.
    `what`: how it names the file; by default its path.
    Raises ScalkitError: an `error`, if the system refuses to write.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "a.txt", ScalkitError) as part:
    ...         _ = part.write_text("all of it", encoding="utf-8")
    ...     [one.name for one in Path(folder).iterdir()]
    ['a.txt']
    """
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        yield part
        handle = os.open(part, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(part, target)
    except OSError as found:
        raise error(f"cannot write {what or target}: {found.strerror or found}; {way_on}.") from found
    finally:
        part.unlink(missing_ok=True)


def require_free(path: str | os.PathLike[str], error: type[ScalkitError], *, force: bool = False) -> None:
    """Check that a file can be written without loss, before the work whose result it will hold.

    `error`: class of the exception.
    `force`: whether an existing file may be replaced.
    Raises ScalkitError: an `error`, if the file exists, or its folder does not.
    """
    target = Path(path)
    if target.is_dir():
        raise error(f"{target} is a folder; name a file in it.")
    if os.path.lexists(target) and not force:
        raise error(f"{target} is there already; choose another name, or replace it with --force.")
    if not target.absolute().parent.is_dir():
        raise error(f"the folder {str(target.parent)!r} is not there; make it first, or choose another one.")


MOUNT_POINT = "a mount point: a folder or file from elsewhere"

_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)


def foreign_kind(status: os.stat_result, device: int | None = None, *, hard_links: bool = False) -> str:
    """Return the kind of thing that a name stands for, in words, if it may lie elsewhere; empty for a plain file or folder.

    `status`: of the name itself, not of what a link leads to.
    `device`: number of the device that the folder around it is on. Only folders are compared with it: on layered file
    systems, as in containers, files report other devices.
    `hard_links`: accept a file that has other names, too.
    """
    for is_kind, words in _KINDS:
        if is_kind(status.st_mode):
            return words
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1 and not hard_links:
        return f"a hard link: one of {status.st_nlink} names of a file"
    if device is not None and stat.S_ISDIR(status.st_mode) and status.st_dev != device:
        return MOUNT_POINT
    return ""


def require_own_files(folder: Path, names: Iterable[str], *, hard_links: bool = False) -> None:
    """Raise DataError if a name in a folder stands for something that may lie elsewhere. `hard_links`: as in `foreign_kind`."""
    try:
        device = folder.stat().st_dev
        kinds = {name: foreign_kind((folder / name).lstat(), device, hard_links=hard_links) for name in sorted(names)}
    except OSError as error:
        raise DataError(f"cannot read {str(folder)!r}: {error.strerror or error}; check it and its permissions.") from error
    for name, kind in kinds.items():
        if kind:
            raise DataError(
                f"{name!r} in {str(folder)!r} is {kind}; only plain files and folders are allowed there: put a copy in its "
                "place, or delete it."
            )
