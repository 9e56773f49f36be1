"""One card for each function: what was found, the figures, the runners-up, the data."""

from __future__ import annotations

import math as m
from collections.abc import Iterator, Sequence

import numpy as np

from scalkit import plots
from scalkit.growth import Growth
from scalkit.measure import Series
from scalkit.plots.style import metric_word, quantity
from scalkit.plots.verdicts.sentences import crossing_words
from scalkit.reports.markup import anchor, badge, big_o, details, esc, formula, math, name, notes, percent, table
from scalkit.reports.page import Page
from scalkit.reports.pieces import Piece, Plot, Section
from scalkit.reports.ruler_svg import ruler_svg
from scalkit.reports.sections.several_card import several_card
from scalkit.validation import AnyVerdict, Verdict
from scalkit.validation.several.verdict import SeveralVerdict

__all__ = ["card", "cards"]

_RIVALS = 5


def cards(page: Page, metric: str | None = None) -> Section:
    """Return the cards of all functions of a metric (of all metrics by default, each under its own heading).

    Variants of a function, named ``function[variant]``, are folded into the card of the function itself.
    """
    metrics = dict.fromkeys(v.metric for v in page.result.verdicts) if metric is None else (metric,)
    section = Section.of()
    for each in metrics:
        mine = [v for v in page.result.verdicts if v.metric == each]
        word = metric_word(mine[0])
        section += Section.of(f'<h3 class="metric">{esc(word[0].upper() + word[1:])}</h3>')
        section += _cards_of(mine)
    return section


def _cards_of(verdicts: Sequence[AnyVerdict]) -> Section:
    names = {v.function for v in verdicts}
    section = Section.of()
    for verdict in verdicts:
        if isinstance(verdict, SeveralVerdict):
            section += several_card(verdict)
            continue
        base = verdict.function.partition("[")[0]
        if base == verdict.function or base not in names:
            section += card(
                verdict,
                [v for v in verdicts if isinstance(v, Verdict) and v.function.startswith(f"{verdict.function}[")],
            )
    return section


def card(verdict: Verdict, variants: Sequence[Verdict] = ()) -> Section:
    """Return the card of one verdict, with its variants folded at the end."""
    start = f'<article class="sheet card" id="{anchor(verdict)}"><div class="whole">'
    pieces: list[Piece | str] = [start + _head(verdict, "h4"), *_figures(verdict), "</div>", *_ruler(verdict)]
    pieces += [_runners_up(verdict), _data(verdict)]
    if variants:
        pieces.append(_variants_table([verdict, *variants]))
        for variant in variants:
            pieces.append(
                f'<details id="{anchor(variant)}">'
                f"<summary>{name(variant.function)}: figures and data</summary>"
                f'<div class="card">{_head(variant, "h5")}'
            )
            pieces += [*_figures(variant), *_ruler(variant), _runners_up(variant), _data(variant), "</div></details>"]
    return Section.of(*pieces, "</article>")


def _head(verdict: Verdict, level: str) -> str:
    return (
        f"<header><{level}>{name(verdict.function)}</{level}>{badge(verdict)}</header>"
        f'<p class="sentence">{esc(verdict.sentence)} {esc(verdict.hidden_sentence)}</p>'
        f"{_formulas(verdict)}{notes(verdict.caveats)}"
    )


def _formulas(verdict: Verdict) -> str:
    r2 = "– (constant)" if m.isnan(verdict.adjusted_r2) else f"{verdict.adjusted_r2:.4f}"
    lower, upper = verdict.expectation.limits
    parts = (
        ("expected", big_o(verdict.expectation.growth)),
        ("limits", f"{math(lower)} to {math(upper)}"),
        ("model", formula(verdict.model)),
        ("adj. R²", r2),
        ("divergence δ", math(verdict.divergence)),
        ("probability", _probability(verdict)),
    )
    return '<dl class="formula">' + "".join(f"<div><dt>{k}</dt><dd>{v}</dd></div>" for k, v in parts) + "</dl>"


def _probability(verdict: Verdict) -> str:
    p = verdict.probability
    return f"total {percent(p['total'])}, approximate {percent(p['approximate'])}, none {percent(p['none'])}"


def _figures(verdict: Verdict) -> list[Piece | str]:
    return [
        '<div class="pair"><div class="figure">',
        Plot(plots.fit(verdict)),
        _caption("Measured values, bars from the lowest to the highest run; the model, dashed where it looks ahead."),
        '</div><div class="figure">',
        Plot(plots.divergence_of(verdict)),
        _caption(f"Model over expectation without coefficients; {crossing_words(verdict)}."),
        "</div></div>",
    ]


def _ruler(verdict: Verdict) -> list[Piece | str]:
    return [
        '<div class="figure">',
        ruler_svg(verdict),
        _caption(
            f"The ruler: all {len(verdict.space.ticks)} classes that were fitted, slow growth left, fast growth right; "
            "shaded classes lie within the deviation limits."
        ),
        "</div>",
    ]


def _caption(text: str) -> str:
    return f'<p class="figcaption">{esc(text)}</p>'


def _runners_up(verdict: Verdict) -> str:
    if not verdict.rivals:
        return ""
    models = (verdict.model, *verdict.rivals[:_RIVALS])
    rows = [
        (
            formula(one),
            _r2(one.adjusted_r2),
            "–" if m.isnan(one.weight) else percent(one.weight),
            _place(verdict, one.growth),
        )
        for one in models
    ]
    caption = (
        f"The chosen model and the {len(models) - 1} next best by adjusted R². The probability of a growth also counts models "
        "of two terms and the noise between settings."
    )
    return details(
        "Runners-up",
        table(caption, ("model", "adjusted R²", "probability", "would be"), rows, numeric=(1, 2)),
        prints=True,
    )


def _r2(value: float) -> str:
    return "–" if m.isnan(value) else f"{value:.5f}"


def _place(verdict: Verdict, growth: Growth) -> str:
    words = {"total": "✓ total match", "approximate": "≈ approximate match", "none": "✗ no match"}
    return words[verdict.expectation.rank(growth)]


def _data(verdict: Verdict) -> str:
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
        shown = (esc(quantity(cell, verdict.unit, 4)) for cell in cells)
        yield x, (f"{x:g}", *shown, str(row.size), str(int(series.n_repetitions[k])))


def _variants_table(verdicts: Sequence[Verdict]) -> str:
    rows = [
        (
            name(v.function),
            formula(v.model),
            "–" if m.isnan(v.adjusted_r2) else f"{v.adjusted_r2:.3f}",
            math(v.divergence),
            badge(v),
        )
        for v in verdicts
    ]
    caption = "The same function with other shapes of the group of processes."
    return f"<h5>Group shapes</h5>{table(caption, ('variant', 'model', 'adj. R²', 'divergence δ', 'match'), rows)}"
