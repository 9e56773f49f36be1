"""Each algorithm of a library forced and measured, the best one chosen for each point, and the choice against the default."""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise, zip_longest
from pathlib import Path
from statistics import median
from typing import Any

from scalkit.bench.arguments import Arguments
from scalkit.bench.campaign.campaign import prepare
from scalkit.bench.campaign.folder import Folder
from scalkit.bench.libraries.mpi import Mpi
from scalkit.bench.tuning.files import EVERYWHERE, OPERATIONS, Algorithm, Rules, algorithms_of, write_rules, write_settings
from scalkit.errors import LaunchError, UsageError
from scalkit.stats.shift import hodges_lehmann_ratio
from scalkit.stats.spans import Area, areas
from scalkit.support.task_bar import Report

LEAST = 1.03
"""Least ratio that counts as a gain: the threshold of guidelines."""

_SEED = 1
_DATATYPE = "int"

Place = tuple[str, int, int]
"""Operation, number of processes, bytes of the message of one process."""
Times = dict[Place, tuple[float, ...]]
"""In s, of each run: the median of its repetitions."""


@dataclass(frozen=True)
class Gain:
    """How many times as fast something is as the library's default at a place.

    `low`, `high`: the 95 % interval; the ratio itself where times repeat exactly.
    """

    place: Place
    algorithm: Algorithm
    ratio: float
    low: float
    high: float

    def counts(self, least: float) -> bool:
        """Whether it lies above the noise, and is worth a rule."""
        return self.ratio >= least and self.low > 1


@dataclass(frozen=True)
class Tuning:
    """What was chosen, and what it brings.

    `predicted`: of each choice, from the algorithm forced everywhere.
    `measured`: of the library with its file, also at the numbers of processes and sizes between.
    `refused`: choices that were no gain when they were measured again, or between, or beside which other sizes became slower.
    `files`: what was written for a shell.
    """

    rules: Rules
    predicted: tuple[Gain, ...]
    measured: tuple[Gain, ...]
    refused: tuple[Gain, ...]
    files: tuple[Path, ...]
    failures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tuner:
    """What is tuned, and where the measurements are kept: the same one goes on with what is missing.

    `counts`, `sizes`: numbers of processes; bytes of the message of one process, multiples of 4.
    `operations`: of `OPERATIONS`; all that the library offers algorithms for by default.
    `least`: ratio from which on something is a gain.
    """

    out: Path
    mpi: Mpi
    counts: tuple[int, ...]
    sizes: tuple[int, ...]
    operations: tuple[str, ...] = ()
    runs: int = 1
    least: float = LEAST
    on_progress: Report | None = field(default=None, compare=False)
    failures: list[str] = field(default_factory=list, compare=False)
    done: list[str] = field(default_factory=list, compare=False)

    def __post_init__(self) -> None:
        offered = algorithms_of(self.mpi.kind)
        if not offered:
            raise UsageError(f"{self.mpi.name} cannot be tuned; MPICH, Open MPI and Intel MPI can.")
        for name in self.operations:
            if name not in offered:
                raise UsageError(
                    f"there is nothing to choose for {name!r} with {self.mpi.name}; choose from {', '.join(offered)}."
                )
        for size in self.sizes:
            if size < 4 or size % 4:
                raise UsageError(f"a size of {size} B: sums are of integers; name multiples of 4 B.")

    @property
    def offered(self) -> Mapping[str, tuple[Algorithm, ...]]:
        """The algorithms that are tried, by operation."""
        found = algorithms_of(self.mpi.kind)
        return {op: found[op] for op in OPERATIONS if op in found and (not self.operations or op in self.operations)}

    def run(self) -> Tuning:
        """Measure what is missing, choose, write the library's file, and measure it against the default.

        Raises LaunchError if nothing could be measured with the library's default.
        """
        default = self._measured("default", lambda p, size: {}, self.counts, self.sizes)
        if not default:
            raise LaunchError(f"nothing was measured with the default of {self.mpi.name}. {' '.join(self.failures[:1])}")
        forced: dict[tuple[str, Algorithm], Times] = {}
        for number, one in enumerate(zip_longest(*self.offered.values()), 1):
            chosen = {op: algorithm for op, algorithm in zip(self.offered, one, strict=True) if algorithm}
            times = self._measured(f"forced-{number}", partial(_only_there, chosen), self.counts, self.sizes)
            for op, algorithm in chosen.items():
                forced[op, algorithm] = {place: values for place, values in times.items() if place[0] == op}
        predicted = tuple(_best(default, forced, self.least))
        choices: dict[Place, Algorithm | None] = dict.fromkeys(default)
        choices |= {one.place: one.algorithm for one in predicted}
        return self._confirmed(choices, predicted)

    def _confirmed(self, choices: dict[Place, Algorithm | None], predicted: tuple[Gain, ...]) -> Tuning:
        """Measure the library with its file, also between the points; keep what is a gain there."""
        rules = _rules(choices)
        if not any(rules.values()):
            return Tuning({}, (), (), (), write_settings(self.mpi, {}, self.out), tuple(self.failures))
        counts, sizes = _with_middles(self.counts, 1), _with_middles(self.sizes, 4)
        default = self._measured("default", lambda p, size: {}, counts, sizes)
        tuned = self._measured("tuned", lambda p, size: rules, counts, sizes)
        slower = {place[:2] for place, before in default.items() if _is_slower(before, tuned.get(place), self.least)}
        measured: list[Gain] = []
        refused: list[Gain] = []
        for place, before in default.items():
            algorithm = _ruled(rules, place)
            choices[place] = None
            if algorithm is not None and place in tuned:
                gain = _gain(place, algorithm, before, tuned[place])
                is_kept = gain.counts(self.least) and place[:2] not in slower
                (measured if is_kept else refused).append(gain)
                choices[place] = algorithm if is_kept else None
        final = _rules(choices)
        files = write_settings(self.mpi, final, self.out)
        return Tuning(final, predicted, tuple(measured), tuple(refused), files, tuple(self.failures))

    def _measured(self, name: str, rules_at: Callable[[int, int], Rules], counts: Iterable[int], sizes: Sequence[int]) -> Times:
        """Return the times of the operations that have rules, or of all where none has; measured now if they are not there."""
        found: Times = {}
        for p in counts:
            for size in sizes:
                rules = rules_at(p, size)
                told: dict[str, str] = {}
                folder = name
                if rules:
                    folder = f"{name}-{hashlib.sha256(repr(rules).encode()).hexdigest()[:8]}"
                    told = write_rules(self.mpi, rules, self.out / "runs" / folder, p)
                mpi = replace(self.mpi, environment={**self.mpi.environment, **told})
                ops = [op for op in rules or self.offered if op != "barrier" or size == min(sizes)]
                found |= self._launched(f"{folder}/p{p:04d}-{size}", mpi, p, size, ops)
        return found

    @property
    def _most(self) -> int:
        """Campaigns, those of algorithms for powers of two and of a choice that is none counted as well."""
        points = len(self.counts) * len(self.sizes)
        between = len(_with_middles(self.counts, 1)) * len(_with_middles(self.sizes, 4))
        return points * (1 + max(map(len, self.offered.values()))) + 2 * between

    def _launched(self, name: str, mpi: Mpi, p: int, size: int, operations: Sequence[str]) -> Times:
        ops = tuple(f"MPI_{op.capitalize()}" for op in operations)
        if not ops:
            return {}
        arguments = Arguments(("collectives",), (p,), self.runs, _SEED, ops=ops, size=size, datatype=_DATATYPE)
        campaign = prepare(self.out / "runs" / name, arguments, mpi, set_aside=True)
        result = campaign.run()
        self.failures.extend(f"{name}: {text}" for text in result.failures)
        self.done.append(name)
        if self.on_progress:
            self.on_progress(len(self.done), self._most)
        return _times(campaign.folder, campaign.plan, p, size)


