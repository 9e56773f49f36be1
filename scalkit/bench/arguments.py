"""What a campaign measures: the arguments that decide it, checked; two campaigns with the same ones are the same."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalkit.bench.campaign.refinement import Refinement
from scalkit.bench.limits import CampaignArguments, require_choices, require_numbers, require_range
from scalkit.errors import BuildError, UsageError
from scalkit.measure.quarter_means import Cut
from scalkit.support.arguments import is_number, require_kind, require_positive
from scalkit.support.schema_errors import hint

PROGRAMS = {"collectives": "sk_time", "memory": "sk_memory"}
KINDS = tuple(PROGRAMS)
FUNCTIONS = "functions"
"""The kind of functions of the user, which stand in no table."""

NEIGHBOURHOOD = "neighbourhood"
"""The kind of neighbourhood collectives, which experiments describe."""

GROUPS = tuple(
    "paper blocking nonblocking overlap point-to-point bandwidth persistent partitioned in-place further substitutes "
    "send-modes rma simple all".split()
)
"""Words that stand for several operations; "paper", those of the case study, is what is measured by default."""

_TABLES = {"collectives": ("catalogue/ops.def", "SK_OP"), "memory": ("mem/objects.def", "SK_OBJECT")}
_OWN_MEMORY = "MPI_memory"
_PAPER = GROUPS[0]
_ALL = GROUPS[-1]


def operations(tree: Path, kind: str, group: str = _ALL) -> tuple[str, ...]:
    """Return the names that the program of this kind measures, in the order of its table; all, or those of a group.

    Raises BuildError if the table is missing or empty.
    """
    name, macro = _TABLES[kind]
    text = table_of(tree, name)
    found = re.findall(rf'^{macro}\(\w+, "([^"]+)", .*?(\w+)\)$', text, re.MULTILINE)
    if not found:
        raise BuildError(f"{tree / name} lists no operations; install scalkit again.")
    if kind == "memory":
        found.insert(0, (_OWN_MEMORY, _PAPER))
    return tuple(op for op, own in found if group in (_ALL, own.lower().replace("_", "-")))


def table_of(tree: Path, name: str) -> str:
    """Return the text of a table and of those that it includes."""
    try:
        text = (tree / name).read_text(encoding="utf-8")
    except OSError as error:
        raise BuildError(f"cannot read {tree / name}: {error.strerror or error}; install scalkit again.") from error
    return text + "".join(table_of(tree, other) for other in re.findall(r'^#include "([\w/]+\.def)"$', text, re.MULTILINE))


def choose(tree: Path, kinds: Sequence[str], wanted: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the operations to measure for each kind: those of the case study, or those wanted, by name or by group.

    Raises UsageError if one is unknown or a kind is left with none.
    """
    words = tuple(wanted) or (_PAPER,)
    known = {kind: operations(tree, kind) for kind in kinds}
    every = [*(name for names in known.values() for name in names), *GROUPS]
    for name in words:
        if name not in every:
            other = next((kind for kind in KINDS if kind not in kinds and name in operations(tree, kind)), None)
            way = f"measure {other}, too" if other else f"known are {', '.join(every)}"
            near = "" if other else hint(name, every)
            raise UsageError(f"--ops: {name!r} cannot be measured by {' and '.join(kinds)}{near}; {way}.")
    meant = {
        kind: {op for word in words for op in ((word,) if word not in GROUPS else operations(tree, kind, word))} for kind in kinds
    }
    chosen = {kind: tuple(name for name in names if name in meant[kind]) for kind, names in known.items()}
    for kind, names in chosen.items():
        if not names:
            raise UsageError(f"--ops names nothing for {kind!r}; leave out {kind!r}, or add one of {', '.join(known[kind])}.")
    return chosen


def in_virtual_time(
    tree: Path, chosen: dict[str, tuple[str, ...]], wanted: Sequence[str], library: str, per_node: int
) -> dict[str, tuple[str, ...]]:
    """Return what can be measured by a virtual clock of what was chosen.

    `tree`: the C sources.
    `chosen`: as `choose` returns it.
    `wanted`: what was asked for; what the word "all" brings along is left out without a word.
    `library`: as `Mpi.kind`.
    `per_node`: processes on a node of the virtual machine.
    Raises UsageError if something was asked for that cannot.
    """
    kind = KINDS[0]
    reasons = {"simple": "calls without communication take no time on a virtual clock"}
    if library == "Open MPI" and per_node > 1:
        reasons["rma"] = "one-sided operations of Open MPI pass through shared memory inside a node"
    for group, why in reasons.items() if kind in chosen else ():
        members = operations(tree, kind, group)
        for word in wanted:
            if word != _ALL and (word == group or word in members):
                raise UsageError(f"--ops {word}: {why}; leave it out, or measure with --clock real.")
        chosen = {**chosen, kind: tuple(name for name in chosen[kind] if name not in members)}
    return chosen


DATATYPES = {"byte": 1, "int": 4, "double": 8}
SYNCS = ("round", "window", "dissemination")

_LEAST_PROCESSES, _MOST_PROCESSES = 2, 9999
_LEAST_REPETITIONS, _MOST_REPETITIONS = 5, 1_000_000
_MOST_SIZE = 2**30


