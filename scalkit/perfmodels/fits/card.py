"""Fits everything that a folder of message measurements holds, and makes a model card of it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from scalkit.errors import DataError
from scalkit.measure.virtual_time import LEFT_OUT, clock_of
from scalkit.perfmodels.files.card import BOTH, EXCHANGE, MESSAGE, PACKING, REDUCING, ModelCard, Quantity
from scalkit.perfmodels.fits.affine import LEVEL
from scalkit.perfmodels.fits.bisection import fit_bisection
from scalkit.perfmodels.fits.doubts import with_doubts
from scalkit.perfmodels.fits.loggp import LogGPFit, Rendezvous, find_rendezvous, fit_loggp
from scalkit.perfmodels.fits.messages import MessageFit, fit_messages
from scalkit.perfmodels.fits.overlap import fit_overlap
from scalkit.perfmodels.fits.runs import MessageRuns, read_message_runs
from scalkit.perfmodels.fits.steps import fit_steps
from scalkit.perfmodels.fits.strides import fit_strides
from scalkit.perfmodels.formulas.quantities import Range, format_value
from scalkit.perfmodels.models.exact import ExactModel, RangeModel, within
from scalkit.perfmodels.models.model import PerformanceModel

_FEWEST_EAGER = 3
"""A line needs three sizes to have a residual."""
_LOGGP_TEXT = {
    "L": "latency of the network, without overheads",
    "o_send": "overhead of the sender",
    "o_receive": "overhead of the receiver",
    "g": "gap between messages",
    "G": "gap per byte",
    "O": "overhead per byte",
}
_LOGGP_UNITS = {"G": "s/B", "O": "s/B"}
_ELEMENTS = {
    1: (REDUCING, "adding up a byte, of elements of 1 B (MPI_UINT8_T), as 'scalkit measure' reduces them"),
    8: (f"{REDUCING}_double", "the same of elements of 8 B (MPI_DOUBLE)"),
}
"""Name and meaning of the time of reducing, by bytes of an element."""

_UNKNOWN = (math.nan, math.nan)
"""The interval of a number that has none."""


def fit_folder(folder: str | Path, *, statistic: str = "q1") -> ModelCard:
    """Return the model card of what `scalkit model fit` measured into a folder; see `fit_card`."""
    return fit_card(read_message_runs(folder), statistic=statistic)


def fit_card(runs: MessageRuns, *, statistic: str = "q1", widen: bool = True) -> ModelCard:
    """Return the model card of message measurements: every fit that they allow.

    Parameters
    ----------
    runs : MessageRuns
    statistic : {"q1", "median", "min"}
        What makes one time of the repetitions of a message; the minimum also serves LogGP, for a machine that others use.
    widen : bool
        Whether it is looked for doubts, with which intervals reach over those of the other statistics.

    Raises
    ------
    DataError
        If a part was measured at fewer sizes than it has parameters.
    """
    made = _Card(runs, statistic)
    for op, add in _PARTS.items():
        if op in runs.ops:
            add(made)
    about = {**_about(runs), "statistic": statistic}
    remarks = (*runs.remarks, *dict.fromkeys(made.remarks))
    card = ModelCard(about.get("library", "messages"), made.models, tuple(made.quantities), about, remarks, LEVEL, made.fits)
    return with_doubts(card, runs, lambda one: fit_card(runs, statistic=one, widen=False)) if widen else card


class _Card:
    """Models, quantities, fits and remarks while they are gathered, a part of the measurements after the other."""

    def __init__(self, runs: MessageRuns, statistic: str) -> None:
        self.runs, self.statistic = runs, statistic
        self.models: dict[str, PerformanceModel] = {}
        self.quantities: list[Quantity] = []
        self.fits: dict[str, Any] = {}
        self.remarks: list[str] = []

    def _add(self, name: str, value: float, interval: tuple[float, float], unit: str, text: str) -> None:
        self.quantities.append(Quantity(name, value, *interval, unit, text))

    def _fitted(self, sizes: Any, times: Any) -> MessageFit:
        return fit_messages(sizes, times, statistic=self.statistic, scatter=not self.runs.is_exact)

    def add_rendezvous(self) -> None:
        sizes, times = self.runs.table("Send_to_late")
        fit = self.fits["sync"] = find_rendezvous(sizes, times, f"{_delay(self.runs)!r} s")
        is_seen = math.isfinite(fit.before)
        value, interval = (fit.after, (fit.after, fit.before)) if is_seen else (math.inf, _UNKNOWN)
        self._add("S", value, interval, "B", "largest message whose send does not wait for a late receiver (eager)")
        if not is_seen:
            self.remarks.append(f"No send up to {format_value(float(sizes.max()), 'B')} waits for its receiver.")
        if not fit.is_clean:
            self.remarks.append("Some sends below S waited for the receiver, or some above it did not.")

    def add_message(self) -> None:
        sizes, trips = self.runs.table("Round_trip")
        if "Train" in self.runs.ops and np.isin(sizes, self.runs.table("Train")[0]).all():
            return  # these round trips were measured for LogGP alone
        fit = self.fits["latency"] = self._fitted(sizes, trips / 2)
        self.models[MESSAGE] = _measured(fit, MESSAGE)
        first, last = fit.protocols[0].fit, fit.protocols[-1]
        self._add("latency", first.constant, first.constant_interval, "s", "of the smallest messages, one way")
        low, high = (1 / end if end > 0 else math.inf for end in reversed(last.fit.slope_interval))
        if last.fit.slope > 0:
            self._add("bandwidth", last.bandwidth, (low, high), "B/s", "of the largest messages, one way")
        else:
            at_last = last.last / float(fit(last.last))
            self._add("bandwidth", at_last, _UNKNOWN, "B/s", "of the largest size alone: no time per byte was found")
        for k, one in enumerate(fit.switches, 1):
            text = f"largest size of protocol {k}; the time changes by the factor {one.step:.3g}"
            self._add(f"switch_{k}", one.after, one.interval, "B", text)
        self.remarks += fit.remarks

    def add_exchange(self) -> None:
        fit = self.fits[EXCHANGE] = self._fitted(*self.runs.table("Exchange"))
        self.models[EXCHANGE] = _measured(fit, EXCHANGE)

    def add_loggp(self) -> None:
        if not {"Round_trip", "Train"} <= set(self.runs.ops):
            return
        fit = self.fits["loggp"] = _loggp(self.runs, self.fits.get("sync"), self.statistic)
        for name, text in _LOGGP_TEXT.items():
            unit = _LOGGP_UNITS.get(name, "s")
            self._add(name, getattr(fit.parameters, name), fit.intervals.get(name, _UNKNOWN), unit, text)
        self._add("half_round_trip", fit.half_round_trip, _UNKNOWN, "s", "what netgauge prints as L")
        found, largest = fit.parameters.point_to_point(), float(self.runs.table("Train")[0].max())
        self.models["loggp"] = within(_named(found.time, "loggp"), "S", 0.0, largest)
        self.models["gap"] = self._beyond(found.gap or found.time, "gap", fit.largest)
        self.models[BOTH] = self._beyond(found.both or found.time, BOTH, fit.largest)
        self.remarks += fit.remarks

    def _beyond(self, model: PerformanceModel, name: str, largest: float) -> PerformanceModel:
        """Return what follows from LogGP where it was measured, then the time of a message."""
        if "latency" not in self.fits:
            return within(_named(model, name), "S", 0.0, largest)
        pieces: list[tuple[Range, PerformanceModel]] = [(Range(high=largest), model)]
        for one in self.fits["latency"].point_to_point().protocols():
            if one.sizes.high > largest:
                pieces.append((Range(max(largest, one.sizes.low), one.sizes.high, open_low=True), one.model()))
        return RangeModel("S", pieces, name)

    def add_overlap(self, op: str, side: str) -> None:
        sizes = self.runs.table(op)[0]
        fit = fit_overlap(sizes, *(self.runs.table(op, field=field)[1] for field in ("beside", "work", "t")))
        self.fits[f"overlap_{side}"] = fit
        for size, share, low, high in zip(fit.sizes, fit.shares, fit.low, fit.high, strict=True):
            text = f"share of a transfer of {format_value(size, 'B')} hidden behind work of the {side}"
            self._add(f"overlap_{side}_{size:.0f}", share, (low, high), "1", text)

    def add_strides(self) -> None:
        size = max(one.size for one in self.runs.of("Strided"))
        fit = self.fits["datatypes"] = fit_strides(size, *self.runs.table("Strided", by="detail", size=size))
        k = fit.worst
        at = f"{format_value(fit.size, 'B')} at a stride of {fit.strides[k]} x 8 B"
        text = f"slowest strided message over a contiguous one: {at}"
        self._add("datatype_worst", fit.factors[k], (fit.low[k], fit.high[k]), "1", text)
        self.models["strided-worst"] = fit.worst_case()

    def add_packing(self) -> None:
        """Add the time of packing, and again of unpacking, for each stride."""
        fits = self.fits["packing"] = {}
        for stride in sorted({one.detail for one in self.runs.of("Pack")}):
            sizes, both = self.runs.table("Pack", detail=stride)
            name, fits[stride] = f"{PACKING}{stride}", self._fitted(sizes, both / 2)
            self.models[name] = _measured(fits[stride], name)

    def add_reducing(self) -> None:
        """Add the time of a reduction over its bytes, for each size of an element."""
        fits = self.fits["reduce"] = {}
        for element, (name, text) in _ELEMENTS.items():
            if self.runs.of("Reduce_local", detail=element):
                fit = fits[element] = fit_steps("reduced byte", *self.runs.table("Reduce_local", detail=element))
                self._add(name, fit.each, fit.interval, "s/B", text)
                self.remarks += fit.remarks

    def add_matching(self) -> None:
        fit = self.fits["matching"] = fit_steps("queued receive", *self.runs.table("Queued", by="detail"))
        self._add("matching", fit.each, fit.interval, "s", "for each receive that is queued before the one that matches")
        constants = {"t": f"{fit.each!r} s"}
        self.models["matching"] = ExactModel("t*R", constants, {"R": Range(high=fit.counts[-1])}, "matching")
        self.remarks += fit.remarks

    def add_bisection(self) -> None:
        rounds: dict[int, list[Any]] = {}
        for one in self.runs.of("Perfect_matching"):
            rounds.setdefault(one.p, []).append(np.median(one.t.reshape(one.p, -1), axis=1))
        times = {p: np.array(rows) for p, rows in rounds.items()}
        fit = self.fits["bisection"] = fit_bisection(self.runs.of("Perfect_matching")[0].size, times)
        for p, mean, low, high in zip(fit.processes, fit.effective, fit.low, fit.high, strict=True):
            text = f"effective bisection bandwidth of a process among {p}, {format_value(fit.size, 'B')}"
            self._add(f"bisection_{p}", mean, (low, high), "B/s", text)
        if math.isfinite(fit.decay):
            text = "a in effective bisection bandwidth ~ P^-a"
            self._add("bisection_decay", fit.decay, fit.decay_interval, "1", text)
            self.models["bisection"] = fit.model()


_PARTS: Mapping[str, Callable[[_Card], None]] = {
    "Send_to_late": _Card.add_rendezvous,
    "Round_trip": _Card.add_message,
    "Exchange": _Card.add_exchange,
    "Train_delayed": _Card.add_loggp,
    "Overlap_send": lambda card: card.add_overlap("Overlap_send", "sender"),
    "Overlap_receive": lambda card: card.add_overlap("Overlap_receive", "receiver"),
    "Strided": _Card.add_strides,
    "Pack": _Card.add_packing,
    "Reduce_local": _Card.add_reducing,
    "Queued": _Card.add_matching,
    "Perfect_matching": _Card.add_bisection,
}
"""Parts of a card by kind of measurement, in order: LogGP uses the delays of receivers and the messages before it."""


def _named(model: Any, name: str) -> PerformanceModel:
    """Return the model with another name."""
    found: PerformanceModel = replace(model, name=name)
    return found


def _measured(fit: MessageFit, name: str) -> PerformanceModel:
    return within(_named(fit.point_to_point().time, name), "S", fit.sizes[0], fit.sizes[-1])


def _delay(runs: MessageRuns) -> float:
    found = [one.delay for one in runs.of("Send_to_late")]
    if not found or min(found) <= 0:
        raise DataError(f"{runs.folder}: the records of Send_to_late do not say how late the receiver was; measure again.")
    return float(np.median(found))


def _loggp(runs: MessageRuns, sync: Rendezvous | None, statistic: str) -> LogGPFit:
    """Return the fit over the eager sizes: larger messages wait for the receiver, which is another protocol.

    Where fewer than three sizes are eager it is over all, and what a rendezvous takes is within the parameters.
    """
    limit = sync.after if sync is not None and math.isfinite(sync.before) else math.inf
    sizes = runs.table("Train")[0]
    are_few = (sizes <= limit).sum() < _FEWEST_EAGER
    used = sizes if are_few else sizes[sizes <= limit]
    tables = {op: _rows(runs, op, used) for op in ("Round_trip", "Train", "Train_delayed", "Receive_arrived")}
    waited = _rows(runs, "Train_delayed", used, "beside")
    n = runs.of("Train")[0].messages
    delay = np.nanmedian(waited, axis=1) / (n - 1)
    if statistic == "min":
        tables, delay = _shortest(tables, waited), np.nanmin(waited, axis=1) / (n - 1)
    found = fit_loggp(
        used,
        tables["Round_trip"],
        tables["Train"],
        tables["Train_delayed"],
        n=n,
        delay=delay,
        receive_overhead=tables["Receive_arrived"] if "Receive_arrived" in runs.ops else None,
        rendezvous=math.inf if are_few else limit,
    )
    if not are_few:
        return found
    remark = f"Fewer than {_FEWEST_EAGER} sizes are eager, so LogGP is fitted to all: its times contain the rendezvous."
    return replace(found, remarks=(*found.remarks, remark))


def _shortest(tables: dict[str, Any], waited: Any) -> dict[str, Any]:
    """Return the shortest repetition at each size; of delayed trains the one that lost least beyond its delays."""
    found = {op: table if table is None else np.nanmin(table, axis=1)[:, None] for op, table in tables.items()}
    found["Train_delayed"] = (np.nanmin(tables["Train_delayed"] - waited, axis=1) + np.nanmin(waited, axis=1))[:, None]
    return found


def _rows(runs: MessageRuns, op: str, sizes: Any, field: str = "t") -> Any:
    if op not in runs.ops:
        return None
    at, table = runs.table(op, field=field)
    if missing := sorted(set(sizes.tolist()) - set(at.tolist())):
        raise DataError(f"{runs.folder}: {op} was not measured at {missing[0]:g} B, Train was; measure that launch again.")
    return table[np.isin(at, sizes)]


def _about(runs: MessageRuns) -> dict[str, str]:
    env, record = runs.env, runs.record
    simulation, is_made = record.get("simulation", {}), runs.is_simulated or bool(runs.virtual)
    library = str(record.get("mpi", {}).get("name", "") or str(env.get("mpi_library", "")).partition("\n")[0][:80])
    tell: dict[str, Callable[[], object]] = {
        "library": lambda: library,
        "simulated": lambda: simulation.get("description", "by SimGrid SMPI") if runs.is_simulated else "",
        "clock": lambda: f"virtual, {clock_of(runs.virtual)}; {LEFT_OUT}" if runs.virtual else "",
        "host": lambda: "" if is_made else env.get("host", ""),
        "processor": lambda: "" if is_made else env.get("cpu", ""),
        "cores": lambda: "" if is_made else env.get("cores", ""),
        "measured": lambda: env.get("started", ""),
        "launches": lambda: len({one.run for one in runs.trips}),
        "scalkit": lambda: record.get("scalkit", ""),
    }
    return {key: str(value()) for key, value in tell.items() if str(value())}
