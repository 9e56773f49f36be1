"""How the verdicts come about, with formulas as MathML so that no script is needed to draw them."""

from __future__ import annotations

from collections.abc import Iterator

from scalkit.reports.markup import big_o, math
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section
from scalkit.validation import AnyVerdict
from scalkit.validation.posterior import SURE
from scalkit.validation.rules import TOLERANCE

_STATISTICS = {
    "q1": "the first quartile, because disturbances only ever add time,",
    "median": "the median",
    "mean": "the mean",
    "min": "the least, because disturbances only ever add time,",
    "cut_mean": "the mean without the lowest and the highest quarter",
    "cut_mean_1": "the mean without the lowest quarter",
    "cut_mean_4": "the mean without the highest quarter",
    "cut_mean_12": "the mean of the upper half",
    "cut_mean_34": "the mean of the lower half",
}


def method(page: Page) -> Section:
    """Return the method in a few paragraphs, with the deviations and search spaces of this report."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for v in page.result.verdicts:
        ruler = "; ".join(_rulers(v))
        groups.setdefault((big_o(v.expectation.growth), math(v.expectation.deviation), ruler), []).append(v.function)
    known = {"sure": f"{100 * SURE:.0f}", "tolerance": f"{100 * TOLERANCE:.0f}", "groups": groups}
    return Section.rendered("method.html", page=page, statistic=_STATISTICS[page.result.statistic], **known)


def _rulers(verdict: AnyVerdict) -> Iterator[str]:
    for name, one in verdict.along.items():
        which = f"{name}: " if len(verdict.along) > 1 else ""
        yield f"{which}{one.space.name}, {len(one.space.ticks)} classes"
