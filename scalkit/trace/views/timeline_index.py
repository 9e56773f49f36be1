"""What a timeline is drawn from, made once of a trace and kept in files: steps, waits, transfers, and rasters of all of it."""

import hashlib
import json
import os
import shutil
import tempfile
import weakref
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.arrays import Ints
from scalkit.errors import DataError
from scalkit.trace.files.builder import HEADER, location_file
from scalkit.trace.files.reader import Header, read_header
from scalkit.trace.files.tables import RECEIVE
from scalkit.trace.local.arrays import extent
from scalkit.trace.local.joined import PLACE, Table, changes
from scalkit.trace.local.part import LocalTrace, load
from scalkit.trace.options import Options
from scalkit.trace.views.raster import Pieces, classed, covered, halved, largest, pieces_between
from scalkit.trace.waits.each_wait import EachWait, each_wait
from scalkit.trace.waits.requests import Kinds, completed_by, completing_kinds, members, one_sided

OUTSIDE = -1
"""Path of the last step of a location: nothing is recorded from there on."""


def steps_of(calls: Table, marks: Table, parents: Ints) -> tuple[Ints, NDArray[np.int32]]:
    """Return from when on which call path is the innermost of a location.

    `calls`, `marks`: of one location, in order of their numbers, as `scalkit.trace.local.part.LocalTrace` has them.
    `parents` of shape (n_paths,).
    `time` of shape (n,), in ns: ascending, without equal ones. Calls that took no time are left out.
    `path` of shape (n,): the last one is `OUTSIDE`.
    """
    if not len(calls["enter"]) and not len(marks["time"]):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    begin, end = extent(calls["enter"], calls["leave"], marks["time"])
    lasting = calls["leave"] > calls["enter"]
    enter, leave, path, number = (calls[name][lasting] for name in ("enter", "leave", "path", "number"))
    after = parents[path].astype(PLACE)
    if not len(marks["time"]) and (enter[1:] >= leave[:-1]).all():
        time = np.stack([enter, leave], axis=1).ravel()
        state = np.stack([path, after], axis=1).ravel()
    else:
        time, state = changes(enter, leave, path, after, number.astype(np.int64), marks)
    time = np.concatenate([[begin], time, [end]])
    state = np.concatenate([[0], state, [OUTSIDE]]).astype(np.int32)
    is_last = np.append(time[1:] > time[:-1], True)
    return time[is_last], state[is_last]


def union_of(begin: Ints, end: Ints, what: NDArray[np.uint8]) -> tuple[Ints, Ints, NDArray[np.uint8]]:
    """Return intervals without overlap, in order; those that overlap become one, with `what` of the first.

    `begin`, `end` of shape (n,). `what` of shape (n,).
    """
    if len(begin) == 0:
        return begin, end, what
    order = np.lexsort((-end, begin))
    begin, end, what = begin[order], np.maximum.accumulate(end[order]), what[order]
    is_new = np.append(True, begin[1:] >= end[:-1])
    starts = np.flatnonzero(is_new)
    return begin[starts], np.maximum.reduceat(end, starts), what[starts]


FOLDER = "timeline"
"""Folder within that of the trace."""

_SCHEMA = 3
_COLUMNS: dict[str, dict[str, str]] = {
    "steps": {"time": "<i8", "path": "<i4"},
    "waits": {"begin": "<i8", "end": "<i8", "metric": "u1"},
    "transfers": {"begin": "<i8", "end": "<i8", "peer": "<i4", "kind": "u1", "bytes": "<i8"},
}
_CELLS = 1 << 24
_MOST_BINS, _FEWEST_BINS = 1 << 17, 1 << 10
_FEW_STEPS = 400_000
"""Above this many steps rasters are written beside them; fewer are drawn from the steps themselves."""

_COLOURED = 6
_SHARE = 255


