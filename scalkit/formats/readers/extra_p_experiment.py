"""Experiments that Extra-P saved (``.extra-p``): a zip archive of JSON and, with ``--keep-values``, of arrays."""

import io
import struct
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.errors import DataError
from scalkit.formats.readers.content import LARGEST, Content, json_of, shortened, shown
from scalkit.formats.readers.extra_p_common import Series
from scalkit.formats.readers.extra_p_json import measurements_of, names_in
from scalkit.formats.readers.observed import Found, number_from_json

_MEMBER = "experiment.json"
_AGAIN = "save the experiment again"
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, RuntimeError, ValueError, LookupError, OverflowError)
"""What unpacking a damaged archive raises."""
_INDEX, _VALUES = b"Extra-P INDEX\0\0\0", b"Extra-P VALUES\0\0"


def is_zip(content: Content) -> bool:
    """Return whether a file is a zip archive, as Extra-P's experiments are."""
    return content.data[:4] in (b"PK\x03\x04", b"PK\x05\x06")


def read_experiment(content: Content) -> Found:
    """Return the measurements in an experiment that Extra-P saved.

    Where it kept no single values, the mean stands for them, with the median, the minimum and the maximum beside it. Of
    values of several processes or threads it is the mean over these.

    Raises DataError if the archive is damaged, has no experiment or one that is too large.

    Source: Extra-P, docs/file-formats.md (docs/references.md).
    """
    where = content.where
    archive = _Archive(content)
    value = json_of(Content(content.path, archive.member(_MEMBER)))
    if not isinstance(value, dict) or not isinstance(value.get("measurements"), dict):
        raise DataError(f"{where} has no measurements in its {_MEMBER}; {_AGAIN}.")
    series = Series(where, names_in(value, where))
    reduced = 0
    for callpath, metric, one, place in measurements_of(value["measurements"], where):
        kept = archive.values(one.get("values"), place)
        settings = series.add(callpath, metric, one.get("coordinate"), kept or [one.get("mean")], place)
        if kept is None:
            reduced += 1
            for key in ("median", "minimum", "maximum"):
                if isinstance(one.get(key), int | float):
                    series.beside(callpath, metric, settings, number_from_json(one[key], f"{where}: {key!r}"), key)
    version = value.get("Extra-P")
    kind = f"Extra-P experiment {version[:20]}" if isinstance(version, str) else "Extra-P experiment"
    note = f"{reduced} measurements have no single values in the file (option --keep-values); their mean stands for them"
    return series.found(kind, notes=[note] if reduced else [])


class _Archive:
    """The members of the archive, each unpacked when it is needed and only up to a size."""

    def __init__(self, content: Content) -> None:
        self.content = content
        self._arrays: dict[int, tuple[bytes, bytes]] = {}

    def member(self, name: str) -> bytes:
        """Return a member; what says that it is large is not unpacked, and no more than it says."""
        where = self.content.where
        try:
            with zipfile.ZipFile(io.BytesIO(self.content.data)) as archive:
                if name not in archive.namelist():
                    what = "so no experiment of Extra-P; unpack it" if name == _MEMBER else _AGAIN
                    raise DataError(f"{where} is a zip archive without {name}, {what}.")
                info = archive.getinfo(name)
                if info.file_size > LARGEST:
                    raise DataError(
                        f"{where}: {name} would unpack to {info.file_size / 2**20:.0f} MiB, up to {LARGEST // 2**20} MiB are "
                        "read; save a smaller experiment."
                    )
                with archive.open(info) as stream:
                    data = stream.read(LARGEST + 1)
        except DataError:
            raise
        except _DAMAGED as error:
            raise DataError(f"{where} is a damaged zip archive ({shown(str(error), 120)}); {_AGAIN}.") from error
        if len(data) > LARGEST:
            raise DataError(f"{where}: {name} unpacks to more than {LARGEST // 2**20} MiB; save a smaller experiment.")
        return data

    def values(self, place: object, where: str) -> list[float] | None:
        """Return the repetitions that a pair (file, number) refers to; None if there are none."""
        if place is None:
            return None
        if not isinstance(place, list) or len(place) != 2 or not all(type(one) is int and 0 <= one < 2**31 for one in place):
            raise DataError(f"{where}: 'values' is {shortened(place)}; two whole numbers are needed: {_AGAIN}.")
        chunk, number = place
        if chunk not in self._arrays:
            self._arrays = {chunk: (self.member(f"values/{chunk}.indx"), self.member(f"values/{chunk}.vals"))}
        index, data = self._arrays[chunk]
        start = len(_INDEX) + 8 * (number + 1)
        if not index.startswith(_INDEX) or not data.startswith(_VALUES) or start + 8 > len(index):
            raise DataError(f"{where}: values/{chunk} is damaged or too short; {_AGAIN}.")
        return self._array(data, struct.unpack_from("<Q", index, start)[0], where)

    def _array(self, data: bytes, start: int, where: str) -> list[float]:
        stream = io.BytesIO(data)
        stream.seek(min(start, len(data)))
        try:
            if np.lib.format.read_magic(stream) != (1, 0):
                raise ValueError("unknown version of an array")
            shape, fortran, kind = np.lib.format.read_array_header_1_0(stream)
            array = _from_bytes(data, stream.tell(), shape, kind)
        except (ValueError, TypeError, SyntaxError, EOFError, OverflowError, RecursionError, MemoryError) as error:
            raise DataError(f"{where}: its values are damaged ({shown(str(error), 120)}); {_AGAIN}.") from error
        table = array.reshape(shape, order="F" if fortran else "C").astype(np.float64)
        means = table.reshape(len(table), -1).mean(axis=1) if table.ndim > 1 else table.reshape(-1)
        return [number_from_json(one, f"{where}: a value") for one in means.tolist()]


def _from_bytes(data: bytes, start: int, shape: Sequence[int], kind: np.dtype[Any]) -> NDArray[Any]:
    """Return an array out of bytes that are there; nothing is allocated for what is not."""
    count = 1
    for one in shape:
        count *= one
    if kind.kind not in "iuf" or count <= 0 or count * kind.itemsize > len(data) - start:
        raise ValueError(f"{count} values of type {kind} do not stand there")
    return np.frombuffer(data, dtype=kind, count=count, offset=start)
