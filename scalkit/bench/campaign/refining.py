"""Measures where a curve bends: after a first pass, point after point, each where it adds most."""

import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from scalkit.bench.arguments import DATATYPES, FUNCTIONS, Arguments
from scalkit.bench.campaign.campaign import Campaign, prepare
from scalkit.bench.campaign.file import CampaignFile, Variant
from scalkit.bench.campaign.folder import Folder, Launch, write_whole
from scalkit.bench.campaign.here import run_alternately
from scalkit.bench.campaign.loop import Progress, Result
from scalkit.bench.campaign.refinement import Curve, Insertion, Refinement, next_point
from scalkit.bench.jobs.job import prepare_variant
from scalkit.bench.libraries.mpi import Mpi
from scalkit.errors import LaunchError, UsageError
from scalkit.measure import series
from scalkit.measure.reduce import Series
from scalkit.measure.sources import read_campaign
from scalkit.options import Statistic

_RECORD = "refinement.json"

_OF_QUARTILE = 1.3626
"""Standard error of a first quartile in units of that of a mean, for normal noise."""


def sized_folder(out: Path, label: str, size: int) -> Path:
    """Return the folder of a message size: ``out/mpich-8B``."""
    return out / (f"{label}-{size}B" if label else f"{size}B")


@dataclass
class Range:
    """The campaigns of one curve or family of curves, whose points are chosen while it is measured.

    `campaigns`: of the first pass: one for each message size, or one with all numbers of processes.
    `make`: returns the campaign of a further message size.
    `record`: file that keeps what was inserted, and why.
    """

    campaigns: list[Campaign]
    make: Callable[[int], Campaign]
    record: Path
    inserted: list[Insertion] = field(default_factory=list)

    @property
    def rules(self) -> Refinement:
        """How points are inserted; the same for all campaigns."""
        rules = self.campaigns[0].arguments.refine
        if rules is None:
            raise UsageError("a range without rules cannot be refined; set refine.")
        return rules

    @property
    def first(self) -> list[int]:
        """Points of the first pass."""
        own = [campaign.arguments for campaign in self.campaigns]
        return [one.size for one in own] if self.rules.over == "sizes" else list(own[0].counts)

    def load(self) -> None:
        """Take over what an earlier call inserted by the same rules, with the same seed, after the same first pass.

        Raises UsageError if the file cannot be read.
        """
        try:
            content = json.loads(self.record.read_text(encoding="utf-8"))
            is_mine = {key: content[key] for key in self._said} == self._said
            self.inserted = [Insertion(**one) for one in content["inserted"]] if is_mine else []
        except FileNotFoundError:
            self.inserted = []
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise UsageError(f"cannot read {self.record}: {error}; restore it, or measure into another folder.") from error

    @property
    def _said(self) -> dict[str, object]:
        return {**asdict(self.rules), "seed": self.campaigns[0].arguments.seed, "first": self.first}

    def add(self, point: Insertion) -> None:
        """Write down a point before it is measured, so that a second call goes on with it."""
        self.inserted.append(point)
        content = {"schema": 1, **self._said, "inserted": [asdict(one) for one in self.inserted]}
        write_whole(self.record, json.dumps(content, indent=1) + "\n")


