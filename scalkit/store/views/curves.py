"""Curves: what stands for a choice's measurements at every point, from each of its runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from scalkit.errors import DataError, UsageError
from scalkit.stats.samples import Floats, Integers
from scalkit.store.runs.columns import BASE_UNITS, STATISTICS, UNITS
from scalkit.store.runs.summaries import ROOT_MEDIAN

if TYPE_CHECKING:
    from scalkit.store.store import Store


def choice_of(given: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return the suites that are one curve, as filters: ``"MPI_Gather"``, or ``"op=MPI_Gather,platform=daint*,p=16|32"``.

    Filters are columns of the store's ``points`` or ``runs``, each with a value, a text with ``*``, or a list of them; ``run`` is
    the beginning of an id. Raises UsageError if the text cannot be read.
    """
    if isinstance(given, Mapping):
        return dict(given)
    if not isinstance(given, str):
        raise UsageError(f"a choice is {given!r:.60}; a text such as 'op=MPI_Gather,machine=vm', or a mapping, is needed.")
    if "=" not in given:
        return {"op": _values(given.strip())}
    filters: dict[str, Any] = {}
    for part in given.split(","):
        name, equals, value = part.partition("=")
        if not equals and filters:  # a comma within a value, as in a platform's name
            last = next(reversed(filters))
            filters[last] = f"{filters[last]},{part}"
        elif not equals or not name.strip():
            raise UsageError(f"the choice {given!r:.60} cannot be read at {part!r}; write name=value between commas.")
        else:
            filters[name.strip()] = value
    return {name: _values(value.strip()) for name, value in filters.items()}


def _shown(choice: Mapping[str, Any]) -> str:
    """Return a choice as a person would write it."""
    said = {
        name: "|".join(map(str, value)) if isinstance(value, list | tuple | set | frozenset) else value
        for name, value in choice.items()
        if name != "run_id" or isinstance(value, str)
    }
    return ",".join(f"{name}={value}" for name, value in said.items())


def _values(text: str) -> Any:
    """Return a value, or the list of those between ``|``."""
    return [value_of(part.strip()) for part in text.split("|")] if "|" in text else value_of(text)


def value_of(text: str) -> str | int | bool:
    """Return what a user means by a text: a truth, a number, or the text, such as an id that begins with 0.

    >>> value_of("true"), value_of("32"), value_of("0123"), value_of("juropa*")
    (True, 32, '0123', 'juropa*')
    """
    if text in ("true", "false"):
        return text == "true"
    is_number = text.isascii() and text.isdigit() and len(text) < 100 and (text == "0" or text[0] != "0")
    return int(text) if is_number else text


@lru_cache(maxsize=1024)
def fixed_words(fixed: str) -> str:
    """Return what a suite says to be fixed, as a person writes it.

    >>> fixed_words('{"msg_By":8}'), fixed_words('{"p":32}'), fixed_words("")
    ('8 B', 'p = 32', '')
    """
    try:
        found = json.loads(fixed) if fixed else {}
    except ValueError:
        return fixed
    if not isinstance(found, dict):
        return fixed
    shown = {name: value for name, value in found.items() if (name, value) != ("msg_By", 0)}
    return ", ".join(f"{value} B" if name == "msg_By" else f"{name} = {value}" for name, value in shown.items())


MOST = 8
"""So many curves a choice becomes at most."""

_COLUMNS: tuple[str, ...] = (
    *("run_id", "platform", "machine", "op", "metric", "unit", "x_name", "x", "p", "msg_By", "fixed"),
    *("clock", "oversubscribed"),
)
PROCESSES, ROOT = "processes", "root"
"""What may be compared beside the statistics of all repetitions: each process's median, over the processes; root's alone."""

_ALIKE = ("datatype", "sync", "pattern")


@dataclass(frozen=True, eq=False)
class Curve:
    """One graph of a joint plot.

    `label`, `op`, `platform`, `metric`: `op` and `platform` name several if there are several.
    `x_name`: what it is over: ``"p"``, ``"msg_By"``, or a parameter of one's own. `x` of shape (points,): ascending.
    `values`, (ndarray of shape (points, runs), in `unit`): what stands for the measurement in each run; NaN where a run has
    none. `unit`: ``"s"``, ``"B"``, ``"op"`` or ``"1"``. `run_ids`: of the columns.
    `fixed`: what is the same at all points, as ``"p = 32"``; empty if nothing is.
    `clock`, {"real", "virtual", "simulated"}: that its times were read from. `oversubscribed`: whether any of it is.
    `kind`: data type, synchronisation and pattern; empty texts where it has several, on several platforms.
    `n_platforms`: how many platforms the runs are of.
    `runs`: in which runs, where the choice is of some.
    """

    label: str
    op: str
    platform: str
    metric: str
    x_name: str
    x: Integers
    values: Floats
    unit: str
    run_ids: tuple[str, ...]
    fixed: str
    clock: str
    oversubscribed: bool
    kind: tuple[str, ...] = ()
    n_platforms: int = 1
    runs: str = ""

    @property
    def y(self) -> Floats:
        """The median over the runs at each point, in `unit`."""
        median: Floats = np.nanmedian(self.values, axis=1)
        return median

    @property
    def spread(self) -> tuple[Floats, Floats]:
        """The smallest and the largest run at each point, in `unit`."""
        return np.nanmin(self.values, axis=1), np.nanmax(self.values, axis=1)