@dataclass(frozen=True)
class Index:
    """Tables of all locations behind each other, mapped from files; times in ns from the begin of the trace.

    `facts`: ``begin``, ``end`` [ns on the clock of the trace], ``paths`` (text), ``regions``, ``classes``, ``class_of_path``,
    ``class_ns``, ``bits`` of the finest raster, ``levels``, ``has_waits``, ``problems``. `tables`, dict from table to columns.
    `offsets`, dict from table to ndarray of int64 of shape (locations + 1,).
    `levels`, list of pairs of ndarray of uint8 of shape (locations, n): largest class and share of waiting, of 255, of columns
    of 2^bits ns, then of twice that, and so on.
    """

    header: Header
    facts: dict[str, Any]
    tables: dict[str, dict[str, NDArray[Any]]]
    offsets: dict[str, NDArray[np.int64]]
    levels: list[tuple[NDArray[np.uint8], NDArray[np.uint8]]]


def open_index(
    folder: str | os.PathLike[str],
    *,
    waits: bool = True,
    cache: bool = True,
    keep_going: bool = False,
    options: Options | None = None,
) -> Index:
    """Return the index of a trace, made if it is not there or the trace is another one by now.

    `folder`: of the trace. `waits`: whether to find the waits of all calls, which takes about as long as the analysis.
    `cache`: keep it in the folder of the trace, if that may be written to; else it lives as long as what is returned.
    `keep_going`: leave out what is wrong with the trace. `options`: how the waits are found.
    Raises DataError if there is no trace, something is wrong with it, or there is no room.
    """
    header = read_header(folder)
    chosen = options or Options()
    key = _key(header, {"waits": waits, "keep_going": keep_going, **chosen.to_dict()})
    place = header.folder / FOLDER
    if cache and (found := _read(header, place, key)) is not None:
        return found
    is_kept = cache and os.access(header.folder, os.W_OK)
    trace = load(folder, keep_going=keep_going)
    try:
        return _made(trace, place if is_kept else None, key, waits, chosen)
    except OSError as error:
        raise DataError(
            f"cannot write what a timeline of {str(folder)!r} is drawn from: {error.strerror or error}; make room, or keep it in "
            "the folder for temporary files (cache=False)."
        ) from error


def _made(trace: LocalTrace, place: Path | None, key: str, waits: bool, options: Options) -> Index:
    """Write an index to a place, or where it is deleted with what is returned."""
    made = Path(tempfile.mkdtemp(prefix=".timeline-", dir=place.parent if place else None))
    is_kept = False
    try:
        _write(trace, made, key, waits, options)
        if place is not None:
            shutil.rmtree(place, ignore_errors=True)
            with suppress(OSError):  # another process was faster
                made, is_kept = made.rename(place), True
        index = _read(trace.header, made, key)
        assert index is not None
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    if not is_kept:
        weakref.finalize(index, shutil.rmtree, made, ignore_errors=True)
    return index


def _key(header: Header, asked: dict[str, Any]) -> str:
    """Return what tells whether an index is still that of the trace."""
    found = hashlib.sha256((header.folder / HEADER).read_bytes())
    for location in range(header.locations):
        try:
            stat = location_file(header.folder, location).stat()
        except OSError:
            continue
        found.update(f"{location} {stat.st_size} {stat.st_mtime_ns};".encode())
    found.update(json.dumps([_SCHEMA, asked], sort_keys=True).encode())
    return found.hexdigest()


def _read(header: Header, place: Path, key: str) -> Index | None:
    """Return what stands in a folder; None if it is not there, damaged, or of something else."""
    try:
        facts = json.loads((place / "index.json").read_text(encoding="utf-8"))
        if facts["key"] != key:
            return None
        tables, offsets = {}, {}
        for name in _COLUMNS:
            offsets[name] = np.array(facts["offsets"][name], dtype=np.int64)
            tables[name] = _table(place, name, int(offsets[name][-1]))
        levels = []
        for k, n in enumerate(facts["levels"]):
            shape = (header.locations, n)
            levels.append((_mapped(place / f"class-{k}", "u1", shape), _mapped(place / f"wait-{k}", "u1", shape)))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Index(header, facts, tables, offsets, levels)


