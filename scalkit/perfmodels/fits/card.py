"""Fits everything that a folder of message measurements holds, and makes a model card of it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from scalkit.errors import DataError
from scalkit.measure.virtual_time import LEFT_OUT, clock_of
from scalkit.perfmodels.files.card import BOTH, EXCHANGE, MESSAGE, PACKING, REDUCING, ModelCard, Quantity
from scalkit.perfmodels.fits.affine import LEVEL
from scalkit.perfmodels.fits.bisection import BisectionFit, fit_bisection
from scalkit.perfmodels.fits.doubts import with_doubts
from scalkit.perfmodels.fits.loggp import LogGPFit, Rendezvous, find_rendezvous, fit_loggp
from scalkit.perfmodels.fits.messages import MessageFit, fit_messages
from scalkit.perfmodels.fits.overlap import OverlapFit, fit_overlap
from scalkit.perfmodels.fits.runs import MessageRuns, read_message_runs
from scalkit.perfmodels.fits.steps import StepFit, fit_steps
from scalkit.perfmodels.fits.strides import StrideFit, fit_strides
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


def fit_folder(folder: str | Path, *, statistic: str = "q1") -> ModelCard:
    """Return the model card of what `scalkit model fit` measured into a folder; see `fit_card`."""
    return fit_card(read_message_runs(folder), statistic=statistic)


def fit_card(runs: MessageRuns, *, name: str = "", statistic: str = "q1", widen: bool = True) -> ModelCard:
    """Return the model card of message measurements: every fit that they allow.

    Parameters
    ----------
    runs : MessageRuns
    name : str
        Of the library or machine; by default what the run files say.
    statistic : {"q1", "median", "min"}
        What makes one time of the repetitions of a message; the minimum also serves LogGP, for a machine that others use.
    widen : bool
        Whether it is looked for doubts, with which intervals reach over those of the other statistics.

    Raises
    ------
    DataError
        If a part was measured at fewer sizes than it has parameters.
    """
    made = _Card()
    fits: dict[str, Any] = {}
    have = set(runs.ops)
    if have & {"Send_to_late"}:
        fits["sync"] = made.add_rendezvous(*_late(runs))
    loggp_sizes = runs.table("Train")[0] if "Train" in have else np.array([])
    if "Round_trip" in have:
        sizes, trips = runs.table("Round_trip")
        if not np.isin(sizes, loggp_sizes).all():
            scatter = not runs.is_exact
            fit = fit_messages(sizes, trips / 2, statistic=statistic, scatter=scatter)
            fits["latency"] = made.add_message(fit)
    if "Exchange" in have:
        sizes, trips = runs.table("Exchange")
        exchange = fit_messages(sizes, trips, statistic=statistic, scatter=not runs.is_exact)
        fits[EXCHANGE] = made.add_exchange(exchange)
    if have >= {"Round_trip", "Train", "Train_delayed"}:
        fits["loggp"] = made.add_loggp(_loggp(runs, fits.get("sync"), statistic), float(loggp_sizes.max()))
    for op, side in (("Overlap_send", "sender"), ("Overlap_receive", "receiver")):
        if op in have:
            tables = {field: runs.table(op, field=field)[1] for field in ("beside", "work", "t")}
            at = runs.table(op)[0]
            one = fit_overlap(at, tables["beside"], tables["work"], tables["t"], side=side)
            fits[f"overlap_{side}"] = made.add_overlap(one)
    if "Strided" in have:
        size = max(one.size for one in runs.of("Strided"))
        fits["datatypes"] = made.add_strides(fit_strides(size, *runs.table("Strided", by="detail", size=size)))
    if "Pack" in have:
        fits["packing"] = made.add_packing(_packing(runs, statistic))
    if "Reduce_local" in have:
        fits["reduce"] = made.add_reducing(_reducing(runs))
    if "Queued" in have:
        fits["matching"] = made.add_matching(fit_steps("queued receive", *runs.table("Queued", by="detail")))
    if "Perfect_matching" in have:
        fits["bisection"] = made.add_bisection(_bisection(runs))
    if "Round_trip_to" in have:
        fits["hops"] = made.add_hops(_hops(runs))
    about = {**_about(runs), "statistic": statistic}
    remarks = (*runs.remarks, *dict.fromkeys(made.remarks))
    title = name or about.get("library", "") or "messages"
    card = ModelCard(title, made.models, tuple(made.quantities), about, remarks, LEVEL, fits)
    return with_doubts(card, runs, lambda one: fit_card(runs, statistic=one, widen=False)) if widen else card


class _Card:
    """Models, quantities and remarks while they are gathered."""

    def __init__(self) -> None:
        self.models: dict[str, PerformanceModel] = {}
        self.quantities: list[Quantity] = []
        self.remarks: list[str] = []
        self._message: MessageFit | None = None

    def _add(self, name: str, value: float, interval: tuple[float, float], unit: str, text: str) -> None:
        self.quantities.append(Quantity(name, value, *interval, unit, text))

    def add_message(self, fit: MessageFit) -> MessageFit:
        self._message = fit
        self.models[MESSAGE] = _measured(fit, MESSAGE)
        first, last = fit.protocols[0].fit, fit.protocols[-1]
        self._add("latency", first.constant, first.constant_interval, "s", "of the smallest messages, one way")
        low, high = (1 / end if end > 0 else math.inf for end in reversed(last.fit.slope_interval))
        if last.fit.slope > 0:
            self._add("bandwidth", last.bandwidth, (low, high), "B/s", "of the largest messages, one way")
        else:
            at_last = last.last / float(fit(last.last))
            self._add("bandwidth", at_last, (math.nan, math.nan), "B/s", "of the largest size alone: no time per byte was found")
        for k, one in enumerate(fit.switches, 1):
            text = f"largest size of protocol {k}; the time changes by the factor {one.step:.3g}"
            self._add(f"switch_{k}", one.after, one.interval, "B", text)
        self.remarks += fit.remarks
        return fit

    def add_exchange(self, fit: MessageFit) -> MessageFit:
        self.models[EXCHANGE] = _measured(fit, EXCHANGE)
        return fit

    def add_rendezvous(self, fit: Rendezvous, largest: float) -> Rendezvous:
        value = fit.after if math.isfinite(fit.before) else math.inf
        interval = (fit.after, fit.before) if math.isfinite(fit.before) else (math.nan, math.nan)
        self._add("S", value, interval, "B", "largest message whose send does not wait for a late receiver (eager)")
        if math.isinf(value):
            self.remarks.append(f"No send up to {format_value(largest, 'B')} waits for its receiver.")
        if not fit.is_clean:
            self.remarks.append("Some sends below S waited for the receiver, or some above it did not.")
        return fit

    def add_loggp(self, fit: LogGPFit, largest: float) -> LogGPFit:
        for name, text in _LOGGP_TEXT.items():
            unit = _LOGGP_UNITS.get(name, "s")
            interval = fit.intervals.get(name, (math.nan, math.nan))
            self._add(name, getattr(fit.parameters, name), interval, unit, text)
        self._add("half_round_trip", fit.half_round_trip, (math.nan, math.nan), "s", "what netgauge prints as L")
        found = fit.parameters.point_to_point()
        self.models["loggp"] = within(_named(found.time, "loggp"), "S", 0.0, largest)
        self.models["gap"] = self._beyond(found.gap or found.time, "gap", fit.largest)
        self.models[BOTH] = self._beyond(found.both or found.time, BOTH, fit.largest)
        self.remarks += fit.remarks
        return fit

    def _beyond(self, model: PerformanceModel, name: str, largest: float) -> PerformanceModel:
        """Return what follows from LogGP where it was measured, then the time of a message."""
        if self._message is None:
            return within(_named(model, name), "S", 0.0, largest)
        pieces: list[tuple[Range, PerformanceModel]] = [(Range(high=largest), model)]
        for one in self._message.point_to_point().protocols():
            if one.sizes.high > largest:
                pieces.append((Range(max(largest, one.sizes.low), one.sizes.high, open_low=True), one.model()))
        return RangeModel("S", pieces, name)

    def add_overlap(self, fit: OverlapFit) -> OverlapFit:
        for size, share, low, high in zip(fit.sizes, fit.shares, fit.low, fit.high, strict=True):
            text = f"share of a transfer of {format_value(size, 'B')} hidden behind work of the {fit.side}"
            self._add(f"overlap_{fit.side}_{size:.0f}", share, (low, high), "1", text)
        return fit

    def add_strides(self, fit: StrideFit) -> StrideFit:
        k = fit.worst
        at = f"{format_value(fit.size, 'B')} at a stride of {fit.strides[k]} x 8 B"
        text = f"slowest strided message over a contiguous one: {at}"
        self._add("datatype_worst", fit.factors[k], (fit.low[k], fit.high[k]), "1", text)
        self.models["strided-worst"] = fit.worst_case()
        return fit

    def add_packing(self, fits: dict[int, MessageFit]) -> dict[int, MessageFit]:
        for stride, fit in fits.items():
            name = f"{PACKING}{stride}"
            self.models[name] = _measured(fit, name)
        return fits

    def add_reducing(self, fits: dict[int, StepFit]) -> dict[int, StepFit]:
        for element, fit in fits.items():
            name, text = _ELEMENTS[element]
            self._add(name, fit.each, fit.interval, "s/B", text)
            self.remarks += fit.remarks
        return fits

    def add_matching(self, fit: StepFit) -> StepFit:
        self._add("matching", fit.each, fit.interval, "s", "for each receive that is queued before the one that matches")
        constants = {"t": f"{fit.each!r} s"}
        self.models["matching"] = ExactModel("t*R", constants, {"R": Range(high=fit.counts[-1])}, "matching")
        self.remarks += fit.remarks
        return fit

    def add_hops(self, fit: StepFit) -> StepFit:
        self._add("hop", fit.each, fit.interval, "s", "for each link between two nodes, one way")
        constants = {"alpha": f"{fit.fit.constant!r} s", "t": f"{fit.each!r} s"}
        self.models["hops"] = ExactModel("alpha + t*h", constants, {"h": Range(high=fit.counts[-1])}, "hops")
        self.remarks += fit.remarks
        return fit

    def add_bisection(self, fit: BisectionFit) -> BisectionFit:
        for p, mean, low, high in zip(fit.processes, fit.effective, fit.low, fit.high, strict=True):
            text = f"effective bisection bandwidth of a process among {p}, {format_value(fit.size, 'B')}"
            self._add(f"bisection_{p}", mean, (low, high), "B/s", text)
        if math.isfinite(fit.decay):
            text = "a in effective bisection bandwidth ~ P^-a"
            self._add("bisection_decay", fit.decay, fit.decay_interval, "1", text)
            self.models["bisection"] = fit.model()
        return fit


def _named(model: Any, name: str) -> PerformanceModel:
    """Return the model with another name."""
    found: PerformanceModel = replace(model, name=name)
    return found


def _measured(fit: MessageFit, name: str) -> PerformanceModel:
    return within(_named(fit.point_to_point().time, name), "S", fit.sizes[0], fit.sizes[-1])


def _late(runs: MessageRuns) -> tuple[Rendezvous, float]:
    sizes, times = runs.table("Send_to_late")
    delay = _delay(runs)
    return find_rendezvous(sizes, times, f"{delay!r} s"), float(sizes.max())


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


def _packing(runs: MessageRuns, statistic: str) -> dict[int, MessageFit]:
    """Return the time of packing, and again of unpacking, for each stride."""
    found = {}
    for stride in sorted({one.detail for one in runs.of("Pack")}):
        sizes, both = runs.table("Pack", detail=stride)
        found[stride] = fit_messages(sizes, both / 2, statistic=statistic, scatter=not runs.is_exact)
    return found


def _reducing(runs: MessageRuns) -> dict[int, StepFit]:
    """Return the time of a reduction over its bytes, for each size of an element."""
    found = {}
    for element in _ELEMENTS:
        if runs.of("Reduce_local", detail=element):
            found[element] = fit_steps("reduced byte", *runs.table("Reduce_local", detail=element))
    return found


def _bisection(runs: MessageRuns) -> BisectionFit:
    rounds: dict[int, list[Any]] = {}
    for one in runs.of("Perfect_matching"):
        rounds.setdefault(one.p, []).append(np.median(one.t.reshape(one.p, -1), axis=1))
    times = {p: np.array(rows) for p, rows in rounds.items()}
    return fit_bisection(runs.of("Perfect_matching")[0].size, times)


def _hops(runs: MessageRuns) -> StepFit:
    dims = runs.record.get("topology", {}).get("torus", [])
    if not dims or not all(isinstance(length, int) and length > 0 for length in dims):
        raise DataError(f"{runs.folder} does not say which torus its nodes are on; hops need [topology] in campaign.toml.")
    size = min(one.size for one in runs.of("Round_trip_to"))
    found = runs.of("Round_trip_to", size=size)
    times = np.array([np.median(one.t) / 2 for one in found])
    return fit_steps("hop", [_distance(one.detail, dims) for one in found], times)


def _distance(node: int, dims: Sequence[int]) -> int:
    """Return how many links of a torus lie between node 0 and another; the first dimension runs fastest."""
    if not 0 <= node < math.prod(dims):
        raise DataError(f"the torus {tuple(dims)} has no node {node}; it has 0 to {math.prod(dims) - 1}.")
    links = 0
    for length in dims:
        node, place = divmod(node, length)
        links += min(place, length - place)
    return links


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
