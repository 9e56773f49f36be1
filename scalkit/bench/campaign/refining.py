"""Ranges of points: measured in a first pass, then point after point where a curve bends, each where it adds most."""

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from scalkit.bench.arguments import DATATYPES, FUNCTIONS, Arguments
from scalkit.bench.campaign.campaign import KernelCampaign, prepare
from scalkit.bench.campaign.folder import Folder, Launch, write_whole
from scalkit.bench.campaign.loop import Campaign, Loop, Progress, Result
from scalkit.bench.campaign.refinement import Curve, Insertion, Refinement, next_point
from scalkit.bench.libraries.mpi import Mpi
from scalkit.errors import LaunchError, UsageError
from scalkit.measure import series
from scalkit.measure.reduce import Series
from scalkit.measure.sources import read_campaign
from scalkit.support.options import Statistic

_RECORD = "refinement.json"

_OF_QUARTILE = 1.3626
"""Standard error of a first quartile in units of that of a mean, for normal noise."""


def sized_folder(out: Path, label: str, size: int) -> Path:
    """Return the folder of a message size: ``out/mpich-8B``."""
    return out / (f"{label}-{size}B" if label else f"{size}B")


@dataclass
class Range:
    """The campaigns of one curve or family of curves, whose points may be chosen while it is measured.

    `campaigns`: of the first pass: one for each message size, or one with all numbers of processes.
    `make`: returns the campaign of a further message size; None where none is inserted.
    `record`: file that keeps what was inserted, and why.
    """

    campaigns: Sequence[Campaign]
    make: Callable[[int], KernelCampaign] | None = None
    record: Path = Path(_RECORD)
    inserted: list[Insertion] = field(default_factory=list)

    @property
    def rules(self) -> Refinement | None:
        """Rules by which points are inserted; None if none are."""
        own = self.campaigns[0].arguments
        return own.refine if isinstance(own, Arguments) else None

    def load(self) -> None:
        """Take over what an earlier call inserted by the same rules, with the same seed, after the same first pass.

        Raises UsageError if the file cannot be read.
        """
        self.inserted = []
        if self.rules is None:
            return
        try:
            content = json.loads(self.record.read_text(encoding="utf-8"))
            is_mine = {key: content[key] for key in self._said} == self._said
            self.inserted = [Insertion(**one) for one in content["inserted"]] if is_mine else []
        except FileNotFoundError:
            return
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise UsageError(f"cannot read {self.record}: {error}; restore it, or measure into another folder.") from error

    def further(self, on_insert: Callable[[Insertion, Refinement], None]) -> Iterator[tuple[Campaign, Sequence[Launch]]]:
        """Yield the campaign and the launches of each point after the first pass, chosen when those before it are measured.

        `on_insert`: called with each point that no earlier call inserted.
        """
        rules, first = self.rules, self._arguments[0]
        assert rules is not None
        known, measured = list(self.inserted), list(self.campaigns)
        while point := known.pop(0) if known else self._next(rules, measured):
            if point not in self.inserted:
                self._add(point)
                on_insert(point, rules)
            if rules.over == "sizes":
                assert self.make is not None
                measured.append(self.make(point.x))
                yield measured[-1], measured[-1].plan
            else:
                kinds = [kind for kind in first.kinds if kind != "memory"]
                yield measured[0], [Launch(kind, point.x, run) for run in range(first.runs) for kind in kinds]

    def _next(self, rules: Refinement, measured: Sequence[Campaign]) -> Insertion | None:
        first = self._arguments[0]
        if len(self._first) + len(self.inserted) >= rules.max_points:
            return None
        curves = curves_of([campaign.folder.path for campaign in measured], rules.over)
        return next_point(curves, rules, DATATYPES[first.datatype] if rules.over == "sizes" else 1)

    def _add(self, point: Insertion) -> None:
        """Write down a point before it is measured, so that a second call goes on with it."""
        self.inserted.append(point)
        content = {"schema": 1, **self._said, "inserted": [asdict(one) for one in self.inserted]}
        write_whole(self.record, json.dumps(content, indent=1) + "\n")

    @property
    def _arguments(self) -> list[Arguments]:
        return [campaign.arguments for campaign in self.campaigns if isinstance(campaign.arguments, Arguments)]

    @property
    def _first(self) -> list[int]:
        """Points of the first pass."""
        own, rules = self._arguments, self.rules
        return [one.size for one in own] if rules and rules.over == "sizes" else list(own[0].counts)

    @property
    def _said(self) -> dict[str, object]:
        own = self._arguments[0]
        return {**(asdict(own.refine) if own.refine else {}), "seed": own.seed, "first": self._first}

    @property
    def sentence(self) -> str:
        """Number of points so far, in words; empty if the campaign is not refined."""
        first, inserted = len(self._first) if self.rules else 0, len(self.inserted)
        return f"{first} points in the first pass, {inserted} where the curve bends: {self.record}" if self.rules else ""


