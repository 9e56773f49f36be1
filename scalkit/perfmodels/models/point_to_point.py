"""Models of one message, on which those of collective operations build: Hockney's, LogGP, LogGPS, with protocols by size."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from numbers import Real
from typing import Any

import numpy as np

from scalkit.errors import UsageError
from scalkit.perfmodels.formulas.quantities import Range, format_value, parse_quantity
from scalkit.perfmodels.models.exact import ExactModel, RangeModel, names_in
from scalkit.perfmodels.models.model import Outside, PerformanceModel, require_model
from scalkit.support.arguments import each_of, require_kind
from scalkit.support.markup import block, table

_FAR_B = 1 << 20
_STRAIGHT = 2e-3
"""How far a time may be off a line: the first byte of LogGP costs no gap."""


@dataclass(frozen=True)
class Protocol:
    """How messages of a range of sizes travel: ``latency_s + per_byte_s * S``.

    Attributes
    ----------
    sizes : Range
        In bytes.
    latency_s, per_byte_s : float
        In s and s/B; not negative.
    """

    sizes: Range
    latency_s: float
    per_byte_s: float

    def __post_init__(self) -> None:
        for value, what in ((self.latency_s, "latency"), (self.per_byte_s, "time per byte")):
            if not (math.isfinite(value) and value >= 0):
                raise UsageError(f"the {what} of a protocol is {value:g}; it must be finite and not negative.")

    def model(self) -> ExactModel:
        """Return its time of a message."""
        constants = {"alpha": f"{self.latency_s!r} s", "beta": f"{self.per_byte_s!r} s/B"}
        return ExactModel("alpha + beta*S", constants, name=self.sizes.text("S"))


@dataclass(frozen=True)
class PointToPoint:
    """The time of a message, the gap between two that a process sends, that of an exchange, and the time of reducing a byte.

    Parameters
    ----------
    time : PerformanceModel
        Exact, of S alone, in s: from the call of the sender to the end of the call of the receiver.
    gap : PerformanceModel, optional
        The same of the time from one message to the next that a process sends; `time` if there is none, as in Hockney's model.
    reduce_per_byte : quantity
        Of a reduction operator, for example ``"0.1 ns/B"``.
    name, source : str
    exchange : PerformanceModel, optional
        The same of sending a message while another one of that size is received; `time` if there is none, as where both
        directions are free. Processes of a node, which copy themselves, need up to twice as long.
    both : PerformanceModel, optional
        The same of what one message out and one in keep a process busy, in a train of both; `gap` if it is not known.

    Raises
    ------
    UsageError
        If a model is not exact, depends on more than S, or is not in seconds.
    """

    time: PerformanceModel
    gap: PerformanceModel | None = None
    reduce_per_byte: object = "0 s/B"
    name: str = ""
    source: str = ""
    exchange: PerformanceModel | None = None
    both: PerformanceModel | None = None

    def __post_init__(self) -> None:
        for model in (self.time, *(one for one in (self.gap, self.exchange, self.both) if one is not None)):
            require_model(model, "the time of a message")
            if not model.is_exact or model.parameters not in (("S",), ()) or model.unit != "s":
                raise UsageError(f"'{model.name}' cannot be the time of a message; it must be exact, of S alone, and in s.")
        gamma, unit = parse_quantity(self.reduce_per_byte, "reduce_per_byte")
        if (unit != "s/B" and gamma != 0) or gamma < 0:
            raise UsageError(
                f"reduce_per_byte is {self.reduce_per_byte!r:.40}; it must be in s/B and not negative, for example '0.1 ns/B'."
            )
        object.__setattr__(self, "name", self.name or self.time.name)
        object.__setattr__(self, "source", self.source or self.time.source)

    @classmethod
    def hockney(cls, latency: object, per_byte: object, **options: Any) -> "PointToPoint":
        """Return the model ``latency + per_byte * S``, for example ``PointToPoint.hockney("4.5 us", "2.67 ns/B")``.

        Source: Hockney 1994 (docs/references.md).
        """
        for one, what in ((latency, "latency"), (per_byte, "time per byte")):
            if parse_quantity(one, f"the {what}")[0] < 0:
                raise UsageError(f"the {what} of a message is {one!r:.40}; it must not be negative.")
        model = ExactModel("alpha + beta*S", {"alpha": latency, "beta": per_byte}, name="Hockney")
        return cls(model, **{"source": "Hockney 1994", **options})

    @classmethod
    def of_protocols(cls, protocols: Sequence[Protocol], **options: Any) -> "PointToPoint":
        """Return the model with another latency and bandwidth for each range of sizes."""
        given = each_of(protocols, Protocol, "the protocols", "give a list of Protocol")
        pieces = [(one.sizes, one.model()) for one in given]
        return cls(RangeModel("S", pieces, str(options.get("name", "point-to-point"))), **options)

    @property
    def gamma_s(self) -> float:
        """Time of reducing a byte, in s/B."""
        return parse_quantity(self.reduce_per_byte)[0]

    def protocols(self) -> tuple[Protocol, ...]:
        """Return latency and time per byte of each range of sizes. Raises UsageError if the time is not affine in S there."""
        model = self.time
        pieces = model.pieces if isinstance(model, RangeModel) else [(model.valid.get("S", Range()), model)]
        return tuple(_protocol(limits, one) for limits, one in pieces)

    def functions(self, outside: Outside) -> dict[str, Any]:
        """Return what ``T``, ``gap`` and so on are in formulas of collectives, as functions of an array of bytes."""
        return {
            name: lambda size, model=model: model.checked_bounds({"S": size}, outside)[0]
            for name, model in self.in_formulas.items()
        }

    @property
    def in_formulas(self) -> dict[str, PerformanceModel]:
        """The models behind ``T``, ``gap``, ``exchange`` and ``both`` in the formulas of collective operations."""
        gap = self.gap or self.time
        return {"T": self.time, "gap": gap, "exchange": self.exchange or self.time, "both": self.both or gap}

    def __call__(self, **at: Any) -> Any:
        """Return the time of a message, see `PerformanceModel.__call__`."""
        return self.time(**at)

    def __repr__(self) -> str:
        return f"PointToPoint({self.name!r}: {self.time.statement})"

    def rows(self) -> list[tuple[str, str]]:
        """Return the name and statement of each model, as the rows of a table in HTML."""
        models = {"message": self.time, "gap": self.gap, "exchange": self.exchange}
        rows = [(name, escape(one.statement)) for name, one in models.items() if one is not None]
        return rows + ([("reducing", escape(format_value(self.gamma_s, "s/B")))] if self.gamma_s else [])

    def _repr_html_(self) -> str:
        source = [("source", escape(self.source))] if self.source else []
        return block(table((), [("name", escape(self.name)), *self.rows(), *source]))


def require_message(value: object) -> None:
    """Check that an argument is a model of one message. Raises UsageError if it is none."""
    require_kind(value, PointToPoint, "the message", "give a PointToPoint, as card.point_to_point")


def _protocol(limits: Range, model: PerformanceModel) -> Protocol:
    low = limits.low
    high = limits.high if math.isfinite(limits.high) else max(2 * low, _FAR_B)
    at = np.unique(np.concatenate([np.linspace(low, high, 9)[1:], low + np.geomspace(1e-6, 1, 25) * (high - low)]))
    seconds = model.inner_bounds({"S": at}, "nan")[0] * np.ones_like(at)
    slope = (seconds[-1] - seconds[len(at) // 2]) / (at[-1] - at[len(at) // 2])
    latency = seconds[-1] - slope * at[-1]
    if not np.allclose(seconds, latency + slope * at, rtol=_STRAIGHT, atol=0):
        raise UsageError(f"'{model.name}' is no latency plus a time per byte for {limits.text('S')}; split its range.")
    rounding = 1e-9 * float(seconds.max())
    return Protocol(limits, float(latency) if latency > rounding else 0.0, max(0.0, float(slope)))


@dataclass(frozen=True)
class LogGP:
    """Parameters of LogGP, LogGPS and LogGOPS, in s, s/B and B.

    Attributes
    ----------
    L : float, in s
        Latency of the network, without overheads.
    o_send, o_receive : float, in s
        Overhead of the sender and of the receiver.
    g : float, in s
        Gap between messages.
    G : float, in s/B
        Gap per byte.
    O : float, in s/B
        Overhead per byte.
    S : float, in B
        Messages above it wait for the receiver (rendezvous); infinite if none do.

    References
    ----------
    Alexandrov et al. 1995; Ino et al. 2001; Hoefler, Schneider, Lumsdaine 2010 (docs/references.md).
    """

    L: float
    o_send: float
    o_receive: float
    g: float
    G: float
    O: float = 0.0  # noqa: E741 - the name in the literature
    S: float = math.inf
    name: str = "LogGP"
    source: str = field(default="LogGP")

    def __post_init__(self) -> None:
        for key in ("L", "o_send", "o_receive", "g", "G", "O", "S"):
            value = getattr(self, key)
            require_kind(value, Real, f"{key} of LogGP", "give a number, in s, s/B or B")
            if not value >= 0 or (math.isinf(value) and key != "S"):
                raise UsageError(f"{key} of LogGP is {value:g}; it must be finite and not negative.")

    @property
    def o(self) -> float:
        """Mean overhead of sender and receiver, in s: what tools with one overhead take."""
        return (self.o_send + self.o_receive) / 2

    def point_to_point(self, reduce_per_byte: object = "0 s/B") -> PointToPoint:
        """Return the models of a message; a rendezvous costs a request and its answer more, if the receiver is ready."""
        units = {"L": "s", "o_send": "s", "o_receive": "s", "g": "s", "G": "s/B", "O": "s/B"}
        constants = {key: f"{getattr(self, key)!r} {unit}" for key, unit in units.items()} | {"byte": "1 B"}

        def made(formula: str, name: str) -> ExactModel:
            return ExactModel(formula, {k: v for k, v in constants.items() if k in names_in(formula)}, name=name)

        per_byte = " + 2*O*S" if self.O else ""
        eager = f"L + o_send + o_receive{per_byte} + max(S - byte, 0)*G"
        time: PerformanceModel = made(eager, "eager")
        if math.isfinite(self.S):
            waiting = made(f"{eager} + 2*(L + o_send + o_receive)", "rendezvous")
            time = RangeModel("S", [(Range(high=self.S), time), (Range(low=self.S, open_low=True), waiting)], self.name)
        gap = made(f"max(o_send{' + O*S' if self.O else ''}, g + max(S - byte, 0)*G)", "gap")
        busy = f"o_send + o_receive{per_byte}"
        both = made(f"max({busy}, g + max(S - byte, 0)*G)", "both")
        return PointToPoint(time, gap, reduce_per_byte, self.name, self.source, both=both)
