"""Which expectations are those of a bundled catalogue, wherever they were written."""

from collections.abc import Mapping
from functools import cache

from scalkit.validation.catalogue.catalogue import CATALOGUES, load_expectations
from scalkit.validation.expectation import Expectation


def is_bundled(function: str, along: Mapping[str, Expectation]) -> bool:
    """Return whether a bundled catalogue says the same of a function, along its only parameter."""
    known = _bundled().get(function.partition("[")[0], ())
    return len(along) == 1 and any(one in known for one in along.values())


@cache
def _bundled() -> dict[str, list[Expectation]]:
    found: dict[str, list[Expectation]] = {}
    for name in CATALOGUES:
        for function, one in load_expectations(name).functions.items():
            if isinstance(one.expectation, Expectation):
                found.setdefault(function, []).append(one.expectation)
    return found
