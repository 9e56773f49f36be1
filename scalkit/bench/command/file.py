"""A campaign file about a command: read, and checked by a JSON schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalkit.bench.campaign.checks import absolute, in_words_of_file
from scalkit.bench.campaign.file import CampaignFile, parsed, read_campaign
from scalkit.bench.command.campaign import CommandArguments, program_of
from scalkit.bench.command.template import Template, matrix, points_of_file
from scalkit.errors import UsageError
from scalkit.support.schema_errors import schema_errors, schema_in
from scalkit.support.text import shortened

_SCHEMA = Path(__file__).with_name("command.schema.json")
_SHARED = ("runs", "min_reps", "max_reps", "budget_s", "seed")
"""Keys that have the name, and the default, of an argument."""


@dataclass(frozen=True)
class CommandFile:
    """A campaign file about a command that was checked.

    `out`: folder of the results.
    `timeout_s` in s.
    `machine`: arguments of `scalkit.bench.command.campaign.virtual_mpi`; None for the clock of this machine.
    """

    path: Path
    title: str
    out: Path
    arguments: CommandArguments
    timeout_s: float | None
    machine: Mapping[str, Any] | None = None


def read_either(path: Path) -> CampaignFile | CommandFile:
    """Return a campaign file, of the microbenchmarks or of a command, checked.

    Raises UsageError if it cannot be read, or is wrong: a sentence for each error, with the line.
    """
    _, table, lines = parsed(path)
    if "command" not in table:
        return read_campaign(path)
    if errors := schema_errors(table, schema_in(_SCHEMA), lines, str(path)):
        raise UsageError("\n".join(errors))
    machine = _machine(table, path.parent)
    try:
        arguments = _arguments(table, path.parent)
        if machine is not None:
            program_of(arguments.template.words)
    except UsageError as error:
        raise UsageError(f"{path}: {_in_words_of_file(str(error), table['command'])}") from error
    out = path.parent / table.get("out", f"runs/{path.stem}")
    return CommandFile(path, table.get("title", ""), out, arguments, table.get("timeout_s"), machine)


def require_measuring(path: Path) -> CampaignFile:
    """Return a campaign file of the microbenchmarks. Raises UsageError as `read_either`, and if it is one about a command."""
    file = read_either(path)
    if isinstance(file, CommandFile):
        raise UsageError(f"{path} measures a command, which is one job: submit a script that runs 'scalkit campaign run {path}'.")
    return file


def _machine(table: Mapping[str, Any], base: Path) -> dict[str, Any] | None:
    """Return the machine of a virtual clock; None for the clock of this machine."""
    if table.get("clock") != "virtual":
        return None
    network = absolute(table.get("network", "cluster"), base)
    return {"libraries": [table["mpi"]] if "mpi" in table else (), "network": network, "per_node": table.get("per_node")}


def _arguments(table: Mapping[str, Any], base: Path) -> CommandArguments:
    parameters = [
        f"{name}={given if isinstance(given, str) else ','.join(map(str, given))}"
        for name, given in table.get("parameters", {}).items()
    ]
    least = {"min_reps": min(3, table["max_reps"])} if "max_reps" in table else {}
    if table.get("clock") == "virtual":  # which repeats exactly
        least = {"runs": 1, "min_reps": 1, "max_reps": table.get("min_reps", 1)}
    return CommandArguments(
        template=Template(table["command"], tuple(f"{name}={text}" for name, text in table.get("set", {}).items())),
        points=points_of_file(base / table["points"]) if "points" in table else matrix(parameters),
        **least | {key: table[key] for key in _SHARED if key in table},
    )


def _in_words_of_file(text: str, command: str) -> str:
    """Return an error in words of the file; the command stays as it stands there."""
    own = shortened(command)
    if not own.strip():
        return in_words_of_file(text)
    return own.join(in_words_of_file(part) for part in text.split(own))
