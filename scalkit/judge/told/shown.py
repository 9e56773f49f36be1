"""Verdicts and results as notebooks show them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from scalkit.judge.answer import ANSWER_SYMBOLS
from scalkit.judge.catalogue import ExpectationSet
from scalkit.judge.crossing import shown_scale
from scalkit.judge.measured import AnySeries, AnyVerdict
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.judge.told.listing import closing_sentence
from scalkit.judge.told.picture import picture
from scalkit.judge.told.sentences import excluded_by
from scalkit.judge.verdict import Verdict
from scalkit.support.markup import block, bullets, counted, details, formula, marked, paragraph, table
from scalkit.support.text import as_percent, percent, r2
from scalkit.support.units import format_quantity

if TYPE_CHECKING:
    from scalkit.judge.result import Validation

_MOST_VALUES = 60
_PICTURE = (420, 160)  # px


def mark_of(verdict: Any) -> str:
    """Return the answer of a verdict beside a bar in its colour; ⚠ where it does not decide."""
    # A verdict along one of several parameters is not asked whether it decides.
    doubt = "" if getattr(verdict, "decides", True) else " ⚠"
    return marked(verdict.answer, f"{ANSWER_SYMBOLS[verdict.answer]} {verdict.answer}{doubt}")


def math_of(thing: Any) -> str:
    """Return the formula of what has one, the text of anything else."""
    return formula(thing) if hasattr(thing, "to_mathml") else escape(str(thing))


def values_table(series: AnySeries) -> str:
    """Return the values of a series, the first ones if there are many."""
    pairs = list(zip(series.points.tolist(), series.y.tolist(), strict=True))
    rows = [
        (", ".join(f"{x:g}" for x in point), escape(format_quantity(value, series.unit))) for point, value in pairs[:_MOST_VALUES]
    ]
    more = f"and {len(pairs) - _MOST_VALUES} more" if len(pairs) > _MOST_VALUES else ""
    return table((", ".join(series.parameters), series.metric), rows) + paragraph(more)


def verdict_html(verdict: Any) -> str:
    """Return a verdict with its reasons as HTML; of several parameters also along each."""
    crossing = _crossing(verdict) if isinstance(verdict, Verdict) else ""
    facts = [
        ("expected", formula(verdict.expectation.growth, big_o=True)),
        ("excluded", f"anything {escape(excluded_by(verdict))}"),
        ("model", formula(verdict.model)),
        ("divergence", math_of(verdict.divergence) + escape(crossing)),
        ("adjusted R²", r2(verdict.model.adjusted_r2)),
        ("grows too fast", as_percent(verdict.too_fast)),
    ]
    series = verdict.series
    return block(
        f"<p><b>{escape(verdict.function)}</b> ({escape(verdict.metric)}) {mark_of(verdict)}</p>",
        paragraph(verdict.sentence),
        _drawn(verdict) if isinstance(verdict, Verdict) else _along(verdict),
        table((), facts),
        details(counted(len(verdict.caveats), "remark"), bullets(verdict.caveats), is_open=True),
        _rivals(verdict),
        details(counted(len(series.y), "value"), values_table(series)),
    )


def _drawn(verdict: Verdict) -> str:
    """Return the picture of a verdict with what its ends are; nothing where there is none."""
    drawn, (x, y) = picture(verdict, *_PICTURE), (verdict.series.x, verdict.series.y)
    low, high = (format_quantity(float(value), verdict.unit) for value in (y[0], y[-1]))
    ends = f"{verdict.parameter} = {x[0]:g} to {x[-1]:g}, {low} to {high}; the band is the claim with its limits."
    return drawn and drawn + paragraph(ends)


def _along(verdict: SeveralVerdict) -> str:
    """Return the verdict along each parameter as a table."""
    rows = (
        (
            escape(name),
            formula(one.expectation.growth, big_o=True),
            math_of(one.growth),
            math_of(one.divergence),
            mark_of(one),
            as_percent(one.effect),
        )
        for name, one in verdict.along.items()
    )
    return table(("along", "expected", "found", "divergence", "answer", "effect"), rows)


def verdicts_table(verdicts: Iterable[AnyVerdict], caption: str = "") -> str:
    """Return a row for each verdict."""
    rows = (
        (
            escape(v.function),
            formula(v.expectation.growth, big_o=True),
            formula(v.model),
            r2(v.model.adjusted_r2),
            math_of(v.divergence),
            mark_of(v),
            picture(v),
        )
        for v in verdicts
    )
    return table(("Function", "Expectation", "Model", "adj. R²", "Divergence", "Answer", "Values"), rows, caption)


def result_html(result: Validation) -> str:
    """Return all verdicts as a table; rules, sentences and remarks are folded."""
    litmus = [] if result.litmus is None else [result.litmus.sentence]
    only = [v for v in result.verdicts if len(result) == 1 and isinstance(v, Verdict)]
    rules, warnings = [rule.sentence for rule in result.rules], result.warnings
    return block(
        verdicts_table(result.worst_first, closing_sentence(result)),
        *map(_drawn, only),
        details(counted(len(result.verdicts), "sentence"), bullets(v.sentence for v in result.worst_first)),
        details(counted(len(rules), "rule"), bullets(rules)),
        details("Litmus test", bullets(litmus)),
        details(counted(len(warnings), "remark"), bullets(warnings)),
    )


def expectations_html(expected: ExpectationSet) -> str:
    """Return a set of expectations as a table."""
    rows = [
        (escape(name), formula(one.expectation.growth, big_o=True), escape(_ruler(one.space)))
        for name, one in expected.functions.items()
    ]
    said = f"{expected.name or 'Expectations'}: {len(rows)} functions"
    return block(
        details(said, table(("function", "expected", "ruler"), rows), is_open=True),
        details(counted(len(expected.rules), "rule"), bullets(expected.rules)),
    )


def _ruler(space: object) -> str:
    return space if isinstance(space, str) else str(getattr(space, "name", "its own"))


def _rivals(verdict: Any) -> str:
    shown = verdict.rivals
    rows = (
        (
            formula(model),
            r2(model.adjusted_r2),
            escape(percent(model.weight, short=True)),
            escape(verdict.expectation.match(model.growth)),
        )
        for model in (verdict.model, *shown)
    )
    head = ("model", "adjusted R²", "probability", "match")
    return details(counted(len(shown), "other model"), table(head, rows)) if shown else ""


def _crossing(verdict: Verdict) -> str:
    p = verdict.crossing
    return f", outside the limits from {verdict.parameter}* = {shown_scale(p)} on" if 1 < p < math.inf else ""
