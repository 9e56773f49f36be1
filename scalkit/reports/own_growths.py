"""Own growth classes on their way to the notebook's process, where the texts of a report name them again."""

from __future__ import annotations

from collections.abc import Mapping

from scalkit.growth import Growth, register_growth, registered_growths

__all__ = ["plain_growths", "register_again", "registering"]

_BUILT_IN = ("1", "log(p)", "p", "2^p")


def plain_growths() -> dict[str, dict[str, str]]:
    """Return the classes that this process registered as JSON values, by name, the slowest first.

    Each has its formula and its neighbours among the built-in classes and those before it, which say its place also where
    sympy cannot tell.
    """
    found: dict[str, dict[str, str]] = {}
    for kind in registered_growths():
        growth = kind.growth("p")
        known = (*_BUILT_IN, *(f"{name}(p)" for name in found))
        slower = [text for text in known if Growth.parse(text) < growth]
        faster = [text for text in known if Growth.parse(text) > growth]
        found[kind.name] = {"expression": kind.formula, "faster_than": max(slower, key=Growth.parse)}
        found[kind.name] |= {"slower_than": min(faster, key=Growth.parse)} if faster else {}
    return found


def register_again(plain: Mapping[str, Mapping[str, str]]) -> None:
    """Register the classes that `plain_growths` returned; formulas are read by a white list and never evaluated.

    Raises
    ------
    ExpectationError
        If a formula cannot be read, or the name means another class here.
    """
    for name, one in plain.items():
        register_growth(name, one["expression"], slower_than=one.get("slower_than"), faster_than=one.get("faster_than"))


def registering(text: str) -> list[str]:
    """Return the lines of Python that register all classes, if a text names one of them; else none."""
    plain = plain_growths()
    if not any(f"{name}(" in text for name in plain):
        return []
    return [
        f"sk.register_growth({name!r}, {', '.join(f'{key}={value!r}' for key, value in one.items())})"
        for name, one in plain.items()
    ]
