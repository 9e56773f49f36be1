"""A model card as TOML: its models as a catalogue, its numbers, and where they come from."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scalkit.errors import UsageError
from scalkit.perfmodels.exact import ExactModel
from scalkit.perfmodels.model import PerformanceModel
from scalkit.perfmodels.range_model import RangeModel
from scalkit.perfmodels.ranges import Range

__all__ = ["card_toml"]


def card_toml(card: Any) -> str:
    """Return the text of a `ModelCard`.

    Raises
    ------
    UsageError
        If a model is neither exact nor made of ranges of exact ones.
    """
    return "\n".join(_lines(card)).rstrip() + "\n"


def _lines(card: Any) -> Iterator[str]:
    if card.is_simulated:
        yield f"# Simulated, not measured: {card.about['simulated']}"
    yield f"name = {_text(card.name)}"
    yield f"source = {_text('model card')}"
    yield ""
    yield "[card]"
    yield f"level = {card.level!r}"
    yield f"remarks = {_value(list(card.remarks))}"
    yield f"about = {_value(dict(card.about))}"
    for one in card.quantities:
        yield ""
        yield f"[quantities.{_key(one.name)}]"
        yield f"value = {_value(one.value)}"
        yield f"unit = {_text(one.unit)}"
        if not math.isnan(one.low):
            yield f"interval = {_value([one.low, one.high])}"
        yield f"text = {_text(one.text)}"
    for name, model in card.models.items():
        yield ""
        yield f"[models.{_key(name)}]"
        yield from _model(model)


def _model(model: PerformanceModel) -> Iterator[str]:
    if isinstance(model, RangeModel):
        yield 'kind = "ranges"'
        yield f"parameter = {_text(model.parameter)}"
        yield "pieces = ["
        for limits, piece in model.pieces:
            yield f"  {_value({**_limits(limits), **_exact(piece)})},"
        yield "]"
        return
    for key, value in _exact(model).items():
        yield f"{key} = {_value(value)}"
    for key in ("above", "from", "up_to"):
        if ends := {name: _limits(limits)[key] for name, limits in model.valid.items() if key in _limits(limits)}:
            yield f"{key} = {_value(ends)}"


def _exact(model: PerformanceModel) -> dict[str, Any]:
    if not isinstance(model, ExactModel):
        raise UsageError(f"'{model.name}' is of kind '{model.kind}'; a card holds exact models and ranges of them.")
    return {"formula": model.formula, "constants": dict(model.constants)}


def _limits(limits: Range) -> dict[str, float]:
    found = {} if limits.low <= 0 else {"above" if limits.open_low else "from": limits.low}
    return {**found, **({"up_to": limits.high} if math.isfinite(limits.high) else {})}


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float):
        return "inf" if math.isinf(value) else "nan" if math.isnan(value) else repr(float(value))
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{_key(str(key))} = {_value(one)}" for key, one in value.items()) + " }"
            if value
            else "{}"
        )
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_value, value))}]"
    raise UsageError(f"{value!r:.40} cannot stand in a model card.")


def _key(key: str) -> str:
    return key if key.isascii() and key.replace("_", "a").replace("-", "a").isalnum() else _text(key)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
