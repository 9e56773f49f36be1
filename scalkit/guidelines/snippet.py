"""Choices as C: functions that call what was measured to be faster, by number of processes and size."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from scalkit.guidelines.choices import Range, Remedy, remedies
from scalkit.guidelines.result import Assessment
from scalkit.guidelines.substitution.rules import function_of, is_written, names, sections, substitutes
from scalkit.toml.tables import table_beside

_UNSAFE = re.compile(r"[^A-Za-z0-9_.,:;=+{}() -]")
_MOST_SETTINGS = 12
_WIDTH = 110


@dataclass(frozen=True)
class _Call:
    """How a call is declared, handed on, and how large it is.

    `declared`, `passed`: parameters in C, and their names.
    `sized`: count and type of what one process sends or receives, in place of ``%s``; the same bytes on all of them.
    `is_blocked`: whether there is such a message for each process: then the size is that of all.
    """

    declared: str
    passed: str
    sized: str
    is_blocked: bool


@cache
def _calls() -> dict[str, _Call]:
    table = table_beside(__file__, "calls.toml")
    return {
        name: _Call(
            row["declared"].format_map(table["parts"]),
            row["passed"].format_map(table["parts"]),
            row.get("sized", "%s").format_map(table["parts"]),
            row.get("is_blocked", False),
        )
        for name, row in table["calls"].items()
    }


def c_snippet(found: Assessment) -> str:
    """Return C11 that compiles by itself: for each call that is violated a function of its name in small letters.

    Returns: ``MPI_Bcast`` becomes ``scalkit_bcast``, with the same parameters; it calls the substitute for those numbers of
    processes and sizes where that was measured to be faster, the original elsewhere. Only numbers come from the
    measurements, and names of MPI that are known here; remarks are reduced to harmless letters. What cannot be written as a
    function, or does not decide, stands in a remark.
    """
    all_of = remedies(found)
    written = [one for one in all_of if is_written(one)]
    lines = [*_head(found, bool(written)), *_left_out([one for one in all_of if not is_written(one)])]
    if not written:
        return "\n".join(lines) + "\n"
    needed = dict.fromkeys((one.level, names(one)) for one in written)
    parts = [sections()["common"].rstrip()]
    if any(word in substitutes()[key] for key in needed for word in ("scalkit_degrees", "scalkit_meets_twice")):
        parts.append(sections()["degrees"].rstrip())
    parts += [substitutes()[key].rstrip() for key in needed]
    parts += [text for level in dict.fromkeys(one.level for one in written) for text in _functions(written, level, found)]
    return "\n".join(lines) + "\n" + "\n\n".join(parts) + "\n"


def _head(found: Assessment, has_code: bool) -> Iterator[str]:
    limits = found.thresholds
    yield "/* What was measured to be faster than the call that is made for it."
    if any("simulated" in caveat for caveat in found.data.caveats):
        yield "   SIMULATED, NOT MEASURED: do not use this."
    yield f"   {_remark(found.headline)}."
    yield f"   Thresholds: p = {limits.p:g}, ratio {limits.v:g}. Between two violations one is assumed."
    if has_code:
        yield "   A size is the bytes of the whole vector, of all processes together, as for MPI_Bcast; of a neighbour's"
        yield "   message in neighbourhood collectives. All processes must pass the same counts and types."
    else:
        yield "   There is no function here: no violation can be written as one."
    yield "*/"


def _left_out(others: Sequence[Remedy]) -> Iterator[str]:
    if others:
        yield "/* Not written as functions:"
        yield from (f"   {_remark(one.sentence)}" for one in others[:_MOST_SETTINGS])
        if len(others) > _MOST_SETTINGS:
            yield f"   and {len(others) - _MOST_SETTINGS} more"
        yield "*/"


def _functions(written: Sequence[Remedy], level: str, found: Assessment) -> Iterator[str]:
    """Yield the functions that take the place of a call: one, or one for each set of settings that the call cannot see."""
    mine = [one for one in written if one.level == level]
    if all(one.is_everywhere for one in mine):
        yield _function(level, mine, "", [])
        return
    by_setting: dict[tuple[Any, ...], list[int]] = {}
    for number, one in enumerate(mine):
        for where in one.settings:
            by_setting.setdefault(tuple(where.items()), []).append(number)
    alike: dict[tuple[int, ...], list[str]] = {}
    for items, numbers in by_setting.items():
        alike.setdefault(tuple(numbers), []).append(_remark(", ".join(f"{name}={x}" for name, x in items)))
    for count, (chosen, settings) in enumerate(alike.items(), 1):
        suffix = "" if len(alike) == 1 else f"_{count}"
        yield _function(level, [mine[k] for k in chosen], suffix, settings)


def _function(level: str, group: Sequence[Remedy], suffix: str, settings: Sequence[str]) -> str:
    call, word = _calls()[level], level.removeprefix("MPI_").lower()
    name = f"scalkit_{word}{suffix}"
    count, kind = (call.sized.replace("%s", what) for what in ("count", "type"))
    has_size = any(one_range.size for one in group for one_range in one.ranges)
    shown = [*settings[:_MOST_SETTINGS]]
    shown += [f"and {len(settings) - _MOST_SETTINGS} more settings"] if len(settings) > _MOST_SETTINGS else []
    lines = [f"/* In place of {level}{' for' if shown else ''}", *(f"   {line}" for line in shown)]
    lines[-1] += ". */"
    head = _wrapped(f"int {name}({call.declared})", len(f"int {name}("))
    lines += [f"{head};", "", *head.splitlines(), "{"]
    lines.append("    int p = scalkit_processes(comm);")
    if has_size:
        lines.append(f"    long long size = {'p * ' if call.is_blocked else ''}scalkit_bytes({count}, {kind});")
    for one in group:
        for one_range in one.ranges:
            lines.append(f"    if ({_condition(one_range)}) /* {_times(one)} */")
            used = f"        return {function_of(level, names(one))}("
            lines.append(_wrapped(f"{used}{call.passed});", len(used)))
    lines += [f"    return {level}({call.passed});", "}"]
    return "\n".join(lines)


def _wrapped(text: str, indent: int) -> str:
    """Return a line of C broken between arguments."""
    whole = re.sub(r"(?<!,) ", "\0", text)
    broken = textwrap.fill(whole, _WIDTH, subsequent_indent=" " * min(indent, 60), break_long_words=False)
    return broken.replace("\0", " ")


def _condition(one: Range) -> str:
    parts = ["p > 0"] if one.p is None else _between("p", one.p, "")
    parts += [] if one.size is None else _between("size", one.size, "LL")
    return " && ".join(parts)


def _between(name: str, ends: tuple[Any, Any], kind: str) -> list[str]:
    low, high = (f"{int(end)}{kind}" for end in ends)
    return [f"{name} == {low}"] if low == high else [f"{name} >= {low}", f"{name} <= {high}"]


def _times(one: Remedy) -> str:
    least, most = (f"{ratio:.3g}" for ratio in one.ratios)
    return f"{least} times as fast" if least == most else f"{least} to {most} times as fast"


def _remark(text: str) -> str:
    """Return text that ends no remark and begins nothing in C."""
    plain = _UNSAFE.sub("_", text.replace("<=", "=le=").replace("~", "=similar to="))
    plain = plain.replace("=le=", "not slower than").replace("=similar to=", "similar to")
    return plain if len(plain) <= 4 * _WIDTH else f"{plain[: 4 * _WIDTH]} ..."
