"""Checks of a campaign file beyond its schema: keys that exclude each other, and errors of options in words of the file."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scalkit.bench.arguments import FUNCTIONS, NEIGHBOURHOOD
from scalkit.schema_errors import hint, place
from scalkit.toml.tables import EntryPath

_VIRTUAL = 'clock = "virtual"'
_KEYS = {
    "--clock virtual": _VIRTUAL,
    "--clock real": 'clock = "real"',
    "--per-node": "processes_per_node",
    "--memory-n": "memory_processes",
    "--ops": "functions",
    "--function": "own_functions",
    "--size": "sizes",
    "--budget": "budget_s",
}


def problems(table: Mapping[str, Any]) -> list[tuple[EntryPath, str]]:
    """Return the entries of a campaign file that do not go with others, and a sentence about each."""
    measured, platforms, over = table["measure"], platforms_of(table), table.get("refine", {}).get("over")
    is_virtual, sizes = table.get("clock") == "virtual", table.get("sizes", [])
    rows: list[tuple[str, bool, str]] = [
        ("algorithms", not platforms, "algorithms are chosen for simulated machines only; name a platform too."),
        ("network", not is_virtual, f"network is the machine of a virtual clock; add {_VIRTUAL}."),
        ("mpi", bool(platforms), "mpi does not go with platform: a simulated machine has no MPI library; leave one out."),
        ("slurm", bool(platforms), "slurm does not go with platform: simulations run here; leave one of them out."),
        ("slurm", is_virtual, f"slurm does not go with {_VIRTUAL}: virtual time runs on one node, here; leave one of them out."),
        ("platform", is_virtual, f"platform does not go with {_VIRTUAL}: that is SimGrid's; leave one of them out."),
        (
            "refine",
            "slurm" in table,
            "refine measures point after point, which jobs cannot; leave out slurm, and 'scalkit campaign run' it in one "
            "allocation.",
        ),
        (
            "refine",
            not {"collectives", FUNCTIONS} & set(measured),
            "refine follows run times; add 'collectives' to measure, or leave it out.",
        ),
        ("sizes", over == "sizes" and sizes != sorted(sizes), "sizes that are refined must ascend."),
        (
            "sizes",
            not {"collectives", FUNCTIONS} & set(measured),
            f"sizes are those of collectives, not of {' and '.join(measured)}; leave sizes out, or add 'collectives' to measure.",
        ),
        ("memory_processes", "memory" not in measured, "memory is not measured; add 'memory' to measure, or leave it out."),
        *(
            (
                one,
                (kind in measured) != (key in table),
                f"{key} and {kind!r} in measure go together; add the other, or drop both.",
            )
            for key, kind in (("own_functions", FUNCTIONS), ("experiments", NEIGHBOURHOOD))
            for one in (key, "measure")
            if (one == key) == (key in table)
        ),
        *(
            (
                "measure",
                bool(platforms) and kind in measured,
                f"{kind} cannot be simulated; leave it out of measure, or leave out platform.",
            )
            for kind in ("memory", NEIGHBOURHOOD)
        ),
    ]
    found: list[tuple[EntryPath, str]] = [((key,), text) for key, is_wrong, text in rows if is_wrong and key in table]
    named = table.get("mpi", [])
    for name in table.get("libraries", {}):
        if name not in named:
            text = f"the library {name!r} is not used{hint(name, named)}; add it to mpi, or leave it out."
            found.append((("libraries", name), text))
    return found


def located(message: str, table: Mapping[str, Any], lines: Mapping[EntryPath, int], name: str) -> str:
    """Return an error about options in words of the file `name`, with the line of the first key that it names."""
    text = in_words_of_file(message)
    named = [word for word in re.findall(r"[a-z_]+", text) if word in table]
    return f"{place(name, (named[0],) if named else (), lines)}: {text}"


def in_words_of_file(text: str) -> str:
    """Return a message about options as it is said of the keys of a file: ``min_reps``, not ``--min-reps``."""
    text = re.sub(r"(write|add|or|as in) -p (\w+)=([0-9][0-9,.]*[0-9])", r'\1 \2 = "\3" in [parameters]', text)
    text = re.sub(r"(as|or) --set (\w+)=(\{+\w+\}+)", r'\1 \2 = "\3" in [set]', text)
    for option, key in _KEYS.items():
        text = re.sub(rf"{option}(?![\w-])", key, text)
    text = re.sub(r"(?<!\S)-n(?!\S)", "processes", text)
    return re.sub(r"(?<!\S)--([a-z]+(?:-[a-z]+)*)", lambda option: option[1].replace("-", "_"), text)


def absolute(word: str, base: Path) -> str:
    """Return a word as it is, or with the whole path if it names a file: C or Python of the user, a platform or a network."""
    names_file = word.endswith((".c", ".xml", ".toml")) or ".py:" in word
    return str((base / word).absolute()) if names_file else word


def platforms_of(table: Mapping[str, Any]) -> Sequence[str]:
    """Return the platforms that a file names."""
    given = table.get("platform", [])
    return [given] if isinstance(given, str) else given
