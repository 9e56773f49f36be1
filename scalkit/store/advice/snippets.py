"""C that calls the best operation: chosen by the preprocessor or when it runs. Only names of the catalogue get into it."""

from __future__ import annotations

import functools
import math
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from scalkit.errors import UsageError
from scalkit.stats.between_runs import CONFIDENCE
from scalkit.store.runs.content import LIBRARY_TEXTS
from scalkit.support.arguments import require_text
from scalkit.support.markup import environment
from scalkit.support.schema_errors import hint

if TYPE_CHECKING:
    from scalkit.store.advice.answer import Advice, Setting


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
    require_text(name, "the operation")
    known = {one.name: one for one in operations()}
    for given in (name, f"MPI_{name}"):
        if given in known:
            return known[given]
    raise UsageError(f"no substitutes of {name!r:.50} are known{hint(name, list(known))}; known are those of {', '.join(known)}.")


_LIBRARY = re.compile(r", ([A-Z][A-Za-z ]*?) ([0-9][\w.+-]*)$")


def macro_of(platform: str) -> str:
    """Return the macro that stands for a platform.

    >>> macro_of("vm, MPICH 5.0.2")
    'PLATFORM_VM_MPICH_5_0_2'
    """
    word = re.sub(r"[^A-Z0-9]+", "_", platform.upper().encode("ascii", "replace").decode()).strip("_")
    return f"PLATFORM_{word[:80] or 'UNKNOWN'}"


def ifdef(advice: Advice) -> str:
    """Return C with an ``#if`` for each platform; elsewhere the portable choice is called."""
    usage = "Compile with -DPLATFORM_... for the platform; without, the portable choice is called."
    return _code(advice, usage, finds=False)


def runtime(advice: Advice) -> str:
    """Return C that finds out at its first call on which platform it runs.

    The variable ``SCALKIT_PLATFORM`` of the environment names it; else the MPI library tells, where only one platform has it."""
    usage = "SCALKIT_PLATFORM in the environment names the platform; else the MPI library tells."
    return _code(advice, usage, finds=True)


def _code(advice: Advice, usage: str, *, finds: bool) -> str:
    """Return the whole file: what it is, the substitutes that are called, and the function that calls them."""
    operation, macros, libraries = advice.operation, _macros(advice), _libraries(advice)
    platforms: list[dict[str, Any]] = [
        {
            "macro": macros[platform],
            "comment": _comment(platform),
            "calls": _choice(operation, settings),
            "library": libraries[platform],
        }
        for platform, settings in _by_platform(advice).items()
    ]
    choice = advice.portable[-1].choice if advice.portable else operation.name
    portable = f"return {_call(operation, _callable(operation, choice))};"
    calls = "\n".join([*(line for one in platforms for line in one["calls"]), portable])
    return (
        environment("store/templates", escape=False)
        .get_template("best_of.c.jinja")
        .render(
            operation=operation,
            usage=usage,
            confidence=f"{CONFIDENCE:g}",
            computed=sorted({_comment(one.platform) for one in advice.settings if one.clock != "real"}),
            called=[one for one in operation.substitutes if one.body and f"sk_{one.function}(" in calls],
            finds=finds,
            platforms=platforms,
            portable=portable,
        )
    )


def _by_platform(advice: Advice) -> dict[str, list[Setting]]:
    found: dict[str, list[Setting]] = {}
    for setting in advice.settings:
        found.setdefault(setting.platform, []).append(setting)
    return found


def _macros(advice: Advice) -> dict[str, str]:
    """Return a macro for each platform, no two alike."""
    macros: dict[str, str] = {}
    for platform in _by_platform(advice):
        word, number = macro_of(platform), 2
        while word in macros.values():
            word, number = f"{macro_of(platform)}_{number}", number + 1
        macros[platform] = word
    return macros


def _choice(operation: Operation, settings: Sequence[Setting]) -> list[str]:
    """Return the calls by number of processes, up to halfway to the next that was measured, and by size.

    Where it is not sure that a substitute is the best, the operation itself is called.
    """
    ordered = sorted(settings, key=lambda setting: setting.p)
    calls = [_by_size(operation, setting) for setting in ordered]
    lines: list[str] = []
    for place, (setting, own) in enumerate(zip(ordered, calls, strict=True)):
        if place + 1 == len(ordered):
            lines += own
        elif own != calls[place + 1]:
            border = math.floor(math.sqrt(setting.p * ordered[place + 1].p))
            lines += [f"if (p <= {border}) {{", *(f"    {call}" for call in own), "}"]
    return lines


def _by_size(operation: Operation, setting: Setting) -> list[str]:
    """Return the calls of a setting, neighbours that are the same joined."""
    chosen: list[tuple[str, float]] = []
    for segment in setting.segments:
        is_sure = segment.probability >= CONFIDENCE  # NaN is not
        name = _callable(operation, segment.winner) if is_sure else operation.name
        end = math.inf if segment.crossover is None else segment.crossover.size
        if chosen and chosen[-1][0] == name:
            chosen.pop()
        chosen.append((name, end))
    return [f"{'' if math.isinf(end) else f'if (bytes < {end:.0f}) '}return {_call(operation, name)};" for name, end in chosen]


def _callable(operation: Operation, name: str) -> str:
    """Return a candidate, or the operation where the candidate needs what this code cannot see to."""
    substitute = operation.named(name)
    return operation.name if substitute is not None and substitute.needs else name


def _call(operation: Operation, name: str) -> str:
    """Return the call of a candidate; a name that is not in the catalogue is a mistake of this package."""
    substitute = operation.named(name)
    if substitute is None:
        raise KeyError(name)
    return f"sk_{substitute.function}({operation.arguments})" if substitute.body else operation.call


def _libraries(advice: Advice) -> dict[str, tuple[str, str] | None]:
    """Return what each platform's library says of itself, name and version; None if it is unknown, or that of several."""
    found = {platform: _LIBRARY.search(platform) for platform in _by_platform(advice)}
    said = [one.groups() for one in found.values() if one]
    return {
        platform: (LIBRARY_TEXTS.get(one[1], _literal(one[1])), _literal(one[2]))
        if one and said.count(one.groups()) == 1
        else None
        for platform, one in found.items()
    }


def _literal(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9 ._+-]+", "?", text)[:100]


def _comment(text: str) -> str:
    """Return a text that cannot end a comment, nor a line of it."""
    return re.sub(r"[^A-Za-z0-9 .,_()+-]+", "?", text)[:120]