def _times(folder: Folder, plan: Sequence[Any], p: int, size: int) -> Times:
    """Return the median of each run; of operations that delivered wrong data nothing."""
    found: dict[Place, list[float]] = {}
    wrong: set[Place] = set()
    for launch in plan:
        path = folder.finished(launch)
        for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
            record = json.loads(line)
            if record.get("rec") == "cell":
                op = record["op"].removeprefix("MPI_").lower()
                place = (op, p, 0 if op == "barrier" else size)
                found.setdefault(place, []).append(1e-9 * median(record["t_ns"]))
                wrong |= {place} if record.get("verified") is False else set()
    return {place: tuple(values) for place, values in found.items() if place not in wrong}


def _gain(place: Place, algorithm: Algorithm, before: Sequence[float], after: Sequence[float]) -> Gain:
    if len(before) == 1 or len(after) == 1:
        ratio = before[0] / after[0]
        return Gain(place, algorithm, ratio, ratio, ratio)
    shift = hodges_lehmann_ratio([before], [after])
    return Gain(place, algorithm, *(float(values[0]) for values in (shift.estimate, shift.low, shift.high)))


def _is_slower(before: Sequence[float], after: Sequence[float] | None, least: float) -> bool:
    """Return whether a library with its file is slower than by itself, beyond the noise."""
    if after is None:
        return False
    nothing = Algorithm("", "")
    return _gain(("", 0, 0), nothing, after, before).counts(least)


def _best(default: Times, forced: Mapping[tuple[str, Algorithm], Times], least: float) -> Iterable[Gain]:
    """Yield the fastest algorithm of each place, where it is faster than the default by more than the noise."""
    for place, before in default.items():
        gains = [
            _gain(place, algorithm, before, times[place])
            for (op, algorithm), times in forced.items()
            if op == place[0] and place in times
        ]
        best = max(gains, key=lambda one: one.ratio, default=None)
        if best and best.counts(least):
            yield best


def _rules(choices: Mapping[Place, Algorithm | None]) -> dict[str, tuple[Area[Algorithm], ...]]:
    """Return the areas of each operation; those of algorithms for powers of two only there."""
    found = {}
    for op in OPERATIONS:
        cells = {((p, p), _span(op, size)): choice for (name, p, size), choice in choices.items() if name == op}
        mine = [area for area in areas(cells) if not area.choice.only_powers or area.p[0] == area.p[1]]
        if kept := tuple(area for area in mine if area.choice.takes(area.p[0])):
            found[op] = kept
    return found


def _only_there(chosen: Mapping[str, Algorithm], p: int, size: int) -> Rules:
    """Return rules for one point alone: what a benchmark does between its calls goes on as before."""
    return {op: (Area(one, (p, p), _span(op, size)),) for op, one in chosen.items() if one.takes(p)}


def _span(op: str, size: int) -> tuple[int, int]:
    return EVERYWHERE[1] if op == "barrier" else (size, size)


def _ruled(rules: Rules, place: Place) -> Algorithm | None:
    op, p, size = place
    for area in rules.get(op, ()):
        if area.p[0] <= p <= area.p[1] and area.size[0] <= size <= area.size[1]:
            return area.choice
    return None


def _with_middles(values: Sequence[int], unit: int) -> tuple[int, ...]:
    """Return numbers with one between each two, where there is room: the geometric mean, a multiple of `unit`."""
    middles = [round(math.sqrt(low * high) / unit) * unit for low, high in pairwise(values)]
    return tuple(sorted({*values, *middles}))
