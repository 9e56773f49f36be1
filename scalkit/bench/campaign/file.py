"""The file that describes a campaign: read, checked by a JSON schema, and split into the folders that it fills."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from scalkit.bench.arguments import KINDS, Arguments, choose
from scalkit.bench.campaign.checks import absolute, located, platforms_of
from scalkit.bench.campaign.folder import least_time, make_plan
from scalkit.bench.campaign.refinement import Refinement, point_budget
from scalkit.bench.functions.user import names_of_functions
from scalkit.bench.libraries.platforms import load_platform
from scalkit.bench.libraries.simulator import chosen_algorithms
from scalkit.bench.patterns.neighbourhood import experiments
from scalkit.bench.virtual.network import read_network
from scalkit.errors import UsageError
from scalkit.support.native import sources
from scalkit.support.schema_errors import hint, place, schema_errors, schema_in
from scalkit.support.toml.tables import lines_of, table_of

HERE = "here"
"""Name of the library that is found where the campaign runs."""

_SCHEMA = Path(__file__).with_name("campaign.schema.json")
_MOST_BYTES = 1_000_000
_AS_THEY_ARE = ("datatype", "sync", "standard_error", "cut_quartiles", "per_process")
"""Keys that have the name, and the default, of an argument."""


@dataclass(frozen=True)
class Library:
    """An MPI library by name.

    `name`: ``"here"`` for the one that is found.
    `mpicc`, `mpiexec`: compiler and launcher; None to find them.
    `modules`: loaded in the jobs of this library.
    `environment`: set in its jobs.
    `is_own`: whether the file says what it is; else its name is one that scalkit knows.
    `platform`: name or path of a machine to simulate, in place of a library.
    `algorithms`: of the simulated collectives.
    `network`: the machine of the virtual clock, as `scalkit.bench.virtual.network.read_network` takes it; None for the
    real clock.
    """

    name: str = HERE
    mpicc: str | None = None
    mpiexec: str | None = None
    modules: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    is_own: bool = True
    platform: str | None = None
    algorithms: Mapping[str, str] = field(default_factory=dict)
    network: str | None = None


@dataclass(frozen=True)
class SlurmOptions:
    """The table ``[slurm]``: how jobs are submitted. Attributes are the keys of the file."""

    account: str | None = None
    partition: str | None = None
    time: int | str | None = None
    launcher: str = "mpiexec"
    srun_mpi: str | None = None
    modules: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Variant:
    """What one campaign folder holds: one library, one message size, one placement.

    `name`: what of these varies in the campaign, such as ``"mpich-1ppn-8B"``; empty if nothing does.
    `label`: the same without the size.
    """

    name: str
    label: str
    library: Library
    arguments: Arguments

    def folder(self, out: Path) -> Path:
        """Return its folder below that of the campaign."""
        return out / self.name if self.name else out


@dataclass(frozen=True)
class CampaignFile:
    """A campaign file that was checked.

    `out`: folder of the results.
    `variants`: at least one.
    `timeout_s` in s.
    `slurm`: None if there is no such table.
    """

    path: Path
    text: str
    title: str
    out: Path
    variants: tuple[Variant, ...]
    timeout_s: float | None
    slurm: SlurmOptions | None

    @property
    def budget_s(self) -> float | None:
        """Budget of all variants together, in s."""
        budgets = [variant.arguments.budget_s for variant in self.variants]
        return None if None in budgets else sum(one for one in budgets if one is not None)


def read_campaign(path: Path, base: Path | None = None) -> CampaignFile:
    """Return a campaign file, checked.

    `path`: TOML; docs/campaigns.md explains it.
    `base`: folder that its paths are relative to; by default its own.
    Raises UsageError if it cannot be read, or is wrong: a sentence for each error, with the line.
    """
    text, table, lines = parsed(path)
    name = str(path)
    base = path.parent if base is None else base
    errors = schema_errors(table, schema(), lines, name)
    named = table.get("mpi", [])
    for library in table.get("libraries", {}) if not errors else ():
        if library not in named:
            text = f"the library {library!r} is not used{hint(library, named)}; add it to mpi, or leave it out."
            errors.append(f"{place(name, ('libraries', library), lines)}: {text}")
    if errors:
        raise UsageError("\n".join(errors))
    try:
        variants = _variants(table, base)
        _require_measurable(variants)
    except UsageError as error:
        raise UsageError(located(str(error), table, lines, name)) from error
    _require_budget(table, variants, place(name, ("budget_s",), lines))
    slurm = SlurmOptions(**_tuples(table["slurm"])) if "slurm" in table else None
    out = base / table.get("out", f"runs/{path.stem}")
    title, timeout_s = table.get("title", ""), table.get("timeout_s")
    return CampaignFile(path, text, title, out, variants, timeout_s, slurm)


def parsed(path: Path) -> tuple[str, dict[str, Any], dict[tuple[str | int, ...], int]]:
    """Return the text of a campaign file, what it holds, and the lines of the entries; else raise UsageError."""
    text = _text(path)
    return text, table_of(text, str(path), UsageError), lines_of(text)


def limit_seconds(time: int | str | None) -> float | None:
    """Return a time limit, minutes or ``"D-HH:MM:SS"``, in s."""
    if time is None or isinstance(time, int):
        return None if time is None else 60.0 * time
    days, _, rest = time.rpartition("-")
    hours, minutes, seconds = (int(part) for part in rest.split(":"))
    return 60.0 * (60.0 * (24.0 * int(days or 0) + hours) + minutes) + seconds


def _text(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
        text = content.decode("utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise UsageError(f"cannot read the campaign file {str(path)[:200]!r}: {reason}; name a TOML file.") from error
    if len(content) > _MOST_BYTES:
        raise UsageError(f"the campaign file '{path}' is larger than {_MOST_BYTES} bytes; name a TOML file.")
    return text.replace("\r\n", "\n")


def schema() -> dict[str, Any]:
    """Return the JSON schema of campaign files."""
    return schema_in(_SCHEMA)


def _require_measurable(variants: Sequence[Variant]) -> None:
    """Return nothing if all names are known, and what is named is there. Raises UsageError."""
    own = variants[0].arguments
    kinds = [kind for kind in own.kinds if kind in KINDS]
    if kinds:
        choose(sources("microbench"), kinds, own.ops)
    if own.functions:
        names_of_functions(own.functions)
    if own.experiments:
        experiments(own.experiments, own.counts)
    if own.refine is not None and own.refine.over == "sizes":
        own.refine.require_points(list(dict.fromkeys(one.arguments.size for one in variants)))
    for variant in variants:
        library, per_node = variant.library, variant.arguments.processes_per_node
        if library.platform is not None:
            chosen_algorithms(library.algorithms)
            load_platform(library.platform).require_room(max(variant.arguments.counts), per_node or 1)
        if library.network is not None:
            read_network(library.network).with_per_node(per_node)


def _require_budget(table: Mapping[str, Any], variants: Sequence[Variant], where: str) -> None:
    """Return nothing if the budget is enough for the longest launch."""
    if "budget_s" not in table:
        return
    plans = [make_plan(variant.arguments) for variant in variants]
    longest = max((one for plan in plans for one in plan), key=lambda launch: launch.start_s + launch.least_s)
    needed, given = longest.start_s + longest.least_s, float(table["budget_s"])
    if given < needed:
        whole = sum(least_time(plan) for plan in plans)
        raise UsageError(
            f"{where}: budget_s is {given:g}, and one launch of {longest.kind} with {longest.p} processes needs {needed:.0f} "
            f"s; all {sum(map(len, plans))} launches need {math.ceil(whole)} s at the least."
        )


def _variants(table: Mapping[str, Any], base: Path) -> tuple[Variant, ...]:
    libraries = [_library(name, table.get("libraries", {})) for name in table.get("mpi", [])]
    algorithms = dict(table.get("algorithms", {}))
    for name in (absolute(one, base) for one in platforms_of(table)):
        libraries.append(Library(Path(name).stem, is_own=False, platform=name, algorithms=algorithms))
    libraries = libraries or [Library()]
    if table.get("clock") == "virtual":
        network = absolute(table.get("network", "cluster"), base)
        libraries = [replace(library, network=network) for library in libraries]
    sizes = sorted(int(size) for size in table.get("sizes", [8]))
    placements: list[int | None] = [int(n) for n in table.get("processes_per_node", [])] or [None]
    refine = Refinement(**table["refine"]) if "refine" in table else None
    groups = list(product(libraries, placements))
    share_s = table["budget_s"] / len(groups) if "budget_s" in table else None
    share_s = point_budget(share_s, refine, len(sizes), len(table["processes"]))
    found = []
    for library, per_node in groups:
        words = [library.name] if len(libraries) > 1 else []
        words += [f"{per_node}ppn"] if len(placements) > 1 else []
        label = "-".join(words)
        for size in sizes:
            arguments = replace(_arguments(table, base, size, per_node, share_s), refine=refine)
            kinds = tuple(kind for kind in arguments.kinds if kind != "memory" or size == sizes[0])
            name = "-".join([*words, f"{size}B"]) if len(sizes) > 1 else label
            found.append(Variant(name, label, library, replace(arguments, kinds=kinds)))
    return tuple(found)


def _library(name: str, tables: Mapping[str, Any]) -> Library:
    if name == HERE and name not in tables:
        return Library()
    if name not in tables:
        return Library(name, is_own=False)
    table = tables[name]
    return Library(
        name, table.get("mpicc"), table.get("mpiexec"), tuple(table.get("modules", ())), dict(table.get("environment", {}))
    )


def _arguments(table: Mapping[str, Any], base: Path, size: int, per_node: int | None, budget_s: float | None) -> Arguments:
    same: dict[str, Any] = {key: int(table[key]) for key in ("max_reps", "min_reps") if key in table}
    same |= {key: tuple(v) if isinstance(v, list) else v for key, v in table.items() if key in _AS_THEY_ARE}
    own = tuple(absolute(word, base) for word in table.get("own_functions", ()))
    return Arguments(
        kinds=tuple(table["measure"]),
        counts=tuple(sorted(int(n) for n in table["processes"])),
        runs=int(table.get("runs", 1 if table.get("clock") == "virtual" else 10)),
        seed=int(table.get("seed", 1)),
        ops=tuple(table.get("functions", ())),
        size=size,
        budget_s=budget_s,
        processes_per_node=per_node,
        functions=own or None,
        experiments=tuple(table["experiments"]) if "experiments" in table else None,
        memory_counts=tuple(sorted(map(int, memory))) if (memory := table.get("memory_processes")) else None,
        **same,
    )


def _tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
