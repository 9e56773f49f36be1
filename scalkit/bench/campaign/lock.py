"""A folder that one process of scalkit at a time works on."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scalkit.errors import UsageError


@contextmanager
def locked_folder(path: Path, busy: str) -> Iterator[int]:
    """Make a folder, hold it against other processes of scalkit until the context ends, and yield the lock.

    The lock is a file descriptor. Launches inherit it, so that ranks which outlive a killed scalkit still hold it.

    `busy`: what to say if another process holds it.
    Raises UsageError if it cannot be made, another process holds it, or this system has no such locks.
    """
    try:
        import fcntl
    except ModuleNotFoundError:  # on Windows, and in a browser
        raise UsageError(f"cannot lock the folder {path}: this system has no fcntl; measure on Linux.") from None
    try:
        path.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise UsageError(f"cannot use the folder {path}: {error.strerror or error}; choose another.") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(busy) from None
        yield handle
    finally:
        os.close(handle)
