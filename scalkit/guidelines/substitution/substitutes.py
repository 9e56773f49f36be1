"""What takes the place of a call, in C: the sources that snippets are made of and that `microbench/tune` is built from."""

import re
from functools import cache

from scalkit.guidelines.remedies import Remedy
from scalkit.native import sources

_MARK = re.compile(r"^/\* section (.+?) \*/\n", re.MULTILINE)
_NAME = re.compile(r"^static int (scalkit_\w+)\(", re.MULTILINE)
_FILES = ("common", "rooted", "allgather", "reductions", "neighbours", "nonblocking")


@cache
def sections() -> dict[str, str]:
    """Return the parts of the sources by their names."""
    folder = sources("microbench") / "tune" / "substitutes"
    text = "".join((folder / f"{name}.c").read_text(encoding="utf-8") for name in _FILES)
    _, *parts = _MARK.split(text)
    return dict(zip(parts[::2], parts[1::2], strict=True))


@cache
def substitutes() -> dict[tuple[str, tuple[str, ...]], str]:
    """Return the C of each substitute, by the call and the calls that take its place one after the other."""
    found = {}
    for name, text in sections().items():
        call, colon, others = name.partition(": ")
        if colon:
            found[call, tuple(others.split(", "))] = text
    return found


def function_of(call: str, used: tuple[str, ...]) -> str:
    """Return the name of the function of a substitute."""
    match = _NAME.search(substitutes()[call, used])
    assert match is not None
    return match[1]


def is_written(one: Remedy) -> bool:
    """Return whether a remedy decides, and can be followed by a program: a known substitute, ranges of whole numbers."""
    is_call = one.parameter == "operation" and one.kind == "levels" and one.decides
    is_known = (one.level, names(one)) in substitutes() and all(factor == 1 for factor, _ in one.terms)
    ends = [end for one_range in one.ranges for span in (one_range.p, one_range.size) for end in span or ()]
    return is_call and is_known and all(isinstance(end, int | float) and end == int(end) for end in ends)


def names(one: Remedy) -> tuple[str, ...]:
    """Return the calls that a remedy names, in their order."""
    return tuple(level for _, level in one.terms)
