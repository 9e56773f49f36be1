"""C that calls the best operation: chosen by the preprocessor or when it runs. Only names of the catalogue get into it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from scalkit.errors import UsageError
from scalkit.store.advice.substitutes import Operation
from scalkit.store.runs.record import LIBRARY_TEXTS

if TYPE_CHECKING:
    from scalkit.store.advice.answer import Advice, Setting

_LIBRARY = re.compile(r", ([A-Z][A-Za-z ]*?) ([0-9][\w.+-]*)$")

_SAYS = """/* Whether a library names itself so and has this very version: 5.0.11 is not 5.0.1. */
static int sk_says(const char *library, const char *name, const char *version)
{
    if (strstr(library, name) == NULL) return 0;
    for (const char *at = strstr(library, version); at != NULL; at = strstr(at + 1, version)) {
        const char *rest = at + strlen(version);
        const int begins = at == library || strspn(at - 1, "0123456789.") == 0;
        if (begins && strspn(rest + (*rest == '.'), "0123456789") == 0) return 1;
    }
    return 0;
}
"""


def macro_of(platform: str) -> str:
    """Return the macro that stands for a platform.

    >>> macro_of("vm, MPICH 5.0.2")
    'PLATFORM_VM_MPICH_5_0_2'
    """
    word = re.sub(r"[^A-Z0-9]+", "_", platform.upper().encode("ascii", "replace").decode()).strip("_")
    return f"PLATFORM_{word[:80] or 'UNKNOWN'}"


def ifdef(advice: Advice) -> str:
    """Return C with an ``#if`` for each platform; elsewhere the portable choice is called.

    Raises UsageError if a platform has several conditions.
    """
    _require_one_condition(advice)
    body = _begin(advice.operation)
    for number, (platform, settings) in enumerate(_by_platform(advice).items()):
        word = "#if" if number == 0 else "#elif"
        body += [f"{word} defined({_macros(advice)[platform]})  /* {_comment(platform)} */"]
        body += _choice(advice.operation, settings, "    ", advice.confidence)
    body += ["#else", *_portable(advice, "    "), "#endif", "}"]
    usage = "Compile with -DPLATFORM_... for the platform; without, the portable choice is called."
    return _with_head(advice, usage, body)


def runtime(advice: Advice) -> str:
    """Return C that finds out at its first call on which platform it runs.

    The variable ``SCALKIT_PLATFORM`` of the environment names it; else the MPI library tells, where only one platform has it.

    Raises UsageError if a platform has several conditions.
    """
    _require_one_condition(advice)
    body = _finder(advice) + _begin(advice.operation) + ["    switch (sk_platform()) {"]
    for number, (platform, settings) in enumerate(_by_platform(advice).items()):
        body += [f"    case {number}: /* {_comment(platform)} */"]
        body += _choice(advice.operation, settings, "        ", advice.confidence)
    body += ["    default:", *_portable(advice, "        "), "    }", "}"]
    return _with_head(
        advice, "SCALKIT_PLATFORM in the environment names the platform; else the MPI library tells.", body
    )


def _with_head(advice: Advice, usage: str, body: Sequence[str]) -> str:
    """Return the whole file: what it is, the substitutes that are called, and the function that calls them."""
    name = advice.operation.name
    simulated = sorted({_comment(s.platform) for s in advice.settings if s.simulated})
    lines = [f"/* The fastest way to do what {name} does, as measured.", f" * {usage}"]
    lines += [f" * Where no substitute is the best with P >= {advice.confidence:g}, {name} itself is called."]
    lines += [f" * Simulated, not measured: {one}." for one in simulated]
    lines += [f" * {one.name} is left out: it needs {one.needs}." for one in advice.operation.substitutes if one.needs]
    lines += [" * Made by scalkit store advise. */"]
    lines += ["#include <mpi.h>", "#include <stdlib.h>", "#include <string.h>", ""]
    text = "\n".join(body)
    for substitute in advice.operation.substitutes:
        if substitute.body and f"sk_{substitute.function}(" in text:
            lines += [f"/* {substitute.meaning} */"]
            lines += [f"static inline int sk_{substitute.function}({advice.operation.parameters})", "{"]
            lines += [substitute.body.strip("\n"), "}", ""]
    return "\n".join([*lines, *body]) + "\n"


def _require_one_condition(advice: Advice) -> None:
    if advice.without_code:
        raise UsageError(advice.without_code)


def _begin(operation: Operation) -> list[str]:
    return [
        f"int best_{operation.function}({operation.parameters})",
        "{",
        "    int p, unit;",
        "    MPI_Comm_size(comm, &p);",
        "    MPI_Type_size(type, &unit);",
        "    const double bytes = (double)count * unit;",
        "    (void)p;",
        "    (void)bytes;",
    ]


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


def _choice(operation: Operation, settings: Sequence[Setting], indent: str, confidence: float) -> list[str]:
    """Return the calls by number of processes, up to halfway to the next that was measured, and by size.

    Where it is not sure that a substitute is the best, the operation itself is called.
    """
    ordered = sorted(settings, key=lambda setting: setting.p)
    calls = [_by_size(operation, setting, confidence) for setting in ordered]
    lines: list[str] = []
    for place, (setting, own) in enumerate(zip(ordered, calls, strict=True)):
        if place + 1 == len(ordered):
            lines += [indent + call for call in own]
        elif own != calls[place + 1]:
            border = math.floor(math.sqrt(setting.p * ordered[place + 1].p))
            inside = [f"{indent}    {call}" for call in own]
            lines += [f"{indent}if (p <= {border}) {{", *inside, f"{indent}}}"]
    return lines


def _by_size(operation: Operation, setting: Setting, confidence: float) -> list[str]:
    """Return the calls of a setting, neighbours that are the same joined."""
    chosen: list[tuple[str, float]] = []
    for segment in setting.segments:
        is_sure = segment.probability >= confidence  # NaN is not
        name = _callable(operation, segment.winner) if is_sure else operation.name
        end = math.inf if segment.crossover is None else segment.crossover.size
        if chosen and chosen[-1][0] == name:
            chosen.pop()
        chosen.append((name, end))
    return [
        f"{'' if math.isinf(end) else f'if (bytes < {end:.0f}) '}return {_call(operation, name)};"
        for name, end in chosen
    ]


def _portable(advice: Advice, indent: str) -> list[str]:
    name = advice.portable[-1].choice if advice.portable else advice.operation.name
    name = _callable(advice.operation, name)
    return [f"{indent}return {_call(advice.operation, name)};"]


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


def _finder(advice: Advice) -> list[str]:
    """Return the function that says which platform this is; -1 if it cannot tell."""
    platforms = list(_by_platform(advice))
    libraries = [_LIBRARY.search(platform) for platform in platforms]
    said = [found.groups() if found else None for found in libraries]
    lines = [*_SAYS.splitlines(), ""] if any(one is not None and said.count(one) == 1 for one in said) else []
    lines += ["static int sk_platform(void)", "{", "    static int known = -2;", "    if (known != -2) return known;"]
    lines += ['    const char *named = getenv("SCALKIT_PLATFORM");']
    lines += ["    char library[MPI_MAX_LIBRARY_VERSION_STRING];", "    int length;"]
    lines += ["    MPI_Get_library_version(library, &length);", "    known = -1;"]
    for number, (platform, library) in enumerate(zip(platforms, libraries, strict=True)):
        macro = _macros(advice)[platform]
        lines += [f'    if (named != NULL && strcmp(named, "{macro}") == 0) return known = {number};']
        if library is not None and said.count(library.groups()) == 1:
            name = LIBRARY_TEXTS.get(library[1], _literal(library[1]))
            lines += [
                f'    if (named == NULL && sk_says(library, "{name}", "{_literal(library[2])}")) known = {number};'
            ]
    return [*lines, "    return known;", "}", ""]


def _literal(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9 ._+-]+", "?", text)[:100]


def _comment(text: str) -> str:
    """Return a text that cannot end a comment, nor a line of it."""
    return re.sub(r"[^A-Za-z0-9 .,_()+-]+", "?", text)[:120]
