"""Errors of options in words of a campaign file, and the files that its words name."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scalkit.support.schema_errors import place
from scalkit.support.toml.tables import EntryPath

_KEYS = {
    "--clock virtual": 'clock = "virtual"',
    "--clock real": 'clock = "real"',
    "--per-node": "processes_per_node",
    "--memory-n": "memory_processes",
    "--ops": "functions",
    "--function": "own_functions",
    "--size": "sizes",
    "--budget": "budget_s",
}


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
    """Return a word, or the absolute path if it names a file: a C file, a platform or a network."""
    return str((base / word).absolute()) if word.endswith((".c", ".xml", ".toml")) else word


def platforms_of(table: Mapping[str, Any]) -> Sequence[str]:
    """Return the platforms that a file names."""
    given = table.get("platform", [])
    return [given] if isinstance(given, str) else given
