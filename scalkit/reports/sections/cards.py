"""One card for each function and each rule: what was found, the figures, the numbers behind them."""

import math as m
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from scalkit import plots
from scalkit.growth import Growth
from scalkit.measure import Series
from scalkit.plots.plot import plot
from scalkit.plots.style import RANK_MARKS, RANK_WORDS, growth_label, metric_word, quantity
from scalkit.plots.verdicts.curves import crossing_words, ruler_sentence
from scalkit.plots.verdicts.ruler import n_factors
from scalkit.reports.page import Page
from scalkit.reports.pieces import (
    Section,
    badge,
    big_o,
    details,
    heading,
    math,
    name,
    percent,
    piece,
    soft,
    table,
    templates,
    words_of,
)
from scalkit.text import as_percent, r2
from scalkit.validation import AnyVerdict, RuleResult, Verdict
from scalkit.validation.expectation import Rank
from scalkit.validation.several.along import AlongVerdict
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
        "divergence_of": plots.divergence,
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
        ("excluded", "anything faster than " + math(verdict.resolution)),
        ("model", math(verdict.model)),
        ("adj. R²", "– (constant)" if m.isnan(verdict.adjusted_r2) else r2(verdict.adjusted_r2)),
        ("divergence δ", math(verdict.divergence)),
        ("probability", ", ".join(f"{word} {percent(p[key])}" for key, word in _MATCHES.items())),
    )


def _runners_up(verdict: Verdict) -> Markup | str:
    if not verdict.rivals:
        return ""
    models = (verdict.model, *verdict.rivals[:_RIVALS])
    rows = [
        (math(one), r2(one.adjusted_r2, 5), percent(one.weight), _WOULD_BE[verdict.expectation.rank(one.growth)])
        for one in models
    ]
    caption = (
        f"The chosen model and the {len(models) - 1} next ones. The probability of a growth also counts "
        "models with a lower term, with a step, and with a point that is off."
    )
    return details(
        "Runners-up", table(caption, ("model", "adjusted R²", "probability", "would be"), rows, numeric=(1, 2)), prints=True
    )


_WOULD_BE: dict[Rank, str] = {"total": "✓ total match", "approximate": "≈ approximate match", "none": "✗ no match"}


def _data(verdict: Verdict) -> Markup:
    parts = [one for one in (verdict.series, verdict.series.beside) if one is not None]
    rows = [row for _, row in sorted((row for one in parts for row in _rows(verdict, one)), key=lambda found: found[0])]
    head = (verdict.parameter, "value", "lowest run", "highest run", "model", "runs", "repetitions")
    caption = f"What the figures of {verdict.function} show, in numbers."
    return details("Data", table(caption, head, rows, numeric=range(7)))


def _rows(verdict: Verdict, series: Series) -> Iterator[tuple[float, tuple[str, ...]]]:
    """Yield the row of each point, with its place."""
    for k, x in enumerate(series.x.tolist()):
        yield x, (f"{x:g}", *_numbers(verdict, series, k, float(np.asarray(verdict.model(x)))))


def _numbers(verdict: AnyVerdict, series: Any, k: int, model: float) -> Iterator[str]:
    """Yield value, lowest and highest run, model, and how many runs and repetitions there are at a point."""
    row = series.values[k][np.isfinite(series.values[k])]
    yield from (quantity(one, verdict.unit, 4) for one in (float(series.y[k]), float(row.min()), float(row.max()), model))
    yield from (str(row.size), str(int(series.n_repetitions[k])))


def _variants_table(verdicts: Sequence[Verdict]) -> Markup:
    rows = [(name(v.function), math(v.model), r2(v.adjusted_r2, 3), math(v.divergence), badge(v)) for v in verdicts]
    caption = "The same function with other shapes of the group of processes."
    return table(caption, ("variant", "model", "adj. R²", "divergence δ", "match"), rows)


_EDGE = 0.8


def ruler_svg(verdict: Verdict) -> str:
    """Return the ticks of a verdict in the order of growth at equal distances, limits shaded, best and expected marked.

    `verdict`: over one parameter.
    """
    found, expected = verdict.model.growth, verdict.expectation.growth
    ticks = tuple(sorted({*verdict.space.ticks, expected, found}))
    lower, upper = verdict.expectation.limits
    inside = [k for k, tick in enumerate(ticks) if lower <= tick <= upper]
    share = ticks.index(found) / max(1, len(ticks) - 1)
    return (
        templates()
        .get_template("ruler.svg")
        .render(
            said=ruler_sentence(verdict),
            width=len(ticks) - 1 + 2 * _EDGE,
            start=min(inside) - 0.5 + _EDGE,
            end=max(inside) + 0.5 + _EDGE,
            ticks=[(k + _EDGE, n_factors(tick) < 2) for k, tick in enumerate(ticks)],
            found=ticks.index(found) + _EDGE,
            expected=ticks.index(expected) + _EDGE,
            model=found,
            claim=expected,
            ends=((ticks[0], "0", "start", share > 0.35), (ticks[-1], "100%", "end", share < 0.65)),
            raised=_text,
            short=lambda value: f"{value:.2f}".rstrip("0").rstrip("."),
        )
    )


def _text(growth: Growth) -> Markup:
    """Return a growth as SVG text, exponents raised; the empty letter takes the line down again."""
    label = growth_label(growth)
    label = label.replace("<sup>", '<tspan class="sup" dy="-4">')
    return Markup(label.replace("</sup>", '</tspan><tspan dy="4">&#8203;</tspan>'))


_MOST_ROWS = 500


