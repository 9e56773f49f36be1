"""`advise`: an operation of MPI or one of its substitutes? Per platform, number of processes and message size, and for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scalkit.errors import DataError, UsageError
from scalkit.stats.samples import Floats
from scalkit.store.advice import Advice, Crossover, Portable, Segment, Setting
from scalkit.store.bootstrap_runs import LEAST_RUNS, crossing, drawn_means, means, probabilities, winsorised
from scalkit.store.columns import STATISTICS
from scalkit.store.substitutes import Operation, operation_of

if TYPE_CHECKING:
    from scalkit.store.store import Store

__all__ = ["advise"]


def advise(
    store: Store,
    op: str,
    *,
    p: int | Sequence[int] | None = None,
    msg_By: int | Sequence[int] | None = None,
    platform: str | Sequence[str] | None = None,
    machine: str | Sequence[str] | None = None,
    statistic: str = "med",
    confidence: float = 0.9,
    n_draws: int = 999,
    seed: int = 0,
    **filters: Any,
) -> Advice:
    """Return which of an operation and its substitutes is the fastest, where, and how surely.

    What stands for a candidate is the mean of the logarithms of its runs' values, outliers among the runs moved to Tukey's
    fence; how sure it is, tells a bootstrap over the runs, in which all candidates of a run are drawn together.

    Parameters
    ----------
    store : Store
    op : str
        ``"MPI_Gather"``, or what else the catalogue of substitutes has.
    p, msg_By : int or several, optional
        Only these numbers of processes and message sizes [B].
    platform, machine : str or several, optional
        Only these; ``*`` stands for anything. A platform is a machine with an MPI library.
    statistic : str
        What stands for the repetitions of a measurement.
    confidence : float
        Of the intervals of crossovers; and the probability from which on a winner counts as sure.
    n_draws, seed : int
        Of the bootstrap.
    **filters
        Further columns of the store's ``points``.

    Raises
    ------
    DataError
        If there are no times of the operation's candidates.
    UsageError
        If no substitutes of the operation are known, or an option is wrong.
    """
    operation = operation_of(op)
    if statistic not in STATISTICS:
        raise UsageError(f"the statistic {statistic!r:.40} is unknown; choose from {', '.join(STATISTICS)}.")
    if not 0.5 <= confidence < 1:
        raise UsageError(f"the confidence is {confidence!r}; a number from 0.5 to below 1 is needed.")
    chosen = {"p": p, "msg_By": msg_By, "platform": platform, "machine": machine, **filters}
    rows = _rows(store, operation, statistic, chosen)
    rng = np.random.default_rng(seed)
    settings: list[Setting] = []
    for name in np.unique(rows["platform"]).tolist():
        settings += _settings(rows, rows["platform"] == name, operation, confidence, n_draws, rng)
    candidates = tuple(one.name for one in operation.substitutes if one.name in set(rows["candidate"].tolist()))
    return Advice(operation, candidates, tuple(settings), _portable(settings), statistic, confidence, n_draws, seed)


def _rows(store: Store, operation: Operation, statistic: str, filters: dict[str, Any]) -> dict[str, Any]:
    """Return the times of all candidates, by the catalogue's names."""
    names = {alias: one.name for one in operation.substitutes for alias in (one.name, *one.aliases)}
    columns = ("run_id", "platform", "op", "p", "msg_By", "simulated", "oversubscribed", "datatype", statistic)
    found = store.arrays(columns, {"op": list(names), "metric": "time", **filters})
    if not len(found["p"]):
        raise DataError(
            f"the store has no times of {operation.name} or its substitutes {', '.join(list(names)[1:])} that fit; "
            "'scalkit store suites' lists what is there."
        )
    values = np.ma.filled(found[statistic].astype(np.float64), np.nan)
    if not (values > 0).all():
        raise DataError(f"some times of {operation.name} are not positive; retract their runs.")
    rows = {name: np.asarray(found[name]) for name in columns[:-1]}
    for name in ("run_id", "platform", "op", "datatype"):
        rows[name] = rows[name].astype(str)
    kinds, which = np.unique(rows["op"], return_inverse=True)
    rows["candidate"] = np.array([names[kind] for kind in kinds.tolist()])[which]
    return {**rows, "log": np.log(values * 1e-9)}


