"""A model card as TOML: its models as a catalogue, its numbers, and where they come from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from scalkit.errors import UsageError
from scalkit.perfmodels.formulas.ranges import Range
from scalkit.perfmodels.models.exact import ExactModel
from scalkit.perfmodels.models.model import PerformanceModel
from scalkit.perfmodels.models.range_model import RangeModel
from scalkit.toml.writer import key_text, value_text


def card_toml(card: Any) -> str:
    """Return the text of a `ModelCard`.

    Raises UsageError if a model is neither exact nor made of ranges of exact ones.
    """
    return "\n".join(_lines(card)).rstrip() + "\n"


def _lines(card: Any) -> Iterator[str]:
    if card.is_simulated:
        yield f"# Simulated, not measured: {card.about['simulated']}"
    if card.is_virtual:
        yield f"# Run times of a virtual clock, not of this machine: {card.about['clock'].removeprefix('virtual, ')}"
    yield f"name = {value_text(card.name)}"
    yield f"source = {value_text('model card')}"
    yield ""
    yield "[card]"
    yield f"level = {card.level!r}"
    if card.doubts:
        yield f"doubts = {value_text(list(card.doubts))}"
    if card.misfits:
        yield f"misfits = {value_text({name: list(one) for name, one in card.misfits.items()})}"
    yield f"remarks = {value_text(list(card.remarks))}"
    yield f"about = {value_text(dict(card.about))}"
    for one in card.quantities:
        yield ""
        yield f"[quantities.{key_text(one.name)}]"
        yield f"value = {value_text(float(one.value))}"
        yield f"unit = {value_text(one.unit)}"
        if not math.isnan(one.low):
            yield f"interval = {value_text([float(one.low), float(one.high)])}"
        yield f"text = {value_text(one.text)}"
    for name, model in card.models.items():
        yield ""
        yield f"[models.{key_text(name)}]"
        yield from _model(model)


def _model(model: PerformanceModel) -> Iterator[str]:
    if isinstance(model, RangeModel):
        yield 'kind = "ranges"'
        yield f"parameter = {value_text(model.parameter)}"
        yield "pieces = ["
        for limits, piece in model.pieces:
            yield f"  {value_text({**_limits(limits), **_exact(piece)})},"
        yield "]"
        return
    for key, value in _exact(model).items():
        yield f"{key} = {value_text(value)}"
    for key in ("above", "from", "up_to"):
        if ends := {name: _limits(limits)[key] for name, limits in model.valid.items() if key in _limits(limits)}:
            yield f"{key} = {value_text(ends)}"


def _exact(model: PerformanceModel) -> dict[str, Any]:
    if not isinstance(model, ExactModel):
        raise UsageError(f"'{model.name}' is of kind '{model.kind}'; a card holds exact models and ranges of them.")
    return {"formula": model.formula, "constants": dict(model.constants)}


def _limits(limits: Range) -> dict[str, float]:
    found = {} if limits.low <= 0 else {"above" if limits.open_low else "from": float(limits.low)}
    return {**found, **({"up_to": float(limits.high)} if math.isfinite(limits.high) else {})}
