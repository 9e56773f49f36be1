"""A model card: what is known of the messages of an MPI library or machine, as models and numbers with intervals."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scalkit.errors import UsageError
from scalkit.perfmodels.files.catalogue import ModelCatalogue, read_models
from scalkit.perfmodels.formulas.quantities import Range, format_value
from scalkit.perfmodels.models.exact import ExactModel, RangeModel, extrapolated
from scalkit.perfmodels.models.model import PerformanceModel
from scalkit.perfmodels.models.point_to_point import LogGP, PointToPoint
from scalkit.perfmodels.models.shown import statement_html
from scalkit.support.markup import block, bullets, paragraph, table
from scalkit.support.text import as_percent
from scalkit.support.toml.writer import to_toml

MESSAGE = "message"
"""Name of the model of one message in a card."""

EXCHANGE, BOTH, PACKING, REDUCING = "exchange", "both", "packing-", "reduce_per_byte"
"""The models of two messages at once and of what they keep a process busy in a train, the beginning of models of packing, and
the quantity that reductions take."""

_ROUNDING = 1e-17
"""In s or s/B; a fitted part below this is zero but for rounding."""

_LOGGP = ("L", "o_send", "o_receive", "g", "G", "O")


@dataclass(frozen=True)
class Quantity:
    """A number with its interval.

    Attributes
    ----------
    name : str
        Such as ``"L"`` or ``"matching"``.
    value, low, high : float
        In `unit`; the ends are NaN where there is no interval.
    unit : str
        ``"s"``, ``"s/B"``, ``"B"``, ``"B/s"`` or ``"1"``.
    text : str
        What it is.
    """

    name: str
    value: float
    low: float
    high: float
    unit: str
    text: str

    def shown(self) -> tuple[str, str, str, str]:
        """Return name, value, interval and meaning as texts for people."""
        none = math.isinf(self.value) and self.unit == "B"
        value = "none up to the largest size" if none else _shown(self.value, self.unit)
        ends = "-" if math.isnan(self.low) or none else " to ".join(_shown(e, self.unit) for e in (self.low, self.high))
        return self.name, value, ends, self.text

    def table(self) -> dict[str, Any]:
        """Return what a card's file holds of it."""
        interval = {} if math.isnan(self.low) else {"interval": [float(self.low), float(self.high)]}
        return {"value": float(self.value), "unit": self.unit, **interval, "text": self.text}


