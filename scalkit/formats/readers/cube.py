"""CUBE profiles (``.cubex``) of Score-P and others, read by pycubexr."""

import gzip
import io
import re
import struct
import tarfile
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from scalkit.errors import DataError
from scalkit.formats.readers.content import LARGEST, Content, base_unit, shortened, shown
from scalkit.formats.readers.observed import Found, Gathered, Setting, identifier
from scalkit.support.extras import require
from scalkit.support.units import scaled

_PART = re.compile(r"([A-Za-z_]\w*?)(\d+(?:[.,]\d+)?)")
_DEEPEST = 200
_BLOCK = 512
_NO_END = "the archive has no end mark; if the file was cut, metrics are missing"


def is_cube(content: Content) -> bool:
    """Return whether a file is a tar archive with the anchor of a CUBE profile."""
    return content.data[257:262] == b"ustar" and b"anchor.xml" in content.data[:LARGEST]


def read_cube(content: Content) -> Found:
    """Return the metrics of all call paths of a CUBE profile, exclusive of what they call, mean over the locations.

    The parameters are in the name of the profile's folder, as Extra-P has it: ``prefix.p32.n100.r1``; ``r`` is the repetition.

    Raises DataError if the profile is damaged or too large, or its folder names no parameter; MissingPackageError if
    pycubexr is not installed.

    Source: Extra-P, docs/file-formats.md; pycubexr (docs/references.md).
    """
    require("cube")
    from pycubexr import CubexParser

    _require_small(content)
    settings = _settings(content)
    gathered = Gathered(content.where)
    empty: list[str] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with _profile(CubexParser(str(content.path))) as profile:
                paths = _paths(profile.get_root_cnodes(), content)
                for metric in profile.all_metrics():
                    if f"{metric.id}.index" not in profile._tar_file_members():
                        empty.append(str(metric.name))
                    else:
                        _add(gathered, profile, metric, paths, settings)
    except DataError:
        raise
    except Exception as error:  # pycubexr's own errors share no other base
        raise _damaged(content, error) from error
    notes = ["values are exclusive of called functions, mean over processes and threads"]
    if empty:
        notes.append(f"metrics without data are left out: {', '.join(empty[:6])}")
    return Found(
        "CUBE profile",
        gathered.observed(),
        parameters=tuple(settings),
        notes=notes,
        cut="" if content.data.endswith(bytes(_BLOCK)) else _NO_END,
    )


@contextmanager
def _profile(parser: Any) -> Iterator[Any]:
    """Yield an opened profile; its file is closed also where opening fails half-way."""
    try:
        with parser as profile:
            yield profile
    finally:
        if hasattr(parser, "_cubex_file"):
            parser._cubex_file.close()


def _damaged(content: Content, error: Exception) -> DataError:
    what = f"{type(error).__name__}: {shown(str(error), 120)}".rstrip(": .")
    return DataError(f"{content.where} is a damaged CUBE profile ({what}); copy it again, or measure again.")


def _add(gathered: Gathered, profile: Any, metric: Any, paths: Mapping[int, str], settings: Mapping[str, Setting]) -> None:
    values = profile.get_metric_values(metric=metric, cache=False)
    factor, base = base_unit(str(metric.units or "1"))
    name = "time" if str(metric.name) == "time" and base == "s" else str(metric.name)
    sums: dict[str, float] = {}
    for number in values.cnode_indices:
        node = profile.get_cnode(number)
        numbers = np.asarray(values.cnode_values(node, convert_to_exclusive=True).astype(float), dtype=np.float64)
        sums[paths[number]] = sums.get(paths[number], 0.0) + float(numbers.mean())
    for path, mean in sums.items():
        if np.isfinite(mean):
            gathered.add(path, settings, [scaled(mean, factor)], name, base)


def _paths(roots: Sequence[Any], content: Content) -> dict[int, str]:
    """Return the call path of each node: names of regions with arrows between them."""
    paths: dict[int, str] = {}
    waiting = [(root, "", 0) for root in roots]
    while waiting:
        node, before, depth = waiting.pop()
        if depth > _DEEPEST:
            raise DataError(f"{content.where} has call paths of more than {_DEEPEST} functions; limit the depth in Score-P.")
        name = str(node.region.name)
        paths[node.id] = f"{before}->{name}" if before else name
        waiting += [(child, paths[node.id], depth + 1) for child in node.get_children()]
    return paths