def run_ranges(
    ranges: Sequence[Range],
    *,
    timeout_s: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_insert: Callable[[Insertion, Refinement], None] = lambda point, rules: None,
) -> tuple[Result, ...]:
    """Measure the first pass of every range, then further points where they are refined, until no curve bends too much.

    Parameters
    ----------
    ranges : sequence of Range
    timeout_s : float, optional, in s
        Time limit of one launch.
    on_progress, on_insert : callable, optional
        Called before and after each launch; with each point that is inserted.

    Returns
    -------
    tuple of Result
        One for each campaign folder.

    Raises
    ------
    UsageError, LaunchError
        As `Campaign.run`; what was measured is kept, a second call goes on.
    """
    for one in ranges:
        one.load()
    with Loop(timeout_s, on_progress) as loop:
        for one in ranges:
            for campaign in one.campaigns:
                loop.add(campaign)
        loop.run()
        for one in ranges:
            if one.rules is None or loop.is_missing(one.campaigns):
                continue  # a curve with gaps would be refined at the wrong places
            for campaign, launches in one.further(on_insert):
                loop.add(campaign, launches)
                loop.run()
                if loop.is_missing([campaign]):
                    break
    return loop.results


def curves_of(folders: Sequence[Path], over: str = "sizes", statistic: Statistic = "q1") -> list[Curve]:
    """Return the run times in campaign folders as curves: one for each function, and of sizes for each number of processes.

    `folders`: of one message size each.
    `statistic`: over repetitions, then over runs.
    Raises RunFileError or DataError if one cannot be read.
    """
    found: dict[str, dict[int, tuple[float, float]]] = {}
    for folder in folders:
        data = read_campaign(folder)
        if "time" not in data:
            raise LaunchError(f"{folder} holds no run time, so no curve can be refined; measure collectives.")
        for one in series(data, statistic):
            if one.metric == "time":
                size = int(data.attrs.get("message_size_B", 0))
                for p, point in zip(one.x.tolist(), _points(one), strict=True):
                    name = one.function if over == "processes" else f"{one.function}, p = {p:g}"
                    found.setdefault(name, {})[int(p) if over == "processes" else size] = point
    return [_curve(name, points) for name, points in found.items()]


def _curve(name: str, points: dict[int, tuple[float, float]]) -> Curve:
    x = sorted(point for point in points if point > 0 and points[point][0] > 0)
    values = np.array([points[one] for one in x], dtype=np.float64).reshape(-1, 2)
    return Curve(name, np.array(x, dtype=np.int64), values[:, 0], values[:, 1])


def _points(one: Series) -> list[tuple[float, float]]:
    """Return each value with its relative standard error: from the runs, or from the repetitions of an only run."""
    rows = one.replicates
    count = np.maximum(np.isfinite(rows).sum(axis=1), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.nanmedian(rows, axis=1)
        spread = 1.4826 * np.nanmedian(np.abs(rows - middle[:, None]), axis=1) / middle
    spread = np.nan_to_num(spread, nan=0.0, posinf=0.0)
    usual = float(np.median(spread)) if len(spread) else 0.0
    rounding = 0.5e-9 / np.maximum(one.y, 1e-9) if one.unit == "s" else np.zeros(len(one.y))
    error = np.hypot(np.maximum(spread, usual) * _OF_QUARTILE / np.sqrt(count), rounding)
    return list(zip(one.y.tolist(), error.tolist(), strict=True))


def range_of(
    out: Path, arguments: Arguments, mpi: Mpi, sizes: Sequence[int] = (), *, label: str = "", set_aside: bool = False
) -> Range:
    """Return campaigns that are ready to run: of several message sizes, which are one run in a store, or a single one.

    Parameters
    ----------
    out : Path
        Folder that those of the campaigns are in; without label and sizes the folder of the only one.
    arguments : Arguments
        Its size does not count where there are `sizes`. Its budget is that of one folder, see `point_budget`.
    mpi : Mpi
    sizes : sequence of int, in B
        Of the first pass, ascending. Memory, which has no message size, is measured with the first only.
    label : str
        Begin of the names of their folders.
    set_aside : bool
        Rename folders that hold another campaign, rather than refuse them.

    Raises
    ------
    UsageError
        If points cannot be refined, or a folder cannot be used.
    BuildError
        If the programs cannot be built.

    Examples
    --------
    >>> from scalkit.bench import Arguments, Refinement, find_mpi
    >>> rules = Refinement("sizes", allowed=0.2)
    >>> arguments = Arguments(("collectives",), (2,), 5, 1, ops=("Ping_pong",), refine=rules)
    >>> run_ranges([range_of(Path("runs/refined"), arguments, find_mpi(), (64, 4096, 262144))])  # doctest: +SKIP
    """
    rules = arguments.refine
    if rules is not None:
        if not {"collectives", FUNCTIONS} & set(arguments.kinds):
            raise UsageError(f"--refine {rules.over}: it follows run times; measure collectives or a function, too.")
        if rules.over == "sizes":
            rules.require_points(sizes)
    if not sizes:
        return Range([prepare(out / label, arguments, mpi, set_aside=set_aside)], None, out / label / _RECORD)
    if len(sizes) > 1 and set(arguments.kinds) == {"memory"}:
        raise UsageError("--size: memory has no message size; leave it out, or measure collectives, too.")
    known = [Folder(sized_folder(out, label, size)).record.get("id") for size in sizes]
    identity = next((str(one) for one in known if one), secrets.token_hex(4))

    def make(size: int) -> KernelCampaign:
        kinds = tuple(kind for kind in arguments.kinds if kind != "memory" or size == sizes[0])
        own = replace(arguments, size=size, kinds=kinds)
        return prepare(sized_folder(out, label, size), own, mpi, set_aside=set_aside, identity=identity)

    record = out / (f"refinement-{label}.json" if label else _RECORD)
    return Range([make(size) for size in sizes], make, record)
