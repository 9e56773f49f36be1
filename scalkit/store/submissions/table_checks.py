"""Checks of the measurements in a submission: whole numbers, summaries that follow from them, plausible values."""

from __future__ import annotations

import itertools
import json
import math
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scalkit.measure.quarter_means import Cut
from scalkit.store.runs.columns import PATTERNS, SUITE_KEY, UNITS, names
from scalkit.store.runs.summaries import OUTLIER_RULES, derived_of
from scalkit.store.runs.texts import IDENTIFIERS, NAMES, name_problem, text_problem, texts_in
from scalkit.store.submissions.containers import Policy
from scalkit.store.submissions.record_checks import finite, no_constant, unique_keys

if TYPE_CHECKING:
    import pyarrow as pa

Problem = tuple[str, str]

_METRIC_UNITS = {"time": "ns", "object_memory": "By", "process_memory": "By", "operations": "op"}
_METRIC_UNITS |= {"master_share": "[ppm]", "idle_share": "[ppm]"}
_STATUSES = ("ok", "open", "converged", "capped", "budget", "timeout", "failed", "partial")
_WORDS: dict[str, tuple[str, ...]] = {
    "pattern": PATTERNS,
    "status": _STATUSES,
    "axis": ("lin", "log2"),
    "role": ("subject", "substitute", "litmus"),
    "statistic": ("med", "min", "q1", "mean"),
    "outlier_rule": OUTLIER_RULES,
}
_CLOSE = 1e-9
"""Relative; floating-point sums of another order differ by less."""

_LARGEST = 2**62
_TIMES = ("first", "pure", "work")
_LEAST = {
    **dict.fromkeys(("p", "processes_per_node", "n"), 1),
    **dict.fromkeys(("msg_By", "seq", "launch", "suite", "warmup", "rep_min", "rep_max", "allowed_stderr", "foreign_load"), 0),
}
_BARRIER = re.compile(r"(MPI_I?)?barrier(_init)?(\[.*\])?", re.I)
"""A barrier moves nothing; whoever measured several sizes may have filed one for each."""

_LOCAL_NS = 5.0
"""A cache line goes from core to core in no less than 20 ns; what takes less did not communicate. A collective operation of all
processes needs so much for each doubling of their number."""

_OF_A_NODE, _NETWORK_NS = 2048, 200.0
"""No node has more cores; and no network carries a message between nodes in less time."""

_OF_PING_PONG = 0.1, 0.5
"""Of half a round trip between two processes of the run: below the first share nothing can be, below the second it is odd."""

_OF_ALL = re.compile(r"(MPI_)?(barrier|allreduce|allgather|alltoall)", re.I)
"""Operations that end nowhere before all processes have begun."""

_LEAST_EQUAL, _LEAST_OF_TWO = 8, 50
"""So many equal repetitions, or ones of two different times, are no accident, if each has `_MANY_STEPS` of the clock."""

_MANY_STEPS = 1000
"""Steps of the clock: no measurement varies by less than a thousandth."""

_LEAST_CONSTANT, _BY_ACCIDENT = 3, 1e-4
"""So many constant measurements, so improbable, are no accident."""


def table_problems(record: Mapping[str, Any], table: pa.Table, policy: Policy) -> Iterator[Problem]:
    """Yield code and sentence of what is wrong with the measurements; at most one for each check."""
    if not len(table):
        yield "empty", "there is no measurement."
        return
    found = [*_texts(table, policy), *_words(table), *_numbers(table)]
    yield from found
    rows = table.to_pylist()
    lists = list(_lists(rows))
    yield from lists
    if not lists and not found:
        yield from derived_problems(table)
        yield from _settings(rows, record)
        yield from _plausible(rows, record, policy)


def _texts(table: pa.Table, policy: Policy) -> Iterator[Problem]:
    import pyarrow.compute as pc

    for name in names("string"):
        for text in pc.unique(table[name]).to_pylist():
            if text is None:
                continue
            problem = text_problem(text, 65_536 if name == "detail" else policy.max_text, is_free=False)
            if problem is None and name in NAMES:
                problem = name_problem(text, is_identifier=name in IDENTIFIERS)
            if problem is None and name == "op" and not text:
                problem = "op-empty", "is empty"
            if problem is None and name in ("fixed", "detail") and text:
                problem = _json_problem(text, policy.max_text, are_names=name == "fixed")
            if problem is not None:
                yield problem[0], f"{name} {text.encode('unicode_escape').decode()[:40]!r} {problem[1]}."
                break


