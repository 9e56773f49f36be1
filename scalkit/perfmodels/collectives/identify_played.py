"""Which algorithm a library used in virtual time: the one whose messages, played, take exactly as long."""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from scalkit.arrays import Floats
from scalkit.errors import DataError, UsageError
from scalkit.perfmodels.collectives.cells import cell_values
from scalkit.perfmodels.collectives.chains import smoothed
from scalkit.perfmodels.collectives.identify import OTHER, Cell, Identified
from scalkit.perfmodels.played import SCHEDULES, WIRES, Machine, Played, play
from scalkit.perfmodels.played.steps import ITEM

EQUAL_S = 2e-9
"""Times are whole nanoseconds, of which a process reads two, and the layer counts picoseconds."""


_AS_LIKELY = 0.9
"""Answers as likely as this, compared with the most likely one, are given together: no time tells them apart."""

_REFUTED = 1e-9
"""What is left of an algorithm that takes another time: one version of a library may differ from the next in a cell."""

_REDUCED = frozenset({"reduce", "allreduce"})
"""Their vectors are cut into parts of whole items."""


@dataclass(frozen=True)
class _Point:
    """One setting: of each algorithm the time in s, and what it sends."""

    time: Floats
    sends: tuple[object, ...]

    def matches(self, time: float) -> Any:
        with np.errstate(invalid="ignore"):
            return np.abs(self.time - time) < EQUAL_S

    @property
    def coincidence(self) -> float:
        """How often an algorithm takes as long as another one: the share of those here, one of each more."""
        n = sum(bool(self.matches(one).sum() > 1) for one in self.time)
        return (n + 1) / (int(np.isfinite(self.time).sum()) + 2)


class Plays:
    """The messages of a library's algorithms on one machine; each is played once.

    Parameters
    ----------
    library : str
        A key of `WIRES`.
    machine : Machine

    Raises
    ------
    UsageError
        If the messages of this library are not known.
    """

    def __init__(self, library: str, machine: Machine) -> None:
        if library not in WIRES:
            raise UsageError(f"the messages of {library!r:.40} are not known; those of {', '.join(WIRES)} are.")
        self.library, self.machine = library, machine
        self._known: dict[tuple[str, str, int, int], Played] = {}

    def names(self, operation: str) -> tuple[str, ...]:
        """Return the algorithms of an operation."""
        return tuple(name for library, of, name in SCHEDULES if (library, of) == (self.library, operation))

    def of(self, operation: str, name: str, P: int, S: int) -> Played:
        """Return what becomes of an algorithm."""
        key = (operation, name, P, S)
        if key not in self._known:
            program = SCHEDULES[self.library, operation, name]
            self._known[key] = play(program, P, S, WIRES[self.library], self.machine)
        return self._known[key]


def plays_of(data: xr.Dataset) -> Plays | None:
    """Return the library and the machine of a Dataset in virtual time; None for others, and where messages are not known.

    That is so for Open MPI, and MPICH over libfabric, with a process a node, where computing costs no time.
    """
    try:
        virtual: Any = json.loads(str(data.attrs.get("virtual") or "{}"))
        numbers = [float(virtual[key]) for key in ("L_s", "o_s", "g_s", "G_s_per_B")] + [float(virtual.get("hop_s", 0))]
        switches = {key: int(virtual[key]) for key in ("tree", "routers", "hosts") if key in virtual}
    except (ValueError, TypeError, KeyError):
        return None
    words = str(data.attrs.get("mpi_library", "")).lstrip()
    library = next((one for one in WIRES if words.startswith(one)), None)
    if library is None or virtual.get("per_node", 1) != 1 or virtual.get("compute", "none") != "none":
        return None
    if library == "MPICH" and "FI_PROVIDER" not in virtual.get("settings", {}):
        return None
    return Plays(library, Machine.of(*numbers, **switches))


