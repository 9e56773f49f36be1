"""`advise`: an operation of MPI or one of its substitutes? Per platform, number of processes and message size, and for all."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scalkit.errors import DataError, UsageError
from scalkit.stats.between_runs import RunRatios, run_ratios
from scalkit.stats.samples import Flags, Floats, Integers
from scalkit.store.advice.answer import Advice, Crossover, Portable, Segment, Setting
from scalkit.store.advice.crossing import crossing
from scalkit.store.advice.snippets import Operation, operation_of, operations
from scalkit.store.runs.columns import STATISTICS
from scalkit.store.runs.content import canonical
from scalkit.support.clocks import CLOCKS

if TYPE_CHECKING:
    from scalkit.store.store import Store


def advise(store: Store, op: str, *, statistic: str = "med", **filters: Any) -> Advice:
    """Return which of an operation and its substitutes is the fastest, where, and how surely.

    Only what was measured alike is compared: where a platform has several data types, patterns, roots or kinds of
    synchronisation, one must be chosen. Suites over a parameter of one's own are left out.

    What stands for a candidate is the median over its runs. How sure the fastest one is, tells its comparison with every other
    candidate, the one that `compare` makes; see `scalkit.stats.between_runs`.

    `op`: ``"MPI_Gather"``, or what else the catalogue of substitutes has.
    `statistic`: what stands for the repetitions of a measurement.
    `**filters`: only these, by columns of the store's ``points`` or ``runs`` such as ``p``, ``msg_By`` and ``platform``; ``*``
    stands for anything.
    Raises DataError if there are no times of the operation's candidates, or some that were not measured alike.
    Raises UsageError if no substitutes of the operation are known, or an option is wrong.
    """
    operation = operation_of(op)
    if statistic not in STATISTICS:
        raise UsageError(f"the statistic {statistic!r:.40} is unknown; choose from {', '.join(STATISTICS)}.")
    rows = _rows(store, operation, statistic, filters)
    gathered = _gathered(rows, operation)
    settings = [one for g in gathered for one in _settings(g)]
    measured = {name for g in gathered for name in g.candidates}
    candidates = tuple(one.name for one in operation.substitutes if one.name in measured)
    return Advice(operation, candidates, tuple(settings), _portable(settings), statistic)


def advise_all(store: Store) -> dict[str, Advice | DataError]:
    """Return the advice on every operation that was measured beside a substitute, or why there is none."""
    there = set(store.suites(metric="time")["op"])
    found: dict[str, Advice | DataError] = {}
    for operation in operations():
        names = {name for one in operation.substitutes for name in (one.name, *one.aliases)}
        if len(names & there) > 1:
            try:
                found[operation.name] = advise(store, operation.name)
            except DataError as error:  # as where it was not measured alike
                found[operation.name] = error
    return found


@dataclass(frozen=True, eq=False)
class _Gathered:
    """The logarithms of all times on one platform, of shape (candidates, cells, runs); a cell is a p and a size."""

    platform: str
    candidates: tuple[str, ...]
    cells: Integers
    logs: Floats
    clock: str
    oversubscribed: frozenset[int]


def _rows(store: Store, operation: Operation, statistic: str, filters: dict[str, Any]) -> dict[str, Any]:
    """Return the times of all candidates; texts as numbers into lists of what they are."""
    import pandas as pd

    names = {alias: one.name for one in operation.substitutes for alias in (one.name, *one.aliases)}
    columns = ("run_id", "platform", "op", "p", "msg_By", "clock", "oversubscribed", statistic)
    wanted = {"op": list(names), "metric": "time", "x_name": list(_OWN), **filters}
    found = store.arrays(columns, wanted)
    if not len(found["p"]):
        raise DataError(
            f"the store has no times of {operation.name} or its substitutes {', '.join(list(names)[1:])} that fit; "
            "'scalkit store runs --suites' lists what is there."
        )
    _require_alike(store, wanted)
    values = np.ma.filled(found[statistic].astype(np.float64), np.nan)
    if not (values > 0).all():
        raise DataError(f"some times of {operation.name} are not positive; retract their runs.")
    rows: dict[str, Any] = {name: np.asarray(found[name]) for name in ("p", "msg_By", "clock", "oversubscribed")}
    rows["run"], _ = pd.factorize(np.asarray(found["run_id"]), sort=True)
    rows["platform"], rows["platforms"] = pd.factorize(np.asarray(found["platform"]), sort=True)
    kinds, measured = pd.factorize(np.asarray(found["op"]))
    order = {one.name: place for place, one in enumerate(operation.substitutes)}
    rows["candidate"] = np.array([order[names[name]] for name in measured])[kinds]
    return {**rows, "log": np.log(values * 1e-9)}


def _gathered(rows: dict[str, Any], operation: Operation) -> list[_Gathered]:
    """Return the times by platform."""
    ordered = np.argsort(rows["platform"], kind="stable")
    borders = np.searchsorted(rows["platform"][ordered], np.arange(len(rows["platforms"]) + 1))
    found = []
    for place, platform in enumerate(rows["platforms"].tolist()):
        at = ordered[borders[place] : borders[place + 1]]
        p, size = rows["p"][at].astype(np.int64), rows["msg_By"][at].astype(np.int64)
        kinds, candidate = np.unique(rows["candidate"][at], return_inverse=True)
        runs, run = np.unique(rows["run"][at], return_inverse=True)
        cells, cell = np.unique(np.stack([p, size], axis=1), axis=0, return_inverse=True)
        shape = (len(kinds), len(cells), len(runs))
        place_of = np.ravel_multi_index((candidate, cell.ravel(), run), shape)
        n = np.bincount(place_of, minlength=np.prod(shape))
        with np.errstate(invalid="ignore"):  # several measurements of one run: their mean
            logs = (np.bincount(place_of, rows["log"][at], minlength=np.prod(shape)) / n).reshape(shape)
        crowded = frozenset(p[rows["oversubscribed"][at].astype(bool)].tolist())
        names = tuple(operation.substitutes[kind].name for kind in kinds.tolist())
        found.append(_Gathered(platform, names, cells, logs, str(rows["clock"][at[0]]), crowded))
    # Measurements come first, then simulations and virtual time.
    return sorted(found, key=lambda one: one.clock)


def _settings(gathered: _Gathered) -> list[Setting]:
    """Return a setting for each number of processes on one platform."""
    logs, cells, candidates = gathered.logs, gathered.cells, gathered.candidates
    middle, n_runs = _medians(logs), np.isfinite(logs).sum(axis=2)
    filled = np.where(np.isnan(middle), np.inf, middle)
    winners = filled.argmin(axis=0)
    sure, is_lacking = _probabilities(logs, winners)
    found = []
    for p in np.unique(cells[:, 0]).tolist():
        at = np.flatnonzero(cells[:, 0] == p)
        sizes = cells[at, 1].astype(np.int64)
        segments = _segments(candidates, sizes, logs[:, at], filled[:, at], sure[at], is_lacking[:, at])
        found.append(
            Setting(
                platform=gathered.platform,
                p=int(p),
                sizes=sizes,
                candidates=candidates,
                times_s=np.exp(middle[:, at]),
                probability=sure[at],
                n_runs=n_runs[:, at],
                segments=segments,
                clock=gathered.clock,
                oversubscribed=p in gathered.oversubscribed,
            )
        )
    return found


def _medians(logs: Floats) -> Floats:
    """Return the median over the runs, of shape (candidates, cells); NaN where there is none."""
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
        middle: Floats = np.nanmedian(logs, axis=2)
    return middle


def _probabilities(logs: Floats, winners: Integers) -> tuple[Floats, Flags]:
    """Return the probability that the winner of each cell is the fastest, and the candidates that it cannot be compared with.

    It is 1 less the largest p-value of its comparisons with all others, and at least what a guess among them would have.
    Result of shape (cells,): NaN where nothing else was measured, or so few runs cannot differ. Of shape (candidates, cells):
    others that have too few runs for a comparison.
    """
    is_winner = np.arange(len(logs))[:, None] == winners
    there = (np.isfinite(logs).sum(axis=2) > 0) & ~is_winner
    others, cells = np.nonzero(there)
    sure = np.full(len(winners), np.nan)
    is_lacking = np.zeros(there.shape, dtype=bool)
    if len(cells):
        found = run_ratios(np.exp(logs[others, cells]), np.exp(logs[winners[cells], cells]))
        # Where the ratio of all pairs says otherwise than the medians do, nothing is sure.
        p = np.where(np.isfinite(found.p) & (found.ratio < 1), 1.0, found.p)
        is_lacking[others, cells] = np.isnan(p)
        compared = ~np.isnan(p)
        largest = np.zeros(len(winners))
        np.maximum.at(largest, cells[compared], p[compared])
        a_guess = 1 / (1 + np.bincount(cells, minlength=len(winners)))
        at = np.unique(cells[compared])
        sure[at] = np.maximum(1 - largest, a_guess)[at]
    return sure, is_lacking


def _segments(
    candidates: Sequence[str], sizes: Integers, logs: Floats, filled: Floats, sure: Floats, is_lacking: Flags
) -> tuple[Segment, ...]:
    """Return the ranges of message sizes with one winner each, and where each of them ends.

    `logs` of shape (candidates, sizes, runs). `filled` of shape (candidates, sizes): medians, infinite where there is none.
    """
    winners = filled.argmin(axis=0)
    n_runs = np.isfinite(logs).sum(axis=2)
    fewest = np.where((n_runs > 0) & ~is_lacking, n_runs, np.iinfo(np.int64).max).min(axis=0)
    starts = [0, *(np.flatnonzero(np.diff(winners)) + 1).tolist()]
    ends = [*[start - 1 for start in starts[1:]], len(sizes) - 1]
    segments = []
    for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
        winner = int(winners[start])
        own = slice(start, end + 1)
        others = np.delete(filled[:, own], winner, axis=0)
        gain = float(np.exp((others.min(axis=0) - filled[winner, own]).max())) if len(others) else 1.0
        upper = None
        if place + 1 < len(starts):
            upper = _crossover(sizes, logs[winner], logs[int(winners[end + 1])], end)
        segments.append(
            Segment(
                winner=candidates[winner],
                first=int(sizes[start]),
                last=int(sizes[end]),
                probability=float(sure[own].min()),
                n_runs=int(fewest[own].min()),
                gain=gain if np.isfinite(gain) else np.nan,
                crossover=upper,
                lacking=tuple(candidates[k] for k in np.flatnonzero(is_lacking[:, own].any(axis=1)).tolist()),
            )
        )
    return tuple(segments)


def _crossover(sizes: Integers, before: Floats, after: Floats, near: int) -> Crossover:
    """Return from which size on another candidate is the faster one.

    `before`, `after` of shape (sizes, runs): logarithms of the times of the two. `near`: the last size where the first wins.
    """
    both = (np.isfinite(before).sum(axis=1) > 0) & (np.isfinite(after).sum(axis=1) > 0)
    if not (both[near] and both[near + 1]):
        return Crossover(float(np.sqrt(max(1, sizes[near]) * sizes[near + 1])), float("nan"), float("nan"))
    some = np.flatnonzero(both)
    x = np.maximum(np.asarray(sizes, dtype=np.float64)[some], 1.0)
    place = int(np.searchsorted(some, near))
    medians = _medians(np.stack([before[some], after[some]]))
    value = float(crossing(x, (medians[0] - medians[1])[None, :], place)[0])
    found: RunRatios = run_ratios(np.exp(before[some]), np.exp(after[some]))
    if np.isnan(found.p[place : place + 2]).any():  # so few runs have no interval
        return Crossover(value, float("nan"), float("nan"))
    with np.errstate(divide="ignore"):
        bounds = np.log(np.stack([found.high, found.low]))  # the first is the first to be above 0
    low, high = crossing(x, np.clip(bounds, -_FAR, _FAR), place).tolist()
    return Crossover(value, min(low, value), max(high, value))


_FAR = 1e3
"""Logarithm that stands for the ends of an unbounded interval; so far from 0 that a crossing is at the size itself."""


def _portable(settings: Sequence[Setting]) -> tuple[Portable, ...]:
    """Return the candidates that lose least where they lose most: of simulated, virtual and measured times, in this order.

    Only settings with a choice count, and candidates that all of them have measured. Settings with more processes than cores
    tell about the scheduler; they count where there are no others.
    """
    choices = [setting for setting in settings if len(setting.candidates) > 1]
    found = [_portable_of([one for one in choices if one.clock == clock]) for clock in reversed(CLOCKS)]
    return tuple(one for one in found if one is not None)


def _portable_of(settings: Sequence[Setting]) -> Portable | None:
    """Return the portable candidate of settings of one clock; None where there is none."""
    own = [setting for setting in settings if not setting.oversubscribed] or settings
    names = [name for name in own[0].candidates if all(name in setting.candidates for setting in own)] if own else []
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
                crowded = ", more processes than cores" if setting.oversubscribed else ""
                factors[name], where[name] = float(loss.max()), f"{setting.place}, {size} B{crowded}"
    finite = {name: factor for name, factor in factors.items() if np.isfinite(factor)}
    if not finite:
        return None
    choice = min(finite, key=lambda name: finite[name])
    return Portable(
        choice=choice,
        factor=finite[choice],
        where=where[choice],
        platforms=len({setting.platform for setting in own}),
        factors=finite,
        left_out=len(settings) - len(own),
        clock=own[0].clock,
    )


_OWN = ("p", "msg_By")
"""Parameters that are looked at by themselves."""


def _require_alike(store: Store, filters: dict[str, Any]) -> None:
    """Raise DataError if what is to be compared was measured in several ways on one platform."""
    columns = ("platform", "datatype", "sync", "pattern", "fixed")
    rows = store.arrays(columns, filters, distinct=True)
    first: dict[str, dict[str, str]] = {}
    for platform, *values in zip(*(rows[name].tolist() for name in columns), strict=True):
        facts = dict(zip(columns[1:], values, strict=True))
        others = {name: value for name, value in json.loads(facts["fixed"] or "{}").items() if name not in _OWN}
        facts["fixed"] = canonical(others)[1:-1]
        known = first.setdefault(platform, facts)
        for name, one in known.items():
            if (other := facts[name]) != one:
                choice = f"fixed='*{other or one}*'" if name == "fixed" else f"{name}={other or one}"
                raise DataError(f"{platform} has times with {name} {one!r} and {other!r}; choose one, as in {choice}.")