def curves_of(store: Store, choice: Mapping[str, Any], statistic: str = "med") -> list[Curve]:
    """Return the curve of a choice, from the index alone; several, where it leaves open what is the same along a curve.

    Over sizes there is a curve for each number of processes, over processes one for each size, over a parameter of one's own
    one for each of what is fixed.

    `statistic`: what stands for the repetitions of a measurement: ``med``, ``q1``, ``mean``, ``min``, ``cut_mean``, ...; ``root``
    is the median of what root alone needed, ``processes`` each process's median, over the processes, at one setting.
    Raises DataError if nothing is chosen, or what cannot be one curve: of several metrics, over several parameters, or of an
    operation that a platform has with several data types, patterns or kinds of synchronisation. Also if it would be more than
    `MOST`, or times of processes were not kept; UsageError if the statistic or a filter is unknown.
    """
    if statistic not in (*STATISTICS, ROOT, PROCESSES):
        raise UsageError(f"the statistic {statistic!r:.40} is unknown; choose from {', '.join((*STATISTICS, ROOT, PROCESSES))}.")
    is_own = statistic in (ROOT, PROCESSES)
    column = ROOT_MEDIAN if is_own else statistic
    found = store.arrays((*_COLUMNS, "suite", "launch", column), choice)
    shown = _shown(choice)
    if not len(found["x"]):
        raise DataError(f"nothing in the store fits {shown!r}; 'scalkit store runs --suites' lists what is there.")
    rows = {name: np.asarray(found[name]) for name in (*_COLUMNS, "suite", "launch")}
    _single(rows, "metric", shown)
    unit = _single(rows, "unit", shown)
    rows["value"] = np.ma.filled(found[column].astype(np.float64), np.nan) * UNITS[unit]
    if is_own:
        rows = _taken(rows, np.isfinite(rows["value"]))
        if not len(rows["x"]):
            raise DataError(
                f"the times of root and of the processes of {shown!r} were not kept; set per_process in a campaign file."
            )
    kind = _kind(store, choice, shown)
    if statistic == PROCESSES:
        return [_curve(choice, kind, "process", *_of_processes(store, rows, shown))]
    x_name, parts = _parts(rows, shown)
    return [_curve(choice, kind, x_name, part, fixed) for fixed, part in parts]


def _of_processes(store: Store, rows: dict[str, Any], shown: str) -> tuple[dict[str, Any], str]:
    """Return a row for each process of each run, and what is fixed."""
    settings = sorted(set(zip(rows["p"].tolist(), rows["msg_By"].tolist(), strict=True)))
    if len(settings) > 1:
        (p, size), n = settings[0], len(settings)
        raise DataError(f"{shown!r} has {n} settings; times of processes are of one: add p={p},msg_By={size} to the choice.")
    places: list[int] = []
    values: list[int] = []
    keys = list(zip(*(rows[name].tolist() for name in ("suite", "x", "launch")), strict=True))
    for run_id in dict.fromkeys(rows["run_id"].tolist()):
        table = store.table(run_id).select(["suite", "x", "launch", "process_med"]).to_pylist()
        medians = {(row["suite"], row["x"], row["launch"]): row["process_med"] for row in table}
        for place in np.flatnonzero(rows["run_id"] == run_id).tolist():
            of_each = medians.get(keys[place]) or []
            places += [place] * len(of_each)
            values += of_each
    each = _taken(rows, np.array(places, dtype=np.int64))
    each["value"] = np.array(values, dtype=np.float64) * UNITS[_single(rows, "unit", shown)]
    each["x"] = np.concatenate([np.arange(n) for n in np.unique(places, return_counts=True)[1]])
    p, size = settings[0]
    return each, f"p = {p}" + (f", {size} B" if size else "")


