"""What the microbenchmarks can measure, read from the tables of the C sources, so that each list is written once."""

import re
from collections.abc import Sequence
from pathlib import Path

from scalkit.errors import BuildError, UsageError
from scalkit.schema_errors import hint

PROGRAMS = {"collectives": "sk_time", "memory": "sk_memory"}
KINDS = tuple(PROGRAMS)
FUNCTIONS = "functions"
"""The kind of functions of the user, which stand in no table."""

NEIGHBOURHOOD = "neighbourhood"
"""The kind of neighbourhood collectives, which experiments describe."""

SHAPES = ("identity", "reverse", "stride", "random")

GROUPS = tuple(
    "paper blocking nonblocking overlap point-to-point bandwidth persistent partitioned in-place further substitutes "
    "send-modes rma simple all".split()
)
"""Words that stand for several operations; "paper", those of the case study, is what is measured by default."""

_TABLES = {"collectives": ("ops/ops.def", "SK_OP"), "memory": ("mem/objects.def", "SK_OBJECT")}
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
            raise UsageError(
                f"--ops: {name!r} cannot be measured by {' and '.join(kinds)}{hint(name, every)}; known are {', '.join(every)}."
            )
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