def identify_played(
    operation: str,
    S: ArrayLike,
    P: ArrayLike,
    times: ArrayLike,
    plays: Plays,
    *,
    without: Mapping[tuple[int, int], Collection[str]] | None = None,
) -> Identified:
    """Return which algorithm a library used in virtual time, for each (S, P).

    Parameters
    ----------
    operation : str
        See `scalkit.perfmodels.collectives.model`.
    S, P : array_like of shape (cells,), S in B
        Of a barrier any S.
    times : array_like of shape (cells,) or (cells, repetitions), in s
        When the last process was done, counted from a common start.
    plays : Plays
        The library and the machine.
    without : mapping from (P, S) to names, optional
        Algorithms that are not considered there.

    Raises
    ------
    DataError
        If there is no cell, or no algorithm of the operation is known.

    Notes
    -----
    A prediction that is off by 2 ns is refuted. Where several algorithms take the same time, those that send the same messages
    are one answer; between others the neighbours decide: along the numbers of processes of one size the algorithm, "other" among
    them, stays the same with a probability of 90 % a step. How often an unknown algorithm takes as long as a known one is judged
    by how often known ones do. Two that take the
    same times everywhere, such as recursive doubling and Bruck's allgather with a power of two, are both named.
    """
    names = plays.names(operation)
    size, processes, data = cell_values(S, P, times)
    if not names:
        raise DataError(f"no algorithm of {operation!r:.40} is known for {plays.library}.")
    y = np.nanmedian(data, axis=1)
    left_out = without or {}
    points = [
        _point(operation, names, int(p), 0 if operation == "barrier" else int(s), plays, left_out.get((int(p), int(s)), ()))
        for p, s in zip(processes, size, strict=True)
    ]
    probabilities = np.empty((len(y), len(names) + 1))
    for one in np.unique(size):
        chain = sorted(np.flatnonzero(size == one), key=lambda k: float(processes[k]))
        probabilities[chain] = _along([points[k] for k in chain], y[chain])
    cells = tuple(
        _cell(float(size[k]), float(processes[k]), float(y[k]), (*names, OTHER), probabilities[k], points[k])
        for k in range(len(y))
    )
    return Identified(operation, (*names, OTHER), cells, probabilities, 1.0, 0.0)


def _point(operation: str, names: Sequence[str], P: int, S: int, plays: Plays, without: Collection[str]) -> _Point:
    times, sends = [], []
    for name in names:
        there = name not in without and P >= 2 and not (operation in _REDUCED and S % ITEM)
        played = plays.of(operation, name, P, S) if there else None
        times.append(1e-9 * played.time if played else math.nan)
        sends.append(played.sends if played else None)
    return _Point(np.array(times), tuple(sends))


def _along(points: Sequence[_Point], times: Floats) -> Floats:
    """Return the probabilities of all algorithms and "other" at ever more processes, by the forward-backward algorithm."""
    likely = np.empty((len(points), len(points[0].time) + 1))
    for k, (point, time) in enumerate(zip(points, times, strict=True)):
        matches = point.matches(time)
        likely[k, :-1] = np.where(matches, 1.0, _REFUTED)
        likely[k, -1] = point.coincidence if matches.any() else 1.0
    return smoothed(likely)[1]


def _cell(size: float, processes: float, time: float, names: Sequence[str], probability: Floats, point: _Point) -> Cell:
    """Return what is believed of a setting: algorithms that send the same messages are one answer, as are equally likely ones."""
    groups: dict[object, list[int]] = {}
    for k, sends in enumerate(point.sends):
        if sends is not None:
            groups.setdefault(sends, []).append(k)
    answers = [*groups.values(), [len(names) - 1]]
    likely = [float(probability[answer].sum()) for answer in answers]
    top = max(likely)
    is_other = likely[-1] == top
    named = [k for answer, p in zip(answers[:-1], likely[:-1], strict=True) if p >= _AS_LIKELY * top for k in answer]
    order = [len(names) - 1] if is_other else sorted(named, key=lambda k: -round(float(probability[k]), 2))
    known = [*point.time.tolist(), math.nan]
    is_one = len({point.sends[k] for k in order if k < len(point.sends)}) <= 1
    fastest = int(np.nanargmin(point.time)) if np.isfinite(point.time).any() else len(names) - 1
    return Cell(
        size,
        processes,
        time,
        tuple(names[k] for k in order),
        float(probability[order].sum()),
        known[order[0]],
        names[fastest],
        known[fastest],
        names[order[0]],
        is_one,
    )