def several_card(verdict: SeveralVerdict) -> Section:
    """Return the card of one verdict over several parameters."""
    figures = [_figure(verdict, parameter) for parameter in verdict.parameters]
    shown = {"along": _along(verdict), "runners_up": _runners_up_of_several(verdict), "data": _data_of_several(verdict)}
    return Section.rendered(
        "several_card.html", verdict=verdict, formulas=_formulas_of_several(verdict), figures=figures, **shown
    )


def _figure(verdict: SeveralVerdict, parameter: str) -> tuple[Any, str]:
    """Return a figure and its caption."""
    figure = plots.fit(verdict, parameter)
    others = " and ".join(other for other in verdict.parameters if other != parameter)
    is_longer = any(trace.mode == "lines" and trace.line.dash == "dot" for trace in figure.data)
    dotted = "; dotted beyond what was measured of a line" if is_longer else ""
    return figure, f"Along {parameter}: measured values and the model, one colour for each value of {others}{dotted}."


def _formulas_of_several(verdict: SeveralVerdict) -> tuple[tuple[str, object], ...]:
    p = verdict.probability
    return (
        ("expected", big_o(verdict.expectation.growth)),
        ("model", math(verdict.model)),
        ("adj. R²", "– (constant)" if m.isnan(verdict.adjusted_r2) else r2(verdict.adjusted_r2)),
        ("divergence δ", math(verdict.divergence)),
        ("probability", ", ".join(f"{key} {percent(p[key])}" for key in ("total", "approximate", "none"))),
    )


def _along(verdict: SeveralVerdict) -> Markup:
    head = ("along", "expected", "limits", "found", "divergence δ", "inside limits", "match", "effect")
    rows = [
        (
            parameter,
            math(one.expectation.growth),
            math(one.expectation.limits[0]) + " to " + math(one.expectation.limits[1]),
            math(one.growth),
            math(one.divergence),
            percent(1 - one.probability["none"]),
            _match(one),
            as_percent(one.effect),
        )
        for parameter, one in verdict.along.items()
    ]
    largest = ", ".join(f"{n} = {x:g}" for n, x in zip(verdict.parameters, verdict.series.points.max(axis=0), strict=True))
    caption = f"{verdict.function} along each parameter, the others fixed. Effect: its share of the value at {largest}."
    return table(caption, head, rows, numeric=(5, 7))


def _match(one: AlongVerdict) -> Markup:
    key = "slower" if one.verdict == "none" and one.direction == "grows slower" else one.verdict
    return piece("badge", key, RANK_MARKS[key], RANK_WORDS[key])


def _runners_up_of_several(verdict: SeveralVerdict) -> Markup:
    models = (verdict.model, *verdict.rivals)
    rows = [(math(one), percent(one.weight), _WOULD_BE[verdict.expectation.rank(one.growth)]) for one in models]
    caption = f"The chosen model and the {len(rows) - 1} next most probable ones."
    return details("Runners-up", table(caption, ("model", "probability", "would be"), rows, numeric=(1,)), prints=True)


def _data_of_several(verdict: SeveralVerdict) -> Markup:
    series = verdict.series
    model = np.asarray(verdict.model(series.points))
    points = series.points[:_MOST_ROWS]
    rows = [(*(f"{x:g}" for x in one), *_numbers(verdict, series, k, float(model[k]))) for k, one in enumerate(points)]
    head = (*series.parameters, "value", "lowest run", "highest run", "model", "runs", "repetitions")
    more = len(series.points) - len(rows)
    left = f" {more} more point{' is' if more == 1 else 's are'} in the JSON file." if more else ""
    caption = f"What the figures of {verdict.function} show, in numbers.{left}"
    return details("Data", table(caption, head, rows, numeric=range(len(head))))


_STATES_OF_RULES = words_of("rules")


def rules(page: Page) -> Section:
    """Return one card for each rule."""
    section = Section.of("" if page.result.rules else soft("No rule was stated."))
    for result in page.result.rules:
        section += _card_of_rule(result)
    return section


def _card_of_rule(result: RuleResult) -> Section:
    kind, mark, word = _STATES_OF_RULES[result.status]
    reason = "; ".join(result.caveats) or "its measurements do not"
    is_silent = result.decides or result.status == "unknown"
    is_measured = bool(len(result.points))
    return Section.rendered(
        "rule_card.html",
        rule=str(result.rule),
        badge=(kind, mark, word, "" if result.decides else " open"),
        sentence=result.sentence,
        doubts=[] if is_silent else [f"Does not decide the exit status: {reason}."],
        drawn=plot(result) if is_measured else None,
        data=_data_of_rule(result) if is_measured else "",
    )


def _data_of_rule(result: RuleResult) -> str:
    rows = [
        (*(f"{x:g}" for x in point), "–" if m.isnan(ratio) else f"{ratio:.3f}", _word_of_rule(ratio, is_broken))
        for point, ratio, is_broken in zip(
            result.points[:_MOST_ROWS].tolist(), result.ratio.tolist(), result.violated.tolist(), strict=False
        )
    ]
    more = len(result.points) - len(rows)
    left = f" {more} more point{' is' if more == 1 else 's are'} in the JSON file." if more else ""
    caption = f"Left side over right side of {result.rule}; above 1 the left side is slower.{left}"
    head = (*result.parameters, "ratio", "measured")
    return details("Data", table(caption, head, rows, numeric=range(len(head) - 1)))


def _word_of_rule(ratio: float, is_broken: bool) -> str:
    if is_broken:
        return "✗ violated"
    return "✓ holds" if ratio <= 1 else "slower, but not clearly in every run"
