"""One card for each function: what was found, the figures, the runners-up, the data."""

from __future__ import annotations

import math as m
from collections.abc import Iterator, Sequence

import numpy as np
from markupsafe import Markup

from scalkit import plots
from scalkit.growth import Growth
from scalkit.measure import Series
from scalkit.plots.style import metric_word, quantity
from scalkit.plots.verdicts.sentences import crossing_words
from scalkit.reports.markup import badge, big_o, details, formula, heading, math, name, percent, table
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section
from scalkit.reports.ruler_svg import ruler_svg
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
