"""What a campaign measures: the arguments that decide it, checked; two campaigns with the same ones are the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from scalkit.bench.operations import FUNCTIONS, KINDS, NEIGHBOURHOOD, SHAPES
from scalkit.errors import UsageError

__all__ = ["DATATYPES", "SYNCS", "Arguments"]

DATATYPES = {"byte": 1, "int": 4, "double": 8}
SYNCS = ("round", "window", "dissemination")

_MOST_PROCESSES = 9999
_MOST_RUNS = 99
_MOST_REPETITIONS = 1_000_000
_MOST_SIZE = 2**30


@dataclass(frozen=True)
class Arguments:
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
    shapes : tuple of str
        Orders of the group of MPI_Comm_create.
    budget_s : float or None, in s
        For the whole campaign.
    max_reps : int
        Most repetitions of an operation in a launch.
    processes_per_node : int or None
        At most so many on a node; None leaves it to the launcher.
    functions : tuple of str or None
        Functions of the user, as `scalkit.bench.functions` takes them; with the kind ``"functions"``, and only with it.
    experiments : tuple of str or None
        Those on neighbourhoods, as `scalkit.bench.neighbourhood` takes them; with the kind ``"neighbourhood"``, and only with it.

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
    shapes: tuple[str, ...] = SHAPES
    budget_s: float | None = None
    max_reps: int = 400
    processes_per_node: int | None = None
    functions: tuple[str, ...] | None = None
    experiments: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.kinds.count(NEIGHBOURHOOD) != bool(self.experiments):
            raise UsageError(
                f"what to measure: {', '.join(self.kinds)}; {NEIGHBOURHOOD!r} needs [[experiments]] of a campaign file, and they "
                "it: see docs/neighbourhoods.md, and 'scalkit campaign run FILE'."
            )
        listed = tuple(kind for kind in self.kinds if kind not in (FUNCTIONS, NEIGHBOURHOOD))
        if listed or not (self.functions or self.experiments):
            _choice("what to measure", listed, KINDS)
        if self.kinds.count(FUNCTIONS) != bool(self.functions):
            raise UsageError(
                f"what to measure: {', '.join(self.kinds)}, functions: {', '.join(self.functions or ()) or 'none'}; "
                f"{FUNCTIONS!r} and the name of at least one function go together."
            )
        _choice("--shapes", self.shapes, SHAPES)
        _choice("--datatype", (self.datatype,), tuple(DATATYPES))
        _choice("--sync", (self.sync,), SYNCS)
        if not self.counts or any(n < 2 or n > _MOST_PROCESSES for n in self.counts):
            shown = ",".join(map(str, self.counts)) or "nothing"
            raise UsageError(
                f"-n {shown}: name numbers of processes from 2 to {_MOST_PROCESSES}, such as -n 2,4,8,16,32."
            )
        if list(self.counts) != sorted(set(self.counts)):
            raise UsageError(f"-n {','.join(map(str, self.counts))}: name each number of processes once, ascending.")
        _range("--runs", self.runs, 1, _MOST_RUNS)
        _range("--max-reps", self.max_reps, 20, _MOST_REPETITIONS)
        _range("--seed", self.seed, 0, 2**63 - 1)
        if self.processes_per_node is not None:
            _range("processes per node", self.processes_per_node, 1, _MOST_PROCESSES)
        width = DATATYPES[self.datatype]
        if self.size > _MOST_SIZE:
            raise UsageError(f"--size {self.size}: at most {_MOST_SIZE} B (1 GiB) are possible.")
        if self.size < width or self.size % width:
            raise UsageError(
                f"--size {self.size} --datatype {self.datatype}: a positive multiple of {width} B is needed."
            )
        if self.budget_s is not None and not (math.isfinite(self.budget_s) and self.budget_s > 0):
            raise UsageError(f"--budget {self.budget_s:g}: a positive number of seconds is needed.")

    def as_table(self) -> dict[str, Any]:
        """Return the arguments as they stand in campaign.toml; what is None is left out."""
        return {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(self).items() if v is not None}

    def differing(self, table: Mapping[str, Any]) -> list[str]:
        """Return the names of the arguments that differ from those in a campaign.toml."""
        own = self.as_table()
        return [field.name for field in fields(self) if own.get(field.name) != table.get(field.name)]


def _choice(what: str, values: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    for value in values:
        if value not in allowed:
            raise UsageError(f"{what}: {value!r} is unknown; choose from {', '.join(allowed)}.")
    if not values or len(set(values)) < len(values):
        raise UsageError(
            f"{what}: {', '.join(values) or 'nothing'} is named; name each once, from {', '.join(allowed)}."
        )


def _range(what: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise UsageError(f"{what} {value}: a whole number from {low} to {high} is needed.")
