"""Checks of the measurements in a submission: whole numbers, summaries that follow from them, plausible values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from scalkit.measure.quarter_means import Cut
from scalkit.store.runs.columns import PATTERNS, SUITE_KEY, UNITS, names
from scalkit.store.runs.summaries import OUTLIER_RULES, kept_of, raw_hash, standard_errors, summaries
from scalkit.store.runs.texts import NAMES, name_problem, text_problem
from scalkit.store.submissions.policy import Policy

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
_DISTINCTIVE = (8, 4)
"""Repetitions, and different values among them, from which on two equal measurements are no accident."""


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
        yield from _derived(rows, table)
        settings = list(_settings(rows, record))
        yield from settings
        yield from _plausible(rows, record, policy)
        yield from () if settings else _repeated(rows, record)


def _texts(table: pa.Table, policy: Policy) -> Iterator[Problem]:
    import pyarrow.compute as pc

    for name in names("string"):
        for text in pc.unique(table[name]).to_pylist():
            if text is None:
                continue
            problem = text_problem(text, 65_536 if name == "detail" else policy.max_text, is_free=False)
            if problem is None and name in NAMES:
                problem = name_problem(text)
            if problem is None and name == "op" and not text:
                problem = "op-empty", "is empty"
            if problem is None and name in ("fixed", "detail") and text:
                problem = _json_problem(text)
            if problem is not None:
                yield problem[0], f"{name} {text.encode('unicode_escape').decode()[:40]!r} {problem[1]}."
                break


def _json_problem(text: str) -> Problem | None:
    try:
        if not isinstance(json.loads(text), dict):
            raise ValueError
    except (ValueError, RecursionError):
        return "text-json", "is no JSON object"
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
    for name, least in (
        ("p", 1),
        ("msg_By", 0),
        ("seq", 0),
        ("launch", 0),
        ("suite", 0),
        ("processes_per_node", 1),
        ("n", 1),
    ):
        values = np.asarray(table[name].to_numpy(), dtype=np.int64)
        if values.min() < least or values.max() > _LARGEST:
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
        elif row["metric"] == "time" and min(row["raw"]) < 1:
            yield "not-positive", f"{where} has a time of {min(row['raw'])} ns."
        elif max(map(abs, row["raw"])) > _LARGEST:
            yield "out-of-range", f"{where} has a value beyond 2^62."
        else:
            continue
        return


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
    if row["cut"] is not None and Cut.of_text(row["cut"]) is None:
        return "cut-unknown", f"cuts the quarters {row['cut'][:20]!r}; known are such as '' and '1,4'"
    return None


def _derived(rows: list[dict[str, Any]], table: pa.Table) -> Iterator[Problem]:
    kept = []
    for row in rows:
        raw = np.asarray(row["raw"], dtype=np.int64)
        some, rule = kept_of(raw, row["late_at"], row["overrun_at"])
        kept.append(some)
        if (row["n_kept"], row["outlier_rule"]) != (len(some), rule):
            yield (
                "summary-mismatch",
                f"{row['op']} at x = {row['x']} says {row['n_kept']} repetitions count, {len(some)} do.",
            )
            return
        if row["raw_hash"] != raw_hash(raw):
            yield "summary-mismatch", f"raw_hash of {row['op']} at x = {row['x']} does not follow from the repetitions."
            return
    computed_all = {
        **summaries(kept, [row["statistic"] for row in rows]),
        "stderr": standard_errors(kept, [row["cut"] for row in rows]),
    }
    for name, right in computed_all.items():
        values = np.array([np.nan if v is None else v for v in table[name].to_pylist()], dtype=np.float64)
        wrong = ~(np.isclose(values, right, rtol=_CLOSE, atol=0) | (np.isnan(values) & np.isnan(right)))
        if wrong.any():
            row = rows[int(np.flatnonzero(wrong)[0])]
            shown, computed = values[wrong][0], right[wrong][0]
            yield (
                "summary-mismatch",
                f"{name} of {row['op']} at x = {row['x']} is {shown:g}; its repetitions give {computed:g}.",
            )


def _settings(rows: list[dict[str, Any]], record: Mapping[str, Any]) -> Iterator[Problem]:
    measured = record["measured"]
    launches = measured["launches"]
    room = measured.get("nodes", 0) * measured.get("processes_per_node", 0)
    suites: dict[int, tuple[Any, ...]] = {}
    seen: set[tuple[Any, ...]] = set()
    for row in rows:
        key = tuple(row[name] for name in SUITE_KEY)
        if row["launch"] >= len(launches) or launches[row["launch"]]["p"] != row["p"]:
            yield (
                "launch-wrong",
                f"{row['op']} at x = {row['x']} is of launch {row['launch']}, unknown to the record.",
            )
        elif room and row["p"] > room:
            yield "processes-beyond", f"{row['p']} processes do not fit on the {room} that the record's nodes have."
        elif row["x_name"] in ("p", "msg_By") and row["x"] != row[row["x_name"]]:
            yield "x-mismatch", f"x of {row['op']} is {row['x']}, and its {row['x_name']} {row[row['x_name']]}."
        elif suites.setdefault(row["suite"], key) != key:
            yield "suite-mixed", f"suite {row['suite']} has measurements of different kinds."
        elif (*key, row["x"], row["launch"]) in seen:
            yield "measurement-twice", f"{row['op']} at x = {row['x']} stands there twice."
        else:
            seen.add((*key, row["x"], row["launch"]))
            continue
        return


def _plausible(rows: list[dict[str, Any]], record: Mapping[str, Any], policy: Policy) -> Iterator[Problem]:
    declared = record["measured"].get("machine_desc", {}).get("link_By_per_s")
    limit = min(policy.link_bytes_per_s, 2 * declared) if declared else policy.link_bytes_per_s
    for row in rows:
        moves = row["metric"] == "time" and row["p"] > 1 and "barrier" not in row["op"].lower()
        if moves and row["pattern"] != "kernel" and row["msg_By"] / (row["med"] * 1e-9) > limit:
            rate = row["msg_By"] / row["med"]
            yield (
                "bandwidth-impossible",
                f"{row['op']} with {row['msg_By']} B on {row['p']} processes took {row['med']:g} ns: {rate:.3g} GB/s, more than "
                f"{limit / 1e9:g} GB/s.",
            )
            return


def _repeated(rows: list[dict[str, Any]], record: Mapping[str, Any]) -> Iterator[Problem]:
    seen: dict[int, dict[str, Any]] = {}
    for row in rows:
        if _is_distinctive(row, record):
            other = seen.setdefault(row["raw_hash"], row)
            if other is not row:
                yield (
                    "raw-duplicated",
                    f"{row['op']} at x = {row['x']} has the very repetitions of {other['op']} at x = {other['x']}.",
                )
                return


def _is_distinctive(row: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Return whether equal repetitions elsewhere would be no accident: simulators and counters repeat, clocks do not."""
    n, different = _DISTINCTIVE
    is_timed = row["metric"] == "time" and not record["measured"].get("simulated")
    return is_timed and len(row["raw"]) >= n and len(set(row["raw"])) >= different


def distinctive(record: Mapping[str, Any], table: pa.Table) -> list[int]:
    """Return the hashes of the measurements that no other run has by accident."""
    columns = table.select(["metric", "raw", "raw_hash"]).to_pylist()
    return [row["raw_hash"] for row in columns if _is_distinctive(row, record)]


def table_warnings(record: Mapping[str, Any], table: pa.Table) -> Iterator[Problem]:
    """Yield what is odd and no reason to refuse."""
    resolution = record["measured"].get("clock", {}).get("resolution_ns", 1)
    for row in table.select(["op", "x", "metric", "raw", "med"]).to_pylist():
        if row["metric"] == "time" and len(row["raw"]) >= 50 and len(set(row["raw"])) <= 2 and row["med"] > 100:
            yield (
                "clock-coarse",
                f"{row['op']} at x = {row['x']} has two different times; the clock's step is {resolution} ns.",
            )
            return