def _table(place: Path, name: str, records: int) -> dict[str, NDArray[Any]]:
    return {c: _mapped(place / f"{name}-{c}", kind, (records,)) for c, kind in _COLUMNS[name].items()}


def _mapped(path: Path, kind: str, shape: tuple[int, ...]) -> NDArray[Any]:
    if path.stat().st_size != int(np.prod(shape)) * np.dtype(kind).itemsize:
        raise ValueError(path)
    if not np.prod(shape):
        return np.empty(shape, dtype=kind)
    return np.asarray(np.memmap(path, dtype=kind, mode="r", shape=shape)).view(np.ndarray)


def _write(trace: LocalTrace, place: Path, key: str, waits: bool, options: Options) -> None:
    found = each_wait(trace, options) if waits else EachWait(np.empty(0, np.int64), np.empty(0, np.uint8))
    begin, end = extent(trace.calls["enter"], trace.calls["leave"], trace.marks["time"])
    offsets: dict[str, list[int]] = {name: [0] for name in _COLUMNS}
    path_ns, kinds = np.zeros(len(trace.definitions.paths), dtype=np.float64), completing_kinds(trace)
    with ExitStack() as files:
        streams = {
            name: [files.enter_context((place / f"{name}-{column}").open("wb")) for column in columns]
            for name, columns in _COLUMNS.items()
        }
        for (calls, transfers, marks), at in zip(trace.parts(), trace.begins, strict=True):
            mine = slice(at, at + len(calls["enter"]))
            time, path = steps_of(calls, marks, trace.definitions.around)
            inside = path[:-1] >= 0
            path_ns += np.bincount(path[:-1][inside], weights=np.diff(time)[inside], minlength=len(path_ns))
            tables = {"steps": (time - begin, path), "waits": _waits(calls, found, mine, begin)}
            tables["transfers"] = _transfers(trace, calls, transfers, kinds, at, begin)
            for name, columns in tables.items():
                for stream, kind, values in zip(streams[name], _COLUMNS[name].values(), columns, strict=True):
                    np.ascontiguousarray(values, dtype=kind).tofile(stream)
                offsets[name].append(offsets[name][-1] + len(columns[0]))
    classes, of_path, class_ns = _classes(trace, path_ns)
    facts: dict[str, Any] = {"key": key, "begin": begin, "end": end, "offsets": offsets, "classes": classes}
    facts |= {"class_of_path": of_path, "class_ns": class_ns, "has_waits": waits, "levels": [], "bits": 0}
    facts["paths"] = [trace.definitions.text(k) for k in range(len(path_ns))]
    facts["regions"] = [trace.definitions.region(k) for k in range(len(path_ns))]
    facts["parents"] = trace.definitions.parents.tolist()
    facts["problems"] = [str(one) for one in trace.problems]
    if offsets["steps"][-1] > _FEW_STEPS:
        facts |= _write_levels(place, offsets, np.array([0, *of_path], np.uint8), len(classes), end - begin)
    (place / "index.json").write_text(json.dumps(facts), encoding="utf-8")


def _waits(calls: Table, found: EachWait, mine: slice, begin: int) -> tuple[NDArray[Any], ...]:
    wait = found.wait[mine]
    waited = np.flatnonzero(wait)
    low = calls["enter"][waited] - begin
    return union_of(low, low + wait[waited], found.metric[mine][waited])