def _settings(
    rows: dict[str, Any], mask: Any, operation: Operation, confidence: float, n_draws: int, rng: np.random.Generator
) -> list[Setting]:
    """Return a setting for each number of processes on one platform."""
    own = {key: values[mask] for key, values in rows.items()}
    candidates = [one.name for one in operation.substitutes if one.name in set(own["candidate"].tolist())]
    order = {name: place for place, name in enumerate(candidates)}
    number = np.array([order[name] for name in own["candidate"].tolist()])
    runs, run = np.unique(own["run_id"], return_inverse=True)
    cells, cell = np.unique(np.stack([own["p"], own["msg_By"]], axis=1), axis=0, return_inverse=True)
    cell = cell.ravel()
    logs = np.full((len(candidates), len(cells), len(runs)), np.nan)
    logs[number, cell, run] = own["log"]
    logs = winsorised(logs)
    mean, drawn = means(logs), drawn_means(logs, n_draws, rng)
    sure = probabilities(drawn)
    n_runs = np.isfinite(logs).sum(axis=2)
    sure = np.where(np.where(n_runs > 0, n_runs, LEAST_RUNS).min(axis=0) < LEAST_RUNS, np.nan, sure)
    found = []
    for p in np.unique(cells[:, 0]).tolist():
        at = np.flatnonzero(cells[:, 0] == p)
        times = np.exp(mean[:, at])
        sizes = cells[at, 1].astype(np.int64)
        segments = _segments(candidates, sizes, mean[:, at], sure[:, at], drawn[:, :, at], confidence)
        found.append(
            Setting(
                platform=str(own["platform"][0]),
                p=int(p),
                sizes=sizes,
                candidates=tuple(candidates),
                times_s=times,
                probability=sure[:, at],
                n_runs=n_runs[:, at],
                segments=segments,
                simulated=bool(own["simulated"].any()),
                oversubscribed=bool(own["oversubscribed"][own["p"] == p].any()),
            )
        )
    return found


def _segments(
    candidates: Sequence[str], sizes: Any, mean: Floats, sure: Floats, drawn: Floats, confidence: float
) -> tuple[Segment, ...]:
    """Return the ranges of message sizes with one winner each, and where each of them ends."""
    filled = np.where(np.isnan(mean), np.inf, mean)
    winners = filled.argmin(axis=0)
    starts = [0, *(np.flatnonzero(np.diff(winners)) + 1).tolist()]
    ends = [*[start - 1 for start in starts[1:]], len(sizes) - 1]
    segments = []
    for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
        winner = int(winners[start])
        others = np.delete(filled[:, start : end + 1], winner, axis=0)
        gain = float(np.exp((others.min(axis=0) - filled[winner, start : end + 1]).max())) if len(others) else 1.0
        upper = None
        if place + 1 < len(starts):
            upper = _crossover(sizes, mean, drawn, winner, int(winners[end + 1]), end, confidence)
        probability = float(sure[winner, start : end + 1].min())
        segments.append(
            Segment(
                candidates[winner],
                int(sizes[start]),
                int(sizes[end]),
                probability,
                gain if np.isfinite(gain) else np.nan,
                upper,
            )
        )
    return tuple(segments)


def _crossover(
    sizes: Any, mean: Floats, drawn: Floats, before: int, after: int, near: int, confidence: float
) -> Crossover:
    """Return from which size on another candidate is the faster one."""
    both = np.isfinite(mean[before]) & np.isfinite(mean[after])
    if not (both[near] and both[near + 1]):
        return Crossover(float(np.sqrt(max(1, sizes[near]) * sizes[near + 1])), float("nan"), float("nan"))
    some = np.flatnonzero(both)
    x = np.maximum(np.asarray(sizes, dtype=np.float64)[some], 1.0)
    place = int(np.searchsorted(some, near))
    difference = (mean[before] - mean[after])[some][None, :]
    value = float(crossing(x, difference, place)[0])
    draws = crossing(x, (drawn[:, before] - drawn[:, after])[:, some], place)
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], method="nearest").tolist()
    return Crossover(value, low, high)


def _portable(settings: Sequence[Setting]) -> tuple[Portable, ...]:
    """Return the candidate that loses least where it loses most: for each number of processes, and for all.

    Only settings count that all platforms with this number of processes have measured for all of the candidates.
    """
    found = []
    for p in [*sorted({setting.p for setting in settings}), None]:
        own = [setting for setting in settings if p is None or setting.p == p]
        names = [name for name in own[0].candidates if all(name in setting.candidates for setting in own)]
        factors = dict.fromkeys(names, 1.0)
        where = dict.fromkeys(names, "")
        for setting in own:
            best = np.nanmin(setting.times_s, axis=0)
            for name in names:
                loss = setting.times_s[setting.candidates.index(name)] / best
                if np.isnan(loss).any():
                    factors[name] = np.inf
                elif loss.max() > factors[name]:
                    size = int(setting.sizes[int(loss.argmax())])
                    factors[name], where[name] = float(loss.max()), f"{setting.platform}, p = {setting.p}, {size} B"
        finite = {name: factor for name, factor in factors.items() if np.isfinite(factor)}
        if finite:
            best_name = min(finite, key=lambda name: finite[name])
            platforms = len({setting.platform for setting in own})
            found.append(Portable(p, best_name, finite[best_name], where[best_name], platforms, dict(finite)))
    return tuple(found)