def _json_problem(text: str, longest: int, *, are_names: bool) -> Problem | None:
    """Return what is wrong with a text that should be a JSON object, also with the texts in it.

    `are_names`: whether these are shown as names.
    """
    try:
        found = json.loads(text, parse_constant=no_constant, parse_float=finite, object_pairs_hook=unique_keys)
        if not isinstance(found, dict):
            raise ValueError
    except (ValueError, RecursionError):
        return "text-json", "is no JSON object"
    for _, inner in texts_in(found):
        problem = text_problem(inner, longest, is_free=not are_names) or (
            name_problem(inner, is_identifier=True) if are_names else None
        )
        if problem is not None:
            return problem
    return None


def _words(table: pa.Table) -> Iterator[Problem]:
    import pyarrow.compute as pc

    for name, known in _WORDS.items():
        for text in pc.unique(table[name]).to_pylist():
            if text not in known:
                yield f"{name}-unknown", f"{name} is {str(text)[:40]!r}; known are {', '.join(known)}."
                break
    for metric, unit in dict.fromkeys(zip(table["metric"].to_pylist(), table["unit"].to_pylist(), strict=True)):
        if metric in _METRIC_UNITS and unit != _METRIC_UNITS[metric]:
            yield "unit-wrong", f"the unit of {metric} is {str(unit)[:20]!r}; {_METRIC_UNITS[metric]} is needed."
        elif metric not in _METRIC_UNITS and unit not in UNITS:
            yield "unit-unknown", f"the unit {str(unit)[:20]!r} is unknown; {', '.join(UNITS)} are known."


def _numbers(table: pa.Table) -> Iterator[Problem]:
    for name in names("double"):
        values = np.asarray(table[name].drop_null().to_numpy(), dtype=np.float64)
        if not np.isfinite(values).all():
            yield "not-finite", f"{name} has a value that is NaN or infinite."
            return
    for name, least in _LEAST.items():
        values = table[name].drop_null().to_numpy()
        if len(values) and (values.min() < least or values.max() > _LARGEST):
            yield "out-of-range", f"{name} has a value below {least} or beyond 2^62."


def _lists(rows: list[dict[str, Any]]) -> Iterator[Problem]:
    for row in rows:
        n = len(row["raw"])
        where = f"{row['op']} at x = {row['x']}"
        if n != row["n"]:
            yield "count-mismatch", f"{where} says {row['n']} repetitions and has {n}."
        elif row["passes"] and (sum(row["passes"]) != n or min(row["passes"]) < 0):
            yield "count-mismatch", f"{where} has passes of {sum(row['passes'])} repetitions in all, and {n} of them."
        elif any(not 0 <= i < n for i in (*row["late_at"], *row["overrun_at"])):
            yield "index-wrong", f"{where} marks a repetition that is not there."
        elif (problem := _process_problem(row, n)) is not None:
            yield problem[0], f"{where} {problem[1]}."
        elif row["rep_min"] is not None and row["rep_max"] is not None and row["rep_min"] > row["rep_max"]:
            yield "out-of-range", f"{where} asks for {row['rep_min']} repetitions at least and {row['rep_max']} at most."
        elif row["unit"] == "ns" and min(row["raw"]) < 1:
            yield "not-positive", f"{where} has a time of {min(row['raw'])} ns."
        elif row["unit"] == "ns" and any(not 0 <= (t or 0) <= _LARGEST for name in _TIMES for t in _listed(row[name])):
            yield "not-positive", f"{where} has a time below 0 or beyond 2^62 beside its repetitions."
        elif max(map(abs, row["raw"])) > _LARGEST:
            yield "out-of-range", f"{where} has a value beyond 2^62."
        else:
            continue
        return


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _process_problem(row: Mapping[str, Any], n: int) -> Problem | None:
    """Return what is wrong with the times of single processes, and with what the mean leaves out."""
    root, medians = row["root_raw"], row["process_med"]
    at, each = row["process_at"] or (), row["process_raw"] or ()
    if (root and len(root) != n) or (medians and len(medians) != row["p"]) or len(each) != len(at) * row["p"]:
        return "count-mismatch", f"has times of processes that do not fit {n} repetitions and {row['p']} processes"
    if any(not 0 <= i < n for i in at):
        return "index-wrong", "has times of processes of a repetition that is not there"
    if any(not 0 <= t <= _LARGEST for t in (*(root or ()), *(medians or ()), *each)):
        return "out-of-range", "has a time of a process below 0 or beyond 2^62"
    if root and row["metric"] == "time" and any(own > time + 1 for own, time in zip(root, row["raw"], strict=True)):
        return "root-impossible", "has a root that took longer than all processes together"
    if row["cut"] is not None and Cut.of_text(row["cut"]) is None:
        return "cut-unknown", f"cuts the quarters {row['cut'][:20]!r}; known are such as '' and '1,4'"
    return None


