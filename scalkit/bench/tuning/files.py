"""What was chosen as a file of the library's own: rules of Open MPI, the selection of MPICH, variables of Intel MPI."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalkit.bench.campaign.folder import write_whole
from scalkit.bench.libraries.mpi import Mpi
from scalkit.errors import UsageError
from scalkit.stats.spans import Area
from scalkit.support.toml.tables import table_beside

OPERATIONS = tuple("barrier bcast reduce allreduce allgather alltoall gather scatter reduce_scatter_block".split())
"""As in MPI_Bcast, in small letters."""


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of an operation.

    `name`: of the library, with what it is told beside.
    `word`: what its file has: a number, or the name of the function in MPICH.
    `segment`, `fan` of Open MPI: bytes of a segment, and how many children a process has; 0 where it has none.
    `tree` of MPICH: parameters, as in ``("k=4",)``.
    `only_powers`: of two processes; elsewhere the library would end, or take another one.
    """

    name: str
    word: str
    segment: int = 0
    fan: int = 0
    tree: tuple[str, ...] = ()
    only_powers: bool = False

    def takes(self, p: int) -> bool:
        """Return whether it exists for so many processes."""
        return not self.only_powers or p & (p - 1) == 0


def algorithms_of(kind: str) -> Mapping[str, tuple[Algorithm, ...]]:
    """Return what a library offers, by operation; nothing of one that is not known.

    Left out is what calls other collective operations, whose algorithms are chosen too, what only two processes can do,
    and what needs shared memory.
    """
    offered = table_beside(__file__, "algorithms.toml").get(kind, {})
    return {
        operation: tuple(Algorithm(**{**row, "tree": tuple(row.get("tree", ()))}) for row in rows)
        for operation, rows in offered.items()
    }


Rules = Mapping[str, Sequence[Area[Algorithm]]]
"""By operation; sizes are bytes of the message of one process."""

EVERYWHERE = ((1, 2**20), (0, 2**30))
"""Processes and sizes: as good as all."""

_TOTAL = {"allgather", "alltoall", "gather", "scatter", "reduce_scatter_block"}
"""Operations whose sizes Open MPI counts over all processes."""
_COLLECTIVES: Mapping[str, int] = table_beside(__file__, "algorithms.toml")["collectives"]
"""Numbers of Open MPI's enumeration."""
_AVERAGE = {"bcast", "reduce", "allreduce", "alltoall"}
"""Operations of which MPICH knows the size of one message; of others that of all."""
_BUILT_IN = ("reduce_scatter_gather", "reduce_scatter_allgather", "_intra_ring")
"""Reductions that need an operation of MPI's own, and an element for each process."""


