"""Own growth classes as plain values, for files and other processes that name them again."""

import re
from collections.abc import Mapping

from scalkit.errors import ExpectationError
from scalkit.growth.classes import all_or_none, register_growth, registered_growths
from scalkit.growth.parse import parse_growth

_BUILT_IN = ("1", "log(p)", "p", "2^p")
_KEYS = {"expression", "faster_than", "slower_than"}
_MOST = 100


def plain_growths(named_in: str | None = None) -> dict[str, dict[str, str]]:
    """Return the classes that this process registered as JSON values, by name, the slowest first.

    Each has its formula and its neighbours among the built-in classes and those before it, which say its place also where
    sympy cannot tell.

    `named_in`: only those that a text names, as in ``loglog(p)``; all by default.
    """
    found: dict[str, dict[str, str]] = {}
    for kind in registered_growths():
        if named_in is not None and not re.search(rf"\b{kind.name}\(", named_in):
            continue
        growth = kind.growth("p")
        known = (*_BUILT_IN, *(f"{name}(p)" for name in found))
        slower = [text for text in known if parse_growth(text) < growth]
        faster = [text for text in known if parse_growth(text) > growth]
        found[kind.name] = {"expression": kind.formula, "faster_than": max(slower, key=parse_growth)}
        found[kind.name] |= {"slower_than": min(faster, key=parse_growth)} if faster else {}
    return found


@all_or_none()
def register_again(plain: Mapping[str, Mapping[str, str]]) -> None:
    """Register the classes that `plain_growths` returned, all or none; formulas are read by a white list and never evaluated.

    Raises ExpectationError if there are more than 100, an entry is none of a class, a formula cannot be read, or the name
    means another class here.
    """
    if not isinstance(plain, Mapping) or len(plain) > _MOST:
        raise ExpectationError(f"the growth classes are {plain!r:.60}; an object of at most {_MOST} is needed.")
    for name, one in plain.items():
        is_plain = isinstance(one, Mapping) and set(one) <= _KEYS and all(isinstance(text, str) for text in one.values())
        if not is_plain or "expression" not in one:
            raise ExpectationError(
                f"the growth class {name!r:.70} is {one!r:.60}; an object with 'expression' and its neighbours is needed."
            )
        register_growth(name, one["expression"], slower_than=one.get("slower_than"), faster_than=one.get("faster_than"))