def derived_problems(table: pa.Table) -> Iterator[Problem]:
    """Yield what a file says of its measurements and does not follow from their repetitions, at most once."""
    for name, computed in derived_of(table).items():
        said = table[name].to_pylist()
        if name in names("double"):
            left, right = (np.array(one, dtype=np.float64) for one in (said, computed))
            wrong = ~(np.isclose(left, right, rtol=_CLOSE, atol=0) | (np.isnan(left) & np.isnan(right)))
        else:
            wrong = np.array([one != other for one, other in zip(said, computed, strict=True)])
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            where = f"{table['op'][at].as_py()} at x = {table['x'][at].as_py()}"
            yield "summary-mismatch", f"{name} of {where} is {said[at]}; its repetitions give {computed[at]}."
            return


def _settings(rows: list[dict[str, Any]], record: Mapping[str, Any]) -> Iterator[Problem]:
    measured = record["measured"]
    launches = measured["launches"]
    room = measured.get("nodes", 0) * measured.get("processes_per_node", 0)
    suites: dict[int, tuple[Any, ...]] = {}
    seen: set[tuple[Any, ...]] = set()
    for row in rows:
        key = tuple(row[name] for name in SUITE_KEY)
        if row["launch"] >= len(launches) or launches[row["launch"]]["p"] != row["p"]:
            yield ("launch-wrong", f"{row['op']} at x = {row['x']} is of launch {row['launch']}, unknown to the record.")
        elif room and row["p"] > room:
            yield "processes-beyond", f"{row['p']} processes do not fit on the {room} that the record's nodes have."
        elif row["x_name"] in ("p", "msg_By") and row["x"] != row[row["x_name"]]:
            yield "x-mismatch", f"x of {row['op']} is {row['x']}, and its {row['x_name']} {row[row['x_name']]}."
        elif (lie := _fixed_lie(row)) is not None:
            yield "fixed-mismatch", f"{row['op']} says that {lie} is fixed, and was measured with {row[lie]}."
        elif suites.setdefault(row["suite"], key) != key:
            yield "suite-mixed", f"suite {row['suite']} has measurements of different kinds."
        elif (*key, row["x"], row["launch"]) in seen:
            yield "measurement-twice", f"{row['op']} at x = {row['x']} stands there twice."
        else:
            seen.add((*key, row["x"], row["launch"]))
            continue
        return


def _fixed_lie(row: Mapping[str, Any]) -> str | None:
    """Return the parameter that a suite says to be fixed at another value than the measurement has."""
    said = json.loads(row["fixed"] or "{}")
    return next((name for name in ("p", "msg_By") if said.get(name, row[name]) != row[name]), None)


def _plausible(rows: list[dict[str, Any]], record: Mapping[str, Any], policy: Policy) -> Iterator[Problem]:
    declared = record["measured"].get("machine_desc", {}).get("link_By_per_s")
    limit = min(policy.link_bytes_per_s, 2 * declared) if declared else policy.link_bytes_per_s
    computed = record["measured"]["clock"] != "real"
    timed = [row for row in rows if row["unit"] == "ns"]
    for row in timed:
        where, moves = f"{row['op']} with {row['msg_By']} B on {row['p']} processes", row["p"] > 1
        moves = moves and row["pattern"] != "kernel" and not _BARRIER.fullmatch(row["op"])
        middle = statistics.median(row["raw"])
        if moves and row["msg_By"] / (middle * 1e-9) > limit:
            rate = row["msg_By"] / middle
            yield ("bandwidth-impossible", f"{where} took {middle:g} ns: {rate:.3g} GB/s, more than {limit / 1e9:g} GB/s.")
            return
    if not computed:
        yield from _too_fast(timed, 0)