@dataclass(frozen=True, repr=False)
class ModelCard:
    """What was fitted to the messages of one MPI library or one machine.

    Attributes
    ----------
    name : str
        Of the library or the machine.
    models : mapping from name to PerformanceModel
        ``"message"`` is the time of one message.
    quantities : tuple of Quantity
    about : mapping of str to str
        Where the numbers come from: library, host, processor, date, load, simulator.
    remarks : tuple of str
        What a reader should know.
    level : float
        Of the intervals.
    fits : mapping from part to fit
        With residuals; empty for a card that was read from a file.
    doubts : tuple of str
        Why the numbers may be wrong: foreign load, scatter, contradictions, fits that are far off. They stay with the file.
    misfits : mapping from fit to (share, at)
        The largest residual of each fit, and the size in B, or the count, where it is.
    """

    name: str
    models: Mapping[str, PerformanceModel]
    quantities: tuple[Quantity, ...]
    about: Mapping[str, str]
    remarks: tuple[str, ...]
    level: float = 0.9
    fits: Mapping[str, Any] = field(default_factory=dict, compare=False)
    doubts: tuple[str, ...] = ()
    misfits: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def is_simulated(self) -> bool:
        """Whether a simulator made the times."""
        return "simulated" in self.about

    @property
    def is_virtual(self) -> bool:
        """Whether the times were read from a virtual clock."""
        return self.about.get("clock", "").startswith("virtual")

    @property
    def point_to_point(self) -> PointToPoint:
        """The model of a message, for algorithms of collective operations.

        Beyond the sizes that were measured, for which ``models["message"]`` holds, the last protocol goes on, as the source says.
        Reductions add up bytes, ``reduce_per_byte``, if the card has it; of elements of 8 B there is ``reduce_per_byte_double``.

        Raises UsageError if the card has none.
        """
        if MESSAGE not in self.models:
            raise UsageError(f"the card of '{self.name}' has no model '{MESSAGE}'; fit latency with --what latency.")
        models = {name: extrapolated(self.models[name]) for name in (MESSAGE, "gap", EXCHANGE, BOTH) if name in self.models}
        time = models.pop(MESSAGE)
        limits = self.models[MESSAGE].valid.get("S", Range())
        source = f"model card of {self.name}" + ("" if limits.is_all else f", extrapolated outside of {limits.text('S')}")
        known = {one.name: one.value for one in self.quantities}
        source += f", in doubt: {' '.join(self.doubts)}" if self.doubts else ""
        reducing = f"{known.get(REDUCING, 0.0)!r} s/B"
        return PointToPoint(time, reduce_per_byte=reducing, name=self.name, source=source, **models)

    def packing(self, stride: int) -> PerformanceModel:
        """Return the time of packing S bytes of blocks of 8 B, one every `stride` blocks; unpacking takes as long.

        Beyond the sizes that were measured its ends go on, and its source says so.
        Raises UsageError if the card has none at this stride.
        """
        if (name := f"{PACKING}{stride}") in self.models:
            return extrapolated(self.models[name])
        known = [name.removeprefix(PACKING) for name in self.models if name.startswith(PACKING)]
        raise UsageError(
            f"the card of '{self.name}' has no packing at the stride {stride!r:.20}; it has {', '.join(known) or 'none'}. Fit it "
            "with --what datatypes."
        )

    @property
    def loggp(self) -> LogGP:
        """The parameters of LogGP, LogGPS and LogGOPS. Raises UsageError if the card has none."""
        known = {one.name: one.value for one in self.quantities}
        if missing := [name for name in _LOGGP if name not in known]:
            raise UsageError(f"the card of '{self.name}' has no {missing[0]} of LogGP; fit it with --what loggp.")
        values = {name: known[name] for name in _LOGGP}
        return LogGP(**values, S=known.get("S", math.inf), name=self.name, source=f"model card of {self.name}")

    def quantity(self, name: str) -> Quantity:
        """Return the quantity with a name. Raises UsageError if there is none."""
        for one in self.quantities:
            if one.name == name:
                return one
        known = ", ".join(one.name for one in self.quantities) or "none"
        raise UsageError(f"the card of '{self.name}' has no quantity {name!r:.40}; it has {known}.")

    def content(self) -> dict[str, Any]:
        """Return the content of the file: a catalogue with the tables ``card`` and ``quantities``.

        Raises UsageError if a model is neither exact nor made of ranges of exact ones.
        """
        card = {
            "level": self.level,
            **({"doubts": self.doubts} if self.doubts else {}),
            **({"misfits": self.misfits} if self.misfits else {}),
            "remarks": self.remarks,
            "about": self.about,
        }
        quantities = {one.name: one.table() for one in self.quantities}
        models = {name: model_table(model) for name, model in self.models.items()}
        return {"name": self.name, "source": "model card", "card": card, "quantities": quantities, "models": models}

    def to_toml(self) -> str:
        """Return the card as a catalogue of models in TOML, which `read_models` and `read_card` read; see `content`."""
        head = f"# Simulated, not measured: {self.about['simulated']}\n" if self.is_simulated else ""
        if self.is_virtual:
            head += f"# Run times of a virtual clock, not of this machine: {self.about['clock'].removeprefix('virtual, ')}\n"
        return head + to_toml(self.content())

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return a row of texts for each quantity: name, value, interval, meaning."""
        return [one.shown() for one in self.quantities]

    def __repr__(self) -> str:
        doubt = ", in doubt" if self.doubts else ""
        return f"ModelCard({self.name!r}: {', '.join(self.models)}; {len(self.quantities)} quantities{doubt})"

    @property
    def misfit_sentence(self) -> str:
        """The largest residual of each fit; empty where none is known."""
        said = [f"{name} {as_percent(share, '+.2g')} at {place_of(name, at)}" for name, (share, at) in self.misfits.items()]
        return f"Largest residuals: {', '.join(said)}." if said else ""

    def _repr_html_(self) -> str:
        from html import escape

        head = ("", "value", f"interval of {as_percent(self.level, 'g')}", "")
        numbers = table(head, [tuple(map(escape, row)) for row in self.rows()], self.name)
        models = [(escape(name), statement_html(model)) for name, model in self.models.items()]
        about = "; ".join(f"{key}: {value}" for key, value in self.about.items())
        doubts = [bullets([f"In doubt: {one}" for one in self.doubts])] if self.doubts else []
        return block(
            *doubts,
            paragraph(about),
            paragraph(self.misfit_sentence),
            numbers,
            table(("model", "T"), models),
            bullets(self.remarks),
        )


def place_of(fit: str, at: float) -> str:
    """Return the place where a fit is off in words: a size, or a number of receives."""
    return f"{at:g}" if fit == "matching" else format_value(at, "B")


def read_card(path: str | Path) -> ModelCard:
    """Return the model card in a TOML file that `ModelCard.to_toml` wrote.

    Raises
    ------
    UsageError
        If the file cannot be read or is no model card.
    """
    return card_of(read_models(path), path)


def card_of(catalogue: ModelCatalogue, path: str | Path) -> ModelCard:
    """Return a catalogue from a file as a model card. Raises UsageError if it is not one."""
    content = catalogue.content
    card = content.get("card")
    if not isinstance(card, dict):
        raise UsageError(f"{path} has no table [card]: it is a catalogue, but no model card; read it with read_models.")
    try:
        quantities = tuple(_quantity(name, one) for name, one in content.get("quantities", {}).items())
        about = {str(key): str(value) for key, value in card.get("about", {}).items()}
        remarks = tuple(map(str, card.get("remarks", ())))
        level = float(card.get("level", 0.9))
        doubts = tuple(map(str, card.get("doubts", ())))
        misfits = {str(name): (float(share), float(at)) for name, (share, at) in card.get("misfits", {}).items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path}: a quantity of the card makes no sense ({error}); fit it again.") from error
    return ModelCard(catalogue.name, dict(catalogue.models), quantities, about, remarks, level, {}, doubts, misfits)


def _shown(value: float, unit: str) -> str:
    """Return a number for people; what is no more than rounding is zero."""
    if math.isinf(value):
        return "no limit"
    if unit == "1":
        return f"{value:.3g}"
    return format_value(0.0 if unit in ("s", "s/B") and abs(value) < _ROUNDING else value, unit)


def _quantity(name: str, given: Mapping[str, Any]) -> Quantity:
    low, high = given.get("interval", (math.nan, math.nan))
    return Quantity(name, float(given["value"]), float(low), float(high), str(given["unit"]), str(given.get("text", "")))


def model_table(model: PerformanceModel) -> dict[str, Any]:
    """Return a model as a table of a catalogue. Raises UsageError unless its parts are exact."""
    if isinstance(model, RangeModel):
        pieces = [{**_limits(limits), **_exact(piece)} for limits, piece in model.pieces]
        return {"kind": "ranges", "parameter": model.parameter, "pieces": pieces}
    found = _exact(model)
    for name, limits in model.valid.items():
        for key, end in _limits(limits).items():
            found.setdefault(key, {})[name] = end
    return found


def _exact(model: PerformanceModel) -> dict[str, Any]:
    if not isinstance(model, ExactModel):
        raise UsageError(f"'{model.name}' is of kind '{model.kind}'; a card holds exact models and ranges of them.")
    return {"formula": model.formula, "constants": dict(model.constants)}


def _limits(limits: Range) -> dict[str, float]:
    found = {} if limits.low <= 0 else {"above" if limits.open_low else "from": float(limits.low)}
    return {**found, **({"up_to": float(limits.high)} if math.isfinite(limits.high) else {})}