def _settings(content: Content) -> dict[str, Setting]:
    """Return the parameters in the name of the folder; ``r``, the repetition, is none."""
    folder = content.path.absolute().parent.name
    settings: dict[str, Setting] = {}
    for part in folder.split(".")[0 if _PART.fullmatch(folder.split(".")[0]) else 1 :]:
        match = _PART.fullmatch(part)
        if match is not None and match[1] != "r":
            settings[identifier(match[1])] = float(match[2].replace(",", "."))
    if not settings:
        raise DataError(
            f"{content.where}: the folder {shortened(folder)} names no parameter; call it as Extra-P does, as in "
            "'run.p32.n100.r1' (r is the repetition)."
        )
    return settings


def _require_small(content: Content) -> None:
    """Return nothing if the archive unpacks to what may be read, and its anchor declares no entities."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with _opened(content) as archive:
                for member in archive:
                    _require_member(content, archive, member)
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise _damaged(content, error) from error


def _require_member(content: Content, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
    if member.size > LARGEST:
        size = f"{member.size / 2**20:.0f} MiB, up to {LARGEST // 2**20} are read"
        raise DataError(f"{content.where}: {member.name!r:.60} has {size}; select fewer metrics.")
    stream = archive.extractfile(member) if member.isfile() else None
    if stream is not None and member.name == "anchor.xml":
        _require_plain(content, stream.read(LARGEST))
    elif stream is not None and member.name.endswith(".data"):
        _require_bounded(content, member.name, stream.read(LARGEST))


def _opened(content: Content) -> tarfile.TarFile:
    """Return the archive; as CubeWriter 4.8 writes wrong checksums, these are passed over where they are wrong."""
    from pycubexr.utils.custom_tarinfo import TarInfoWithoutCheck

    try:
        return tarfile.open(fileobj=io.BytesIO(content.data), mode="r:")
    except tarfile.ReadError:
        return tarfile.open(fileobj=io.BytesIO(content.data), mode="r:", tarinfo=TarInfoWithoutCheck)


def _require_plain(content: Content, anchor: bytes) -> None:
    if not anchor.startswith(b"<?xml"):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(anchor)) as stream:
                anchor = stream.read(LARGEST + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise _damaged(content, error) from error
    if len(anchor) > LARGEST or b"<!ENTITY" in anchor or b"<!DOCTYPE" in anchor:
        raise DataError(f"{content.where}: anchor.xml is too large or declares entities; it is no profile that is read here.")
    if _depth(anchor) > 3 * _DEEPEST:
        raise DataError(f"{content.where} has call paths of more than {_DEEPEST} functions; limit the depth in Score-P.")


def _depth(xml: bytes) -> int:
    """Return how deep ``cnode`` elements are nested, at most."""
    depth = deepest = 0
    for match in re.finditer(rb"<(/?)cnode\b([^<>]*)>", xml):
        depth += -1 if match[1] else 0 if match[2].endswith(b"/") else 1
        deepest = max(deepest, depth)
    return deepest


def _require_bounded(content: Content, name: str, data: bytes) -> None:
    """Return nothing if what is compressed in a member unpacks to no more than may be read."""
    if not data.startswith(b"ZCUBEX.DATA"):
        return
    total = 0
    for piece in _pieces(data):
        unpacker = zlib.decompressobj()
        try:
            total += len(unpacker.decompress(piece, LARGEST + 1 - total))
        except zlib.error as error:
            raise _damaged(content, error) from error
        if total > LARGEST or unpacker.unconsumed_tail:
            raise DataError(f"{content.where}: {name} unpacks to more than {LARGEST // 2**20} MiB; select fewer metrics.")


def _pieces(data: bytes) -> Iterator[bytes]:
    """Yield the compressed pieces of a member: their number, a table of places and lengths, then the bytes."""
    start = len(b"ZCUBEX.DATA")
    if len(data) < start + 8:
        return
    for order in ("<q", ">q"):
        (count,) = struct.unpack_from(order, data, start)
        if 0 < count <= (len(data) - start) // 24:
            break
    else:
        return
    place = start + 8 + 24 * count
    for number in range(count):
        (length,) = struct.unpack_from(order, data, start + 8 + 24 * number + 16)
        if length > 0:
            yield data[place : place + length]
            place += length