def _curve(choice: Mapping[str, Any], kind: tuple[str, ...], x_name: str, rows: dict[str, Any], fixed: str) -> Curve:
    points, at = np.unique(rows["x"], return_inverse=True)
    ids, of = np.unique(rows["run_id"].astype(str), return_inverse=True)
    values = np.full((len(points), len(ids)), np.nan)
    if len({*zip(at.tolist(), of.tolist(), strict=True)}) < len(at):
        ops = np.unique(rows["op"].astype(str)).tolist()
        what = f"{len(ops)} operations, such as {ops[0]} and {ops[1]}" if len(ops) > 1 else "several measurements"
        raise DataError(f"{_shown(choice)!r} has {what} at one {x_name} of one run; choose more narrowly, as with one op.")
    values[at, of] = rows["value"]
    op, platform = _joined(rows, "op", ", "), _joined(rows, "platform", "; ")
    platforms = np.unique(rows["platform"].astype(str)).tolist()
    n_platforms = len(platforms)
    clocks = np.unique(rows["clock"].astype(str)).tolist()
    if len(clocks) > 1:
        raise DataError(
            f"{_shown(choice)!r} has times of several clocks, {' and '.join(clocks)}, which are not taken together; choose one, "
            f"as in clock={clocks[0]}."
        )
    if clocks == ["virtual"] and n_platforms > 1:  # their machines may differ
        raise DataError(
            f"{_shown(choice)!r} has times of {n_platforms} platforms in virtual time, {' and '.join(map(repr, platforms[:2]))}; "
            "choose one, as with platform=..."
        )
    one_run = len(ids) == 1 and ("run" in choice or isinstance(choice.get("run_id"), str))
    return Curve(
        label=f"{op} on {platform if n_platforms == 1 else f'{n_platforms} platforms'}",
        op=op,
        platform=platform,
        metric=_single(rows, "metric", _shown(choice)),
        x_name=x_name,
        x=points.astype(np.int64),
        values=values,
        unit=BASE_UNITS[_single(rows, "unit", _shown(choice))],
        run_ids=tuple(ids.tolist()),
        fixed=fixed,
        clock=clocks[0],
        oversubscribed=bool(rows["oversubscribed"].any()),
        kind=kind,
        n_platforms=n_platforms,
        runs=f"run {ids[0][:8]}" if one_run else "",
    )


def _kind(store: Store, choice: Mapping[str, Any], shown: str) -> tuple[str, ...]:
    """Return what `Curve.kind` is; refuse measurements of one operation on one platform that tell of different things."""
    kinds = store.arrays(("platform", "op", *_ALIKE), choice, distinct=True)
    seen: dict[tuple[str, str], tuple[str, ...]] = {}
    for platform, op, *values in zip(*(kinds[name].tolist() for name in ("platform", "op", *_ALIKE)), strict=True):
        first = seen.setdefault((platform, op), tuple(values))
        for name, one, other in zip(_ALIKE, first, values, strict=True):
            if one != other:
                both = " and ".join(repr(value) for value in sorted((one, other)))
                raise DataError(f"{shown!r} has {op} with {name} {both} on {platform}; choose one, as in {name}={one or other}.")
    columns = zip(*seen.values(), strict=True)
    return tuple(values[0] if len(set(values)) == 1 else "" for values in columns)


def _parts(rows: dict[str, Any], shown: str) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """Return what the measurements are over, and for each curve what is fixed, in words, and its rows."""
    own = set(np.unique(rows["x_name"].astype(str)).tolist())
    if own - {"p", "msg_By"}:
        return _single(rows, "x_name", shown), _of_suites(rows, shown)
    p, size = (np.unique(rows[name]).tolist() for name in ("p", "msg_By"))
    over_size = len(size) > 1 and (len(p) == 1 or own == {"msg_By"} or (own != {"p"} and len(p) <= len(size)))
    x_name, name, values = ("msg_By", "p", p) if over_size else ("p", "msg_By", size)
    if len(values) > MOST:
        said = f"{_listed(p, 'number of processes', 'numbers of processes')} and {_listed(size, 'size', 'sizes')}"
        raise DataError(
            f"{shown!r} has {said}; choose up to {MOST}, as in {name}={values[0]} or {name}={'|'.join(map(str, values[:2]))}."
        )
    whole = {**rows, "x": rows[x_name]}
    words = {value: f"p = {value}" if name == "p" else f"{value} B" if value else "" for value in values}
    return x_name, [(words[value], _taken(whole, rows[name] == value)) for value in values]


def _of_suites(rows: dict[str, Any], shown: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the rows of a parameter of one's own by what is fixed."""
    texts = list(dict.fromkeys(rows["fixed"].astype(str).tolist()))
    if len(texts) > MOST:
        some = " or ".join(repr(fixed_words(text)) for text in texts[:2])
        raise DataError(f"{shown!r} has {len(texts)} suites, such as {some}; choose one p or one msg_By.")
    return [(fixed_words(text), _taken(rows, rows["fixed"] == text)) for text in texts]


def _taken(rows: dict[str, Any], wanted: Any) -> dict[str, Any]:
    return {name: column[wanted] for name, column in rows.items()}


def _listed(values: list[int], one: str, several: str) -> str:
    if len(values) == 1:
        return f"1 {one}"
    return f"{len(values)} {several} ({', '.join(map(str, values[:12]))}{', ...' if len(values) > 12 else ''})"


def _single(rows: dict[str, Any], name: str, shown: str) -> str:
    values = np.unique(rows[name].astype(str)).tolist()
    if len(values) > 1:
        one = "time" if "time" in values else values[0]
        raise DataError(f"{shown!r} has the {name}s {', '.join(values)}; choose one, as in {name}={one}.")
    return str(values[0])


def _joined(rows: dict[str, Any], name: str, between: str) -> str:
    values = np.unique(rows[name].astype(str)).tolist()
    return between.join(values[:3]) + (f" and {len(values) - 3} more" if len(values) > 3 else "")
