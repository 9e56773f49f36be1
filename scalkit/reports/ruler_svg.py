"""The ruler of a verdict as a picture that needs no script: SVG whose text keeps its size at every width."""

from __future__ import annotations

from collections.abc import Sequence

from scalkit.growth import Growth
from scalkit.plots.style import growth_label
from scalkit.plots.verdicts.sentences import ruler_sentence
from scalkit.reports.markup import esc
from scalkit.validation import Verdict

_HEIGHT, _BASE, _BIG, _SMALL = 104, 62, 28, 15
_EDGE = 0.8


def ruler_svg(verdict: Verdict) -> str:
    """Return the ticks of a verdict in the order of growth at equal distances, limits shaded, best and expected marked.

    `verdict`: over one parameter.
    """
    found, expected = verdict.model.growth, verdict.expectation.growth
    ticks = tuple(sorted({*verdict.space.ticks, expected, found}))
    lower, upper = verdict.expectation.limits
    inside = [k for k, tick in enumerate(ticks) if lower <= tick <= upper]
    width = len(ticks) - 1 + 2 * _EDGE
    start, end = min(inside) - 0.5 + _EDGE, max(inside) + 0.5 + _EDGE
    lines = "".join(
        f"M{_short(k + _EDGE)} {_BASE}v-{_BIG if _n_factors(tick) < 2 else _SMALL}" for k, tick in enumerate(ticks)
    )
    drawn = (
        f'<svg viewBox="0 0 {_short(width)} {_HEIGHT}" preserveAspectRatio="none" width="100%" height="{_HEIGHT}">'
        f'<rect class="band" x="{_short(start)}" y="{_BASE - 34}" width="{_short(end - start)}" height="38"/>'
        f'<path class="ticks" d="M0 {_BASE}H{_short(width)}{lines}"/>'
        f'<path class="expected" d="M{_short(ticks.index(expected) + _EDGE)} {_BASE}v-{_BIG}"/>'
        f'<path class="model" d="M{_short(ticks.index(found) + _EDGE)} {_BASE}v-{_BIG}"/></svg>'
    )
    marks = _mark("model", "model", found, ticks, width) + _mark("expected", "expected", expected, ticks, width)
    ends = _ends(ticks, ticks.index(found))
    return (
        f'<svg class="ruler" role="img" aria-label="{esc(ruler_sentence(verdict))}" width="100%" height="{_HEIGHT}">'
        f"{drawn}{ends}{marks}</svg>"
    )


def _mark(kind: str, word: str, growth: Growth, ticks: Sequence[Growth], width: float) -> str:
    """Return a triangle and a label: of the model above the ruler, of the expectation below."""
    share = (ticks.index(growth) + _EDGE) / width
    side, shift = ("start", -5) if share < 0.25 else ("end", 5) if share > 0.75 else ("middle", 0)
    above = kind == "model"
    triangle = f"M-5 {_BASE - 42}h10l-5 7z" if above else f"M-5 {_BASE + 13}h10l-5-7z"
    y = _BASE - 47 if above else _BASE + 29
    return (
        f'<svg class="{kind}" x="{100 * share:.2f}%" overflow="visible"><path d="{triangle}"/>'
        f'<text x="{shift}" y="{y}" text-anchor="{side}">{word} <tspan class="growth">{_text(growth)}</tspan></text></svg>'
    )


def _ends(ticks: Sequence[Growth], found: int) -> str:
    """Return the names of the first and the last class, where the label of the model leaves room."""
    share = found / max(1, len(ticks) - 1)
    names = ((ticks[0], "0", "start", share > 0.35), (ticks[-1], "100%", "end", share < 0.65))
    return "".join(
        f'<text class="end" x="{x}" y="{_BASE - 47}" text-anchor="{side}">{_text(growth)}</text>'
        for growth, x, side, is_free in names
        if is_free
    )


def _text(growth: Growth) -> str:
    """Return a growth as SVG text, exponents raised; the empty letter takes the line down again."""
    label = growth_label(growth)
    return label.replace("<sup>", '<tspan class="sup" dy="-4">').replace(
        "</sup>", '</tspan><tspan dy="4">&#8203;</tspan>'
    )


def _n_factors(growth: Growth) -> int:
    exponents = ((growth.exponential(name), growth.power(name), growth.log(name)) for name in growth.parameters)
    return sum(exponent != 0 for three in exponents for exponent in three)


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
