"""What can be called in place of an operation of MPI: the bundled catalogue, with C for each."""

import functools
import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files

from scalkit.errors import UsageError
from scalkit.schema_errors import hint


@dataclass(frozen=True)
class Substitute:
    """One way to do what an operation does.

    `name`: as it is measured. `aliases`: names of the same in other benchmarks.
    `body`: C of a function with the operation's parameters; empty for the operation itself.
    `needs`: what the program around must see to; empty for what can be called anywhere.
    """

    name: str
    aliases: tuple[str, ...]
    meaning: str
    body: str
    needs: str = ""

    @property
    def function(self) -> str:
        """Its name in C."""
        return re.sub(r"[^a-z0-9]+", "_", self.name.lower())


@dataclass(frozen=True)
class Operation:
    """An operation of MPI and its substitutes, itself first."""

    name: str
    function: str
    parameters: str
    call: str
    substitutes: tuple[Substitute, ...]

    @property
    def arguments(self) -> str:
        """The names of its parameters, between commas."""
        return ", ".join(part.split()[-1].lstrip("*") for part in self.parameters.split(","))

    def named(self, name: str) -> Substitute | None:
        """Return the substitute that a measured name means; None if it is none."""
        return next((one for one in self.substitutes if name == one.name or name in one.aliases), None)


@functools.cache
def operations() -> tuple[Operation, ...]:
    """Return all operations of the catalogue."""
    content = tomllib.loads(files("scalkit.store.advice").joinpath("substitutes.toml").read_text(encoding="utf-8"))
    found = []
    for entry in content["operations"]:
        itself = Substitute(entry["name"], (), "the operation itself", "")
        others = [
            Substitute(s["name"], tuple(s["aliases"]), s["meaning"], s["body"], s.get("needs", "")) for s in entry["substitutes"]
        ]
        found.append(Operation(entry["name"], entry["function"], entry["parameters"], entry["call"], (itself, *others)))
    return tuple(found)


def operation_of(name: str) -> Operation:
    """Return an operation by its name, with or without ``MPI_``. Raises UsageError if the catalogue does not have it."""
    known = {one.name: one for one in operations()}
    for given in (name, f"MPI_{name}"):
        if given in known:
            return known[given]
    raise UsageError(f"no substitutes of {name!r:.50} are known{hint(name, list(known))}; known are those of {', '.join(known)}.")