@dataclass(frozen=True)
class Arguments(CampaignArguments):
    """The arguments of a campaign.

    Attributes
    ----------
    kinds : tuple of str
        ``"collectives"``, ``"memory"``, ``"functions"``, ``"neighbourhood"``.
    counts : tuple of int
        Numbers of processes, each at least 2, ascending.
    runs : int
        How often everything is launched anew; memory, which repeats exactly, at most 3 times.
    seed : int
        Of every random choice, 0 to 2^63 - 1.
    ops : tuple of str
        What to measure, by name or by group; empty for what the case study measured.
    size : int, in B
        Message size.
    datatype, sync : str
    budget_s : float or None, in s
        For the whole campaign.
    max_reps, min_reps : int
        Most and fewest repetitions of an operation in a launch.
    processes_per_node : int or None
        At most so many on a node; None leaves it to the launcher.
    functions : tuple of str or None
        Functions of the user, as `scalkit.bench.functions.user` takes them; with the kind ``"functions"``, and only with it.
    standard_error : float or None
        Repetitions go on until the standard error of the mean is at most this share of it; None for the usual rule, by intervals
        of median and first quartile.
    cut_quartiles : tuple of int
        Quarters of the repetitions that this mean leaves out, 1 the lowest, 4 the highest: none, 1 and 4, one of them, 1 and 2,
        or 3 and 4.
    per_process : bool
        Keep the time of the root in each repetition, and of every process.
    refine : Refinement or None
        Points are inserted where the curve bends.
    memory_counts : tuple of int or None
        Numbers of processes for memory, where they are others than `counts`.
    experiments : tuple of mappings or None
        Those on neighbourhoods, as `scalkit.bench.patterns.neighbourhood` takes them; with the kind
        ``"neighbourhood"``, and only with it.

    Raises
    ------
    UsageError
        If one is not allowed.
    """

    kinds: tuple[str, ...]
    counts: tuple[int, ...]
    runs: int
    seed: int
    ops: tuple[str, ...] = ()
    size: int = 8
    datatype: str = "byte"
    sync: str = "round"
    budget_s: float | None = None
    max_reps: int = 400
    processes_per_node: int | None = None
    functions: tuple[str, ...] | None = None
    experiments: tuple[Mapping[str, Any], ...] | None = None
    min_reps: int = 20
    standard_error: float | None = None
    cut_quartiles: tuple[int, ...] = ()
    per_process: bool = False
    refine: Refinement | None = None
    memory_counts: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        require_kind(self.kinds, tuple | list, "what to measure", "write ('collectives',)")
        for name in ("ops", "functions", "experiments", "cut_quartiles", "memory_counts"):
            require_kind(getattr(self, name), tuple | list | type(getattr(Arguments, name)), name, "give a tuple")
        require_kind(self.refine, Refinement | None, "refine", "give a Refinement")
        require_positive(self.size, "--size", whole=True)
        if self.kinds.count(NEIGHBOURHOOD) != bool(self.experiments):
            raise UsageError(
                f"what to measure: {', '.join(self.kinds)}; {NEIGHBOURHOOD!r} needs [[experiments]] of a campaign file, and they "
                "it: see docs/neighbourhoods.md, and 'scalkit campaign run FILE'."
            )
        listed = tuple(kind for kind in self.kinds if kind not in (FUNCTIONS, NEIGHBOURHOOD))
        if listed or not (self.functions or self.experiments):
            require_choices("what to measure", listed, KINDS)
        if self.kinds.count(FUNCTIONS) != bool(self.functions):
            raise UsageError(
                f"what to measure: {', '.join(self.kinds)}, functions: {', '.join(self.functions or ()) or 'none'}; "
                f"{FUNCTIONS!r} and the name of at least one function go together."
            )
        require_choices("--datatype", (self.datatype,), tuple(DATATYPES))
        require_choices("sync", (self.sync,), SYNCS)
        require_numbers("-n", self.counts, _LEAST_PROCESSES, _MOST_PROCESSES)
        if self.memory_counts is not None:
            require_numbers("--memory-n", self.memory_counts, _LEAST_PROCESSES, _MOST_PROCESSES)
            if "memory" not in self.kinds:
                raise UsageError("--memory-n: memory is not measured; add memory, or leave --memory-n out.")
        self._require_rules()
        self.require_usual()
        if self.processes_per_node is not None:
            require_range("processes per node", self.processes_per_node, 1, _MOST_PROCESSES)
        width = DATATYPES[self.datatype]
        if self.size > _MOST_SIZE:
            raise UsageError(f"--size {self.size}: at most {_MOST_SIZE} B (1 GiB) are possible.")
        if self.size % width:
            raise UsageError(f"--size {self.size} --datatype {self.datatype}: a positive multiple of {width} B is needed.")

    def _require_rules(self) -> None:
        """Return nothing if the rules of when to stop make sense."""
        require_range("--max-reps", self.max_reps, _LEAST_REPETITIONS, _MOST_REPETITIONS)
        require_range("--min-reps", self.min_reps, 2, _MOST_REPETITIONS)
        error = self.standard_error
        if error is not None and not (is_number(error) and 0 < error < 1):
            raise UsageError(f"--standard-error {error}: a share of the mean between 0 and 1 is needed, such as 0.02 for 2 %.")
        Cut.of(self.cut_quartiles)
        if self.refine is not None and self.refine.over == "processes":
            self.refine.require_points(self.counts)

    def counts_of(self, kind: str) -> tuple[int, ...]:
        """Return the numbers of processes of a kind."""
        return self.memory_counts if kind == "memory" and self.memory_counts is not None else self.counts

    @property
    def timing_options(self) -> dict[str, Any]:
        """Options of the programs that time operations; those that say nothing new are left out."""
        options: dict[str, Any] = {"sync": self.sync, "min-reps": self.min_reps, "max-reps": self.max_reps}
        if self.standard_error is not None:
            options["standard-error"] = repr(self.standard_error)
        if self.cut_quartiles:
            options["cut-quartiles"] = ",".join(map(str, self.cut_quartiles))
        if self.per_process:
            options["per-process"] = 1
        if self.refine is not None:
            options["auto-refined"] = 1
        return options
