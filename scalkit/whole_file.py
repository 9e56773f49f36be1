"""A file that appears only when it is complete."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scalkit.errors import ScalkitError


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