def _transfers(trace: LocalTrace, calls: Table, transfers: Table, kinds: Kinds, at: int, begin: int) -> tuple[NDArray[Any], ...]:
    """Return begin, end, location at the other end, kind and bytes of transfers, in the order in which they begin.

    Receives are left out: their sends are there.
    """
    transfers = {name: values[(transfers["kind"] & 0xFF) != RECEIVE] for name, values in transfers.items()}
    posted = transfers["call"] - at
    done = np.where(transfers["done"] >= 0, transfers["done"] - at, -1).astype(np.int64)
    is_rma, rows = one_sided(transfers, at)
    done[is_rma] = completed_by(calls, rows, kinds)
    low = calls["enter"][posted] - begin
    high = np.maximum(calls["leave"][np.where(done >= 0, done, posted)] - begin, low)
    peer = members(trace, transfers["scope"], transfers["peer"])
    order = np.argsort(low, kind="stable")
    columns = (low, high, peer, transfers["kind"] & 0xFF, transfers["bytes"])
    return tuple(column[order] for column in columns)


def _classes(trace: LocalTrace, path_ns: NDArray[np.float64]) -> tuple[list[str], list[int], list[float]]:
    """Return names of what has a colour: the regions that take most of the time, and all others together.

    Class 0 is where nothing is recorded, class 1 the program outside of regions.
    """
    regions = [trace.definitions.region(k) for k in range(len(path_ns))]
    total: dict[str, float] = {}
    for region, ns in zip(regions[1:], path_ns[1:].tolist(), strict=True):
        total[region] = total.get(region, 0.0) + ns
    chosen = sorted(total, key=lambda name: (-total[name], name))[:_COLOURED]
    chosen = [name for name in chosen if total[name] > 0]
    names = ["not recorded", "outside of calls", *chosen]
    others = {}
    for label, is_call in (("other calls", True), ("other regions", False)):
        if any(trace.definitions.is_function(region) == is_call for region in total if region not in chosen):
            others[is_call] = len(names)
            names.append(label)
    number = {name: 2 + k for k, name in enumerate(chosen)}
    of_path = [1, *(number[r] if r in number else others[trace.definitions.is_function(r)] for r in regions[1:])]
    return names, of_path, np.bincount(of_path, weights=path_ns, minlength=len(names)).tolist()


def _write_levels(
    place: Path, offsets: dict[str, list[int]], kind_of: NDArray[np.uint8], n_kinds: int, span: int
) -> dict[str, Any]:
    """Write rasters of all locations: columns of 2^bits ns, then of twice that, and so on until one is left."""
    steps, waits = (_table(place, name, offsets[name][-1]) for name in ("steps", "waits"))
    n = len(offsets["steps"]) - 1
    bins = max(min(_CELLS // n, _MOST_BINS), _FEWEST_BINS)
    bits = max(0, (max(span, 1) - 1).bit_length() - (bins.bit_length() - 1))
    widths = [((max(span, 1) - 1) >> bits) + 1]
    while widths[-1] > 1:
        widths.append((widths[-1] + 1) // 2)
    files = [((place / f"class-{k}").open("wb"), (place / f"wait-{k}").open("wb")) for k in range(len(widths))]
    begins = np.array(offsets["steps"], dtype=np.int64)
    for location in range(n):
        pieces = pieces_between(steps["time"], begins, [location], 0, max(span, 1))
        amount = classed(pieces, kind_of[steps["path"][pieces.place] + 1], n_kinds, 1, widths[0], bits)
        mine = slice(offsets["waits"][location], offsets["waits"][location + 1])
        begin, end = np.asarray(waits["begin"][mine]), np.asarray(waits["end"][mine])
        pieces = Pieces(np.zeros(len(begin), np.int32), begin, end, np.arange(len(begin)))
        waited = covered(pieces, 1, widths[0], bits)[None]
        for k, (classes, shares) in enumerate(files):
            largest(amount).tofile(classes)
            as_share(waited[0], bits + k).tofile(shares)
            amount, waited = halved(amount, 1), halved(waited, 1)
    for pair in files:
        for stream in pair:
            stream.close()
    return {"bits": bits, "levels": widths}


def as_share(waited: NDArray[np.float64], bits: int) -> NDArray[np.uint8]:
    """Return the part of columns of 2^bits ns that was waiting, of 255; what is more than nothing is at least 1."""
    return np.minimum(np.ceil(waited * (_SHARE / (1 << bits))), _SHARE).astype(np.uint8)