def _too_fast(rows: list[dict[str, Any]], place: int) -> Iterator[Problem]:
    """Yield a communication that is faster than cores can talk to each other, or than a ping-pong of the same run."""
    trips = {row["msg_By"]: min(row["raw"]) / 2 for row in rows if row["op"] == "Ping_pong"}
    for row in rows:
        talks = row["p"] > 1 and row["pattern"] in ("collective", "point-to-point")
        talks = talks and (place == 0 or _OF_ALL.match(row["op"]) is not None)  # others may return early
        if not talks or row["op"] == "Ping_pong":
            continue
        trip = max((trips[size] for size in trips if size <= row["msg_By"]), default=0.0)
        rounds = math.ceil(math.log2(row["p"])) if _OF_ALL.match(row["op"]) else 1
        least = _LOCAL_NS * rounds
        bound = f"cores need {least:g} ns or more"
        if rounds > 1 and row["p"] > _OF_A_NODE and least < _NETWORK_NS:
            least, bound = _NETWORK_NS, f"no node has so many cores, and a network needs {_NETWORK_NS:g} ns or more"
        if trip * _OF_PING_PONG[place] > least:
            least, bound = trip * _OF_PING_PONG[place], f"a message of this run takes {trip:g} ns"
        middle = statistics.median(row["raw"])
        if middle < least:
            text = f"{row['op']} with {row['msg_By']} B on {row['p']} processes took {middle:g} ns; {bound}."
            yield ("latency-impossible", "latency-odd")[place], text
            return


def table_flags(record: Mapping[str, Any], table: pa.Table) -> Iterator[Problem]:
    """Yield what is implausible, and could be right after all."""
    if record["measured"]["clock"] != "real":
        return
    wanted = ["op", "x", "p", "msg_By", "pattern", "metric", "unit", "raw", "med"]
    rows = [row for row in table.select(wanted).to_pylist() if row["unit"] == "ns"]
    yield from _too_fast(rows, 1)
    clock = _Clock.of(record, rows)
    stopped = next(itertools.chain(clock.stopped(), clock.all_constant()), None)
    if stopped is not None:
        yield "clock-stopped", stopped
    yield from (("clock-coarse", text) for text in clock.coarse())


@dataclass(frozen=True)
class _Clock:
    """What the times of a run tell of its clock. `rows`: measurements. `told_ns`: its step as the run tells it, or None.

    `step_ns`: what all times are multiples of, or the least by which times of a measurement differ, if that is more.
    """

    rows: Sequence[Mapping[str, Any]]
    told_ns: float | None
    step_ns: float

    @classmethod
    def of(cls, record: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> _Clock:
        """Return the clock of a run. That it has longer steps than its times have is not believed."""
        told = record["measured"].get("timer", {}).get("resolution_ns")
        common = math.gcd(*(time for row in rows for time in row["raw"]))
        several = [np.unique(row["raw"]) for row in rows]
        least = min((int(np.diff(times).min()) for times in several if len(times) > 1), default=0)
        step = max(common, least, 1)
        return cls(rows, told if isinstance(told, int | float) and 0 < told <= step else None, step)

    def stopped(self) -> Iterator[str]:
        """Yield a sentence for the first measurement whose repetitions are all the same, and long for the clock."""
        for row in self.rows:
            raw = row["raw"]
            if len(raw) >= _LEAST_EQUAL and min(raw) == max(raw) >= _MANY_STEPS * self.step_ns:
                yield f"all {len(raw)} repetitions of {row['op']} at x = {row['x']} took {raw[0]} ns to the tick."
                return

    def all_constant(self) -> Iterator[str]:
        """Yield a sentence if all measurements are constant, and multiples of much more than the step that the run tells.

        A clock with such long steps would show two different times in most of them: where the begin lies within a step is
        accident, so that n repetitions are the same with a probability of 2/(n+1).
        """
        numbers = [len(row["raw"]) for row in self.rows if len(row["raw"]) >= _LEAST_EQUAL]
        constant = all(min(row["raw"]) == max(row["raw"]) for row in self.rows if len(row["raw"]) >= _LEAST_EQUAL)
        by_accident = math.prod(2 / (n + 1) for n in numbers)
        if self.told_ns is None or self.step_ns < _MANY_STEPS * self.told_ns:
            return
        if len(numbers) >= _LEAST_CONSTANT and constant and by_accident <= _BY_ACCIDENT:
            yield (
                f"the repetitions of all {len(numbers)} measurements are constant, and multiples of {self.step_ns:g} ns, "
                f"although the clock has steps of {self.told_ns:g} ns."
            )

    def coarse(self) -> Iterator[str]:
        """Yield a sentence for the first measurement with two different times only, which are long for the clock."""
        for row in self.rows:
            raw = row["raw"]
            if len(raw) >= _LEAST_OF_TWO and len(set(raw)) == 2 and min(raw) >= _MANY_STEPS * self.step_ns:
                yield f"{row['op']} at x = {row['x']} has two different times in {len(raw)} repetitions."
                return
