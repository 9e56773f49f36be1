"""One card for each function: what was found, the figures, the runners-up, the data."""

from __future__ import annotations

import math as m
from collections.abc import Iterator, Sequence

import numpy as np
from markupsafe import Markup

from scalkit import plots
from scalkit.growth import Growth
from scalkit.measure import Series
from scalkit.plots.style import growth_label, metric_word, quantity
from scalkit.plots.verdicts.sentences import crossing_words, ruler_sentence
from scalkit.reports.markup import badge, big_o, details, esc, formula, heading, math, name, percent, table
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section
from scalkit.reports.sections.several_card import several_card
from scalkit.text import r2
from scalkit.validation import AnyVerdict, Verdict
from scalkit.validation.expectation import Rank
from scalkit.validation.several.verdict import SeveralVerdict

_RIVALS = 5
_ALL_OPEN = 3  # cards; with more, those of what is fine are folded
_MATCHES: dict[Rank, str] = {"total": "total", "approximate": "approximate", "none": "no match"}


def cards(page: Page, metric: str | None = None) -> Section:
    """Return the cards of all functions of a metric (of all metrics by default, each under its own heading).

    Variants of a function, named ``function[variant]``, are folded into the card of the function itself.
    """
    metrics = dict.fromkeys(v.metric for v in page.result.worst_first) if metric is None else (metric,)
    section = Section.of()
    for each in metrics:
        mine = [v for v in page.result.worst_first if v.metric == each]
        word = metric_word(mine[0])
        section += Section.of(heading(word[0].upper() + word[1:]))
        section += _cards_of(mine)
    return section


def _cards_of(verdicts: Sequence[AnyVerdict]) -> Section:
    names = {v.function for v in verdicts}
    is_long = len(verdicts) > _ALL_OPEN
    section = Section.of()
    for verdict in verdicts:
        if isinstance(verdict, SeveralVerdict):
            section += several_card(verdict)
            continue
        base = verdict.function.partition("[")[0]
        if base == verdict.function or base not in names:
            variants = [v for v in verdicts if isinstance(v, Verdict) and v.function.startswith(f"{verdict.function}[")]
            is_fine = all(v.answer == "fine" for v in (verdict, *variants))
            section += card(verdict, variants, is_folded=is_long and is_fine)
    return section


def card(verdict: Verdict, variants: Sequence[Verdict] = (), *, is_folded: bool = False) -> Section:
    """Return the card of one verdict, with its variants folded at the end; all of it below one line if folded."""
    shown = {
        "fit": plots.fit,
        "divergence_of": plots.divergence_of,
        "ruler_svg": ruler_svg,
        "crossing_words": crossing_words,
        "formulas_of": _formulas,
        "runners_up": _runners_up,
        "data": _data,
    }
    found = {"verdict": verdict, "is_folded": is_folded, "variants": list(variants), "variants_table": _variants_table}
    return Section.rendered("card.html", **found, **shown)


def _formulas(verdict: Verdict) -> tuple[tuple[str, object], ...]:
    lower, upper = verdict.expectation.limits
    p = verdict.probability
    return (
        ("expected", big_o(verdict.expectation.growth)),
        ("limits", math(lower) + " to " + math(upper)),
        ("fine up to", math(verdict.passes_up_to)),
        ("model", formula(verdict.model)),
        ("adj. R²", "– (constant)" if m.isnan(verdict.adjusted_r2) else r2(verdict.adjusted_r2)),
        *_best_by_r2(verdict),
        ("divergence δ", math(verdict.divergence)),
        ("probability", ", ".join(f"{word} {percent(p[key])}" for key, word in _MATCHES.items())),
    )


def _best_by_r2(verdict: Verdict) -> tuple[tuple[str, object], ...]:
    best = verdict.by_adjusted_r2
    return () if best.growth == verdict.model.growth else (("best by adj. R²", formula(best)),)


def _runners_up(verdict: Verdict) -> Markup | str:
    if not verdict.rivals:
        return ""
    models = (verdict.model, *verdict.rivals[:_RIVALS])
    rows = [(formula(one), r2(one.adjusted_r2, 5), percent(one.weight), _place(verdict, one.growth)) for one in models]
    caption = (
        f"The chosen model and the {len(models) - 1} next ones. The probability of a growth also counts models "
        "of two terms and the noise between settings."
    )
    return details(
        "Runners-up",
        table(caption, ("model", "adjusted R²", "probability", "would be"), rows, numeric=(1, 2)),
        prints=True,
    )


def _place(verdict: Verdict, growth: Growth) -> str:
    words = {"total": "✓ total match", "approximate": "≈ approximate match", "none": "✗ no match"}
    return words[verdict.expectation.rank(growth)]


def _data(verdict: Verdict) -> Markup:
    parts = [one for one in (verdict.series, verdict.series.beside) if one is not None]
    rows = [row for _, row in sorted((row for one in parts for row in _rows(verdict, one)), key=lambda found: found[0])]
    head = (verdict.parameter, "value", "lowest run", "highest run", "model", "runs", "repetitions")
    caption = f"What the figures of {verdict.function} show, in numbers."
    return details("Data", table(caption, head, rows, numeric=range(7)))


def _rows(verdict: Verdict, series: Series) -> Iterator[tuple[float, tuple[str, ...]]]:
    """Yield the row of each point, with its place."""
    for k, x in enumerate(series.x.tolist()):
        row = series.values[k][np.isfinite(series.values[k])]
        cells = [float(series.y[k]), float(row.min()), float(row.max()), float(np.asarray(verdict.model(x)))]
        shown = (quantity(cell, verdict.unit, 4) for cell in cells)
        yield x, (f"{x:g}", *shown, str(row.size), str(int(series.n_repetitions[k])))


def _variants_table(verdicts: Sequence[Verdict]) -> Markup:
    rows = [(name(v.function), formula(v.model), r2(v.adjusted_r2, 3), math(v.divergence), badge(v)) for v in verdicts]
    caption = "The same function with other shapes of the group of processes."
    return table(caption, ("variant", "model", "adj. R²", "divergence δ", "match"), rows)


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
