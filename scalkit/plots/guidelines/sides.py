"""What the figures of guidelines share: the tests of a group, names of the sides, colours, the axis of the sizes."""

from typing import Any, Final

import numpy as np

from scalkit.errors import UsageError
from scalkit.guidelines import Assessment
from scalkit.guidelines.sentences import setting, titled
from scalkit.plots.style import QUIET, TROUBLE, axis_title, look, number, rounded, safe, x_axis
from scalkit.support.arrays import Ints
from scalkit.support.colours import light
from scalkit.support.text import cut

LEFT: Final = light("model")
RIGHT: Final = light("warning")

#: Of each state: symbol of plotly, colour, words.
STATE_LOOKS: Final = {
    "violated": ("x", TROUBLE, "✗ violated"),
    "compliant": ("circle", light("expected"), "✓ compliant"),
    "inconclusive": ("diamond-open", light("cannot-tell"), "? inconclusive"),
    "undecidable": ("circle-open", QUIET, "? undecidable"),
}
_MOST_LETTERS = 46


def group_of(found: Assessment, test: int) -> Ints:
    """Return the tests of the group that a test belongs to, by the varied parameter.

    Raises UsageError if there is no such test.
    """
    if not 0 <= test < len(found):
        raise UsageError(f"there is no test {test}; the assessment has {len(found)}, numbered from 0.")
    tests = np.flatnonzero(found.groups == found.groups[test])
    if found.varied not in found.data.parameters:
        return tests
    place = found.data.parameters.index(found.varied)
    return tests[np.lexsort((found.against[tests], found.codes[tests, place]))]


def along(found: Assessment, tests: Ints) -> list[Any]:
    """Return the levels of the varied parameter at some tests; None where it is none."""
    if found.varied not in found.data.parameters:
        return [None] * len(tests)
    place = found.data.parameters.index(found.varied)
    return [found.data.level(found.varied, int(code)) for code in found.codes[tests, place]]


def level_axis(levels: list[Any], name: str) -> tuple[dict[str, Any], list[Any]]:
    """Return an axis for levels, and where each stands: numbers as numbers, anything else in order."""
    positions = list(dict.fromkeys(levels))
    if len(positions) > 1 and all(isinstance(level, int | float) and level > 0 for level in positions):
        values = [float(level) for level in levels]
        axis = x_axis(np.array(sorted(set(values))), min(values), max(values), name)
        return axis, rounded(values)
    axis = {
        "tickvals": list(range(len(positions))),
        "ticktext": [safe(number(x) if isinstance(x, int | float) else str(x)) for x in positions],
        "range": [-0.6, len(positions) - 0.4],
        "title": axis_title(safe(name)),
        **look("levels"),
    }
    return axis, [positions.index(level) for level in levels]


def sides_of(found: Assessment, test: int) -> tuple[str, str]:
    """Return short names of both sides, as plotly's markup."""
    guideline = found.guidelines[int(found.which[test])]
    if guideline.kind == "levels":
        left, right = guideline.sides()
    else:
        name = guideline.parameter
        left, right = f"this {name}", f"the next {name}" if guideline.kind == "monotony" else "pieces"
    return safe(cut(left, _MOST_LETTERS)), safe(cut(right, _MOST_LETTERS))


def group_words(found: Assessment, test: int) -> str:
    """Return which group a test belongs to, in plain words; simulated measurements say so."""
    guideline = found.guidelines[int(found.which[test])]
    where = setting(found, test, (found.varied,))
    simulated = " (simulated, not measured)" if any("simulated" in one for one in found.data.caveats) else ""
    return f"{titled(guideline)}{f' at {where}' if where else ''}{simulated}"