def write_rules(mpi: Mpi, rules: Rules, folder: Path, p: int) -> dict[str, str]:
    """Write what a library is to use into a folder, and return the variables that tell it, for a number of processes.

    Those of Intel MPI differ between numbers of processes; they need no file.
    Raises UsageError if it is none whose file is known, or one of its own that is needed cannot be found.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if mpi.kind == "Intel MPI":
        here = {op: [one for one in those if one.p[0] <= p <= one.p[1]] for op, those in rules.items()}
        return {f"I_MPI_ADJUST_{op.upper()}": _adjusted(those) for op, those in here.items() if those}
    if mpi.kind == "Open MPI":
        path = (folder / "openmpi.rules").absolute()
        blocks = [_of_collective(op, areas) for op, areas in rules.items() if areas]
        write_whole(path, f"{len(blocks)} # collectives\n" + "".join(blocks))
        return {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(path)}
    if mpi.kind == "MPICH":
        path = (folder / "mpich.json").absolute()
        write_whole(path, json.dumps(_selection(own_selection(mpi), rules), indent=1) + "\n")
        return {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(path)}
    raise UsageError(f"{mpi.name} cannot be tuned; MPICH, Open MPI and Intel MPI can.")


def write_settings(mpi: Mpi, rules: Rules, folder: Path) -> tuple[Path, ...]:
    """Write the library's file, and the variables as a shell takes them: for Intel MPI a file for each number of processes.

    Those of an earlier choice go.
    """
    for old in (*folder.glob("settings.sh"), *folder.glob("settings-p[0-9]*.sh")):
        old.unlink()
    numbers = sorted({p for those in rules.values() for one in those for p in range(one.p[0], one.p[1] + 1)})
    found = []
    for p in numbers if mpi.kind == "Intel MPI" else numbers[:1]:
        lines = [f"export {name}={_word(value)}" for name, value in write_rules(mpi, rules, folder, p).items()]
        found.append(folder / (f"settings-p{p}.sh" if mpi.kind == "Intel MPI" else "settings.sh"))
        write_whole(found[-1], "\n".join(lines) + "\n")
    return tuple(found)


def _word(value: str) -> str:
    """Return a value as one word of a shell, always within apostrophes."""
    return "'" + value.replace("'", "'\\''") + "'"


def _by_p(areas: Sequence[Area[Algorithm]]) -> list[tuple[int, list[Area[Algorithm]]]]:
    """Return the areas of each number of processes, both ascending; of those that are everywhere only the least number."""
    found: dict[int, list[Area[Algorithm]]] = {}
    for one in sorted(areas, key=lambda area: (area.p, area.size)):
        last = one.p[0] if one.p == EVERYWHERE[0] else one.p[1]
        for p in range(one.p[0], last + 1):
            found.setdefault(p, []).append(one)
    return sorted(found.items())


# ---- Open MPI: from a number of processes, and from a size, on; algorithm 0 is what it would use by itself


def _of_collective(operation: str, areas: Sequence[Area[Algorithm]]) -> str:
    by_p: dict[int, list[str]] = {}
    for p, those in _by_p(areas):
        by_p[p] = _of_sizes(those, p if operation in _TOTAL else 1)
        if those[0].p != EVERYWHERE[0]:
            by_p.setdefault(p + 1, [])
    ordered = sorted(by_p.items())
    lines = [f"{_COLLECTIVES[operation]} # {operation}", f"{len(ordered)} # numbers of processes"]
    for p, sizes in ordered:
        told = sizes or ["0 0 0 0"]
        lines += [f"{p} # processes", f"{len(told)} # sizes", *told]
    return "\n".join(lines) + "\n"


def _of_sizes(areas: Sequence[Area[Algorithm]], factor: int) -> list[str]:
    starts = {0: "0 0 0 0"}
    for one in areas:
        low, after = one.size[0] * factor, one.size[1] * factor + 1
        starts[low] = f"{low} {one.choice.word} {one.choice.fan} {one.choice.segment}"
        if one.size != EVERYWHERE[1]:
            starts.setdefault(after, f"{after} 0 0 0")
    return [starts[size] for size in sorted(starts)]


# ---- Intel MPI: ranges of sizes without gaps, ascending, for it takes the first whose end is not below; its conditions on
# processes (@) make no difference in version 2021.16


def _adjusted(areas: Sequence[Area[Algorithm]]) -> str:
    parts, after = [], 0
    for one in sorted(areas, key=lambda area: area.size):
        if one.size == EVERYWHERE[1]:
            return one.choice.word
        if one.size[0] > after:
            parts.append(f"0:{after}-{one.size[0] - 1}")
        parts.append(f"{one.choice.word}:{one.size[0]}-{one.size[1]}")
        after = one.size[1] + 1
    return ";".join([*parts, f"0:{after}-{2**31 - 1}"])


# ---- MPICH: branches before those of its own selection


def own_selection(mpi: Mpi) -> dict[str, Any]:
    """Return the selection that an MPICH has built in: JSON within its library.

    Raises UsageError if there is none, as in versions that do not read such a file.
    """
    pattern = re.compile(rb'\{\s*"collective=[a-z]+"')
    for path in _libraries(mpi):
        content = path.read_bytes()
        for match in pattern.finditer(content):
            text = content[match.start() : match.start() + 2**18].split(b"\0", 1)[0].decode("utf-8", "replace")
            try:
                tree, _ = json.JSONDecoder().raw_decode(text)
            except json.JSONDecodeError:  # bytes that only look like one, or one that is cut
                continue
            if "collective=ibarrier" in tree:
                return dict(tree)
    raise UsageError(f"the selection of algorithms was not found within the library of {mpi.mpicc}; MPICH 4 and newer have one.")


def _libraries(mpi: Mpi) -> list[Path]:
    folders = [Path(mpi.mpicc).resolve().parent.parent / "lib", *(Path(word) for word in re.findall(r"-L(\S+)", mpi.show))]
    folders += [Path(mpi.mpicc).absolute().parent.parent / "lib"]
    found = [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("libmpi*.so*"))]
    return [path for path in dict.fromkeys(found) if path.is_file() and path.stat().st_size > 2**16]


def _selection(own: dict[str, Any], rules: Rules) -> dict[str, Any]:
    found = dict(own)
    for operation, areas in rules.items():
        key = f"collective={operation}"
        if areas:
            kinds = own[key]
            found[key] = {**kinds, "comm_type=intra": _branches(operation, areas, kinds["comm_type=intra"])}
    return found


def _branches(operation: str, areas: Sequence[Area[Algorithm]], own: dict[str, Any]) -> dict[str, Any]:
    if operation == "alltoall":
        inside, apart = own["is_sendbuf_inplace=yes"], own["is_sendbuf_inplace=no"]
        return {"is_sendbuf_inplace=yes": inside, "is_sendbuf_inplace=no": _by_processes(operation, areas, apart)}
    return _by_processes(operation, areas, own)


def _by_processes(operation: str, areas: Sequence[Area[Algorithm]], own: dict[str, Any]) -> dict[str, Any]:
    if [(one.p, one.size) for one in areas] == [EVERYWHERE]:
        return _guarded(areas[0].choice, own)
    found: dict[str, Any] = {}
    before = 0
    for p, those in _by_p(areas):
        if p > before + 1:
            found[f"comm_size<={p - 1}"] = own
        found[f"comm_size<={p}"] = _by_size(operation, those, own, p)
        before = p
    return {**found, "comm_size=any": own}


def _by_size(operation: str, areas: Sequence[Area[Algorithm]], own: dict[str, Any], p: int) -> dict[str, Any]:
    if operation == "barrier":
        return _guarded(areas[0].choice, own)
    word, factor = ("avg", 1) if operation in _AVERAGE else ("total", p)
    found: dict[str, Any] = {}
    for one in areas:
        if one.size[0] > 0:
            found.setdefault(f"{word}_msg_size<={one.size[0] * factor - 1}", own)
        found[f"{word}_msg_size<={one.size[1] * factor}"] = _guarded(one.choice, own)
    return {**found, f"{word}_msg_size=any": own}


def _guarded(algorithm: Algorithm, own: dict[str, Any]) -> dict[str, Any]:
    """Return the branch of an algorithm, with what the library would use by itself where the algorithm does not exist."""
    tree: dict[str, Any] = {}
    for word in reversed(algorithm.tree):
        tree = {word: tree}
    leaf: dict[str, Any] = {f"algorithm={algorithm.word}": tree}
    if "educe_intra" in algorithm.word and algorithm.word.endswith(_BUILT_IN):
        leaf = {"is_op_built_in=yes": {"count<pow2": own, "count=any": leaf}, "is_op_built_in=no": own}
    if "Reduce_scatter_block" in algorithm.word and not algorithm.word.endswith("recursive_doubling"):
        leaf = {"is_commutative=yes": leaf, "is_commutative=no": own}
    return {"comm_size=pow2": leaf, "comm_size=any": own} if algorithm.only_powers else leaf