def run_refined(
    ranges: Sequence[Range],
    *,
    timeout_s: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_insert: Callable[[Insertion, Refinement], None] | None = None,
) -> tuple[Result, ...]:
    """Measure the first pass of every range, then further points, one after the other, until no curve bends too much.

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
    first = [campaign for one in ranges for campaign in one.campaigns]
    results = list(run_alternately(first, timeout_s=timeout_s, on_progress=on_progress))
    for one in ranges:
        folders = {campaign.folder.path for campaign in one.campaigns}
        if any(result.missing for result in results if result.folder in folders):
            continue  # a curve with gaps would be refined at the wrong places
        _refine(one, results, timeout_s, on_progress, on_insert)
    return tuple(results)


def _refine(
    one: Range,
    results: list[Result],
    timeout_s: float | None,
    on_progress: Callable[[Progress], None] | None,
    on_insert: Callable[[Insertion, Refinement], None] | None,
) -> None:
    known = list(one.inserted)
    done: list[Campaign] = []
    while True:
        point = known.pop(0) if known else _next(one, done)
        if point is None:
            return
        if point not in one.inserted:
            one.add(point)
            if on_insert is not None:
                on_insert(point, one.rules)
        if one.rules.over == "sizes":
            done.append(one.make(point.x))
            results.append(done[-1].run(timeout_s=timeout_s, on_progress=on_progress))
            failed = bool(results[-1].missing)
        else:
            failed = _add_count(one.campaigns[0], point.x, results, timeout_s, on_progress)
        if failed:
            return


def _add_count(
    campaign: Campaign, p: int, results: list[Result], timeout_s: float | None, on_progress: Callable[[Progress], None] | None
) -> bool:
    """Measure a further number of processes into the folder of the others; return whether something failed."""
    kinds = [kind for kind in campaign.arguments.kinds if kind != "memory"]
    launches = [Launch(kind, p, run) for run in range(campaign.arguments.runs) for kind in kinds]
    budget_s = campaign.arguments.budget_s
    share_s = None if budget_s is None else budget_s / len(campaign.arguments.counts)
    more = campaign.run(launches=launches, budget_s=share_s, timeout_s=timeout_s, on_progress=on_progress)
    place = next(i for i, result in enumerate(results) if result.folder == more.folder)
    own = results[place]
    results[place] = replace(
        own,
        total=own.total + more.total,
        done=own.done + more.done,
        fresh=own.fresh + more.fresh,
        failures=own.failures + more.failures,
        missing=own.missing + more.missing,
        remarks=tuple(dict.fromkeys((*own.remarks, *more.remarks))),
    )
    return bool(more.missing)


def _next(one: Range, done: Sequence[Campaign]) -> Insertion | None:
    if len(one.first) + len(one.inserted) >= one.rules.max_points:
        return None
    over, own = one.rules.over, one.campaigns[0].arguments
    folders = [campaign.folder.path for campaign in (*one.campaigns, *done)]
    curves = curves_of(folders, over)
    return next_point(curves, one.rules, DATATYPES[own.datatype] if over == "sizes" else 1)


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
        Folder of the campaign; with sizes the folder that theirs are in.
    arguments : Arguments
        Its size does not count where there are `sizes`. Of a budget each point gets its share, of all that may be measured.
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
    >>> from scalkit.bench import Arguments, Refinement, find_mpi, range_of, run_refined
    >>> rules = Refinement("sizes", allowed=0.2)
    >>> arguments = Arguments(("collectives",), (2,), 5, 1, ops=("Ping_pong",), refine=rules)
    >>> run_refined([range_of(Path("runs/refined"), arguments, find_mpi(), (64, 4096, 262144))])  # doctest: +SKIP
    """
    rules = arguments.refine
    if rules is not None:
        if not {"collectives", FUNCTIONS} & set(arguments.kinds):
            raise UsageError(f"--refine {rules.over}: it follows run times; measure collectives or a function, too.")
        if rules.over == "sizes":
            rules.require_points(sizes)
    if not sizes:
        if rules is not None and arguments.budget_s is not None:
            arguments = replace(arguments, budget_s=arguments.budget_s * len(arguments.counts) / rules.max_points)
        campaign = prepare(out, arguments, mpi, set_aside=set_aside)
        return Range([campaign], lambda size: campaign, out / _RECORD)
    if len(sizes) > 1 and set(arguments.kinds) == {"memory"}:
        raise UsageError("--sizes: memory has no message size; leave it out, or measure collectives, too.")
    known = [Folder(sized_folder(out, label, size)).record.get("id") for size in sizes]
    identity = next((str(one) for one in known if one), secrets.token_hex(4))
    budget_s = arguments.budget_s
    if budget_s is not None:
        budget_s = budget_s / (rules.max_points if rules is not None and rules.over == "sizes" else len(sizes))

    def make(size: int) -> Campaign:
        kinds = tuple(kind for kind in arguments.kinds if kind != "memory" or size == sizes[0])
        own = replace(arguments, size=size, kinds=kinds, budget_s=budget_s)
        return prepare(sized_folder(out, label, size), own, mpi, set_aside=set_aside, identity=identity)

    return Range([make(size) for size in sizes], make, out / _record_name(label))


def _record_name(label: str) -> str:
    return f"refinement-{label}.json" if label else _RECORD


def ranges_of_file(file: CampaignFile, campaigns: Sequence[Campaign]) -> list[Range]:
    """Return the ranges of a campaign file that is refined: of each library and placement those in all message sizes.

    `campaigns`: from `prepare_here`.
    """
    groups: dict[str, list[tuple[Variant, Campaign]]] = {}
    for variant, campaign in zip(file.variants, campaigns, strict=True):
        label = "-".join(word for word in variant.name.split("-") if word != f"{variant.arguments.size}B")
        groups.setdefault(label, []).append((variant, campaign))
    found = []
    for label, members in groups.items():
        rules = members[0][0].arguments.refine
        by_size = rules is not None and rules.over == "sizes"
        base = file.out if by_size else members[0][1].folder.path
        record = base / _record_name(label if by_size else "")
        found.append(Range([campaign for _, campaign in members], _maker(file, *members[-1]), record))
    return found


def _maker(file: CampaignFile, variant: Variant, campaign: Campaign) -> Callable[[int], Campaign]:
    """Return what makes the campaign of another message size beside this one."""

    def make(size: int) -> Campaign:
        name = variant.name.replace(f"{variant.arguments.size}B", f"{size}B")
        other = replace(variant, name=name, arguments=replace(variant.arguments, size=size))
        identity = str(campaign.folder.record["id"])
        return prepare_variant(file, other, other.folder(file.out), identity=identity)

    return make
