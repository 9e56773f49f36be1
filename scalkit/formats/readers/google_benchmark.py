"""The JSON that Google Benchmark writes (``--benchmark_out=FILE`` or ``--benchmark_format=json``)."""

import re
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from scalkit.errors import DataError
from scalkit.formats.readers.observed import RANGE, Found, Observed, Setting, duration_of, facts_in, identifier, records_in

_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_WALL = ("real_time", "manual_time")
_FLAGS = (*_WALL, "process_time")
_SETTINGS_OF_THE_RUN = ("iterations", "repeats", "min_time", "min_warmup_time")
_AGGREGATES = ("median", "mean")
_MUCH = 1 / 5  # of the run time without a CPU is worth a metric of its own
_OLD_AGGREGATE = re.compile(r"_(mean|median|stddev|cv|BigO|RMS)$")
_ARGUMENT = re.compile(r"(?:(?P<name>[^/:]+):)?(?P<value>-?\d+(?:\.\d+)?)s?")

Record = Mapping[str, Any]


def is_google_benchmark(content: Mapping[str, Any]) -> bool:
    """Return whether a JSON object has the shape of Google Benchmark's output."""
    return isinstance(content.get("context"), dict) and isinstance(content.get("benchmarks"), list)


def from_google_benchmark(content: Mapping[str, Any], where: str) -> Found:
    """Return the run times in Google Benchmark's JSON.

    The time is that which Google Benchmark itself judges by: CPU time, but real time where the name says ``real_time``,
    ``manual_time`` or several threads. Repetitions become repetitions; where a file has aggregates only, the median stands
    for them. The arguments of ``BM_f/1024`` are called ``n`` (``n1``, ``n2`` where there are several), those of
    ``BM_f/size:1024`` as they say.

    `content`: the parsed file.
    `where`: its name, for messages.
    Raises DataError if a record is malformed.

    Source: Google Benchmark, user guide, "Output Formats" (docs/references.md).
    """
    context = content["context"]
    records = records_in(content["benchmarks"], where, "run_name")
    notes: dict[str, None] = {}
    timed: list[Observed] = []
    for name, group in _groups(records).items():
        function, settings, flags = _parsed(name)
        failed = [one for one in group if one.get("error_occurred") or one.get("skipped")]
        if failed:
            why = failed[0].get("error_message") or failed[0].get("skip_message") or "no reason given"
            notes[f"{function}: left out where it reported an error: {str(why)[:200]}"] = None
            continue
        kept, summary = _kept(group)
        if summary:
            notes[f"{function}: of the repetitions only the {summary} is in the file"] = None
        key = _clock(settings, flags)
        seconds = tuple(duration_of(one.get(key), _unit(one, name, where), f"{where}: {key} of {name!r}") for one in kept)
        timed += [Observed(function, settings, seconds)] if seconds else []
        if seconds and key == "real_time" and settings.get("threads", 1.0) == 1 and "manual_time" not in flags:
            timed += _waiting(function, settings, kept, name, where)
    if str(context.get("cpu_scaling_enabled", False)).lower() == "true":
        notes["the frequency of the CPU was not fixed while these run times were measured"] = None
    attrs = {
        "title": f"what Google Benchmark measured, {context.get('executable', where)}",
        "measured_on": str(context.get("host_name", "")),
        "started": str(context.get("date", "")),
    }
    if str(context.get("library_build_type", "")) == "debug":
        notes["Google Benchmark itself was built for debugging, which makes short run times longer"] = None
    if (load := _foreign_load(context)) is not None:
        busy = f"{context['load_avg'][0]:.3g} programs shared {context['num_cpus']} CPUs when Google Benchmark began"
        notes[busy] = None
        timed = _beside(timed, load)
    version = str(context.get("library_version", "")).lstrip("v")[:20]
    return Found(
        f"Google Benchmark JSON {version}".strip(),
        timed,
        first=(),
        attrs=attrs,
        metadata=facts_in(context),
        notes=list(notes),
        advice=RANGE,
    )


def _waiting(function: str, settings: Mapping[str, Setting], kept: Sequence[Record], name: str, where: str) -> list[Observed]:
    """Return the CPU time and the share of the run time that was spent without a CPU, where that is much."""
    real, cpu = (
        [duration_of(one.get(key), _unit(one, name, where), f"{where}: {key} of {name!r}") for one in kept]
        for key in ("real_time", "cpu_time")
    )
    share = 1 - statistics.median(c / r if r > 0 else 1.0 for r, c in zip(real, cpu, strict=True))
    if share < _MUCH:
        return []
    return [
        Observed(function, settings, tuple(cpu), metric="cpu_time"),
        Observed(function, settings, (share,), metric="waiting", unit="1", role="detail"),
    ]


def _foreign_load(context: Record) -> float | None:
    """Return the share of a CPU that the others left no program when this one began, if more were running than CPUs."""
    load, cpus = context.get("load_avg"), context.get("num_cpus")
    if not (isinstance(load, list) and load and isinstance(load[0], int | float) and isinstance(cpus, int) and cpus > 0):
        return None
    return 1 - cpus / load[0] if load[0] > cpus else None


def _beside(timed: Sequence[Observed], load: float) -> list[Observed]:
    """Return values with the foreign load beside those that waited for it."""
    waited = [one for one in timed if one.metric == "waiting"]
    beside: dict[str, Any] = {"metric": "foreign_load", "unit": "1", "role": "detail"}
    return [*timed, *(Observed(one.function, one.settings, (load,), **beside) for one in waited)]


def _groups(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Return the records by the name of their benchmark, without the suffix of an aggregate."""
    groups: dict[str, list[Record]] = {}
    for one in records:
        name = one.get("run_name")
        if not isinstance(name, str):
            name = one["name"] if _aggregate(one) is None else _OLD_AGGREGATE.sub("", one["name"])
        if _aggregate(one) not in ("BigO", "RMS"):
            groups.setdefault(name, []).append(one)
    return groups


def _aggregate(one: Record) -> str | None:
    """Return what a record sums up, None for a repetition; files before 1.5 say it in the name alone."""
    if "run_type" in one:
        return str(one.get("aggregate_name", "aggregate")) if one["run_type"] == "aggregate" else None
    match = _OLD_AGGREGATE.search(str(one.get("name", "")))
    return match[1] if match else None


def _kept(group: Sequence[Record]) -> tuple[list[Record], str]:
    """Return the repetitions and nothing; or, where a file has none of them, one aggregate and its name."""
    repetitions = [one for one in group if _aggregate(one) is None]
    by_name = {_aggregate(one): one for one in group}
    found = next((word for word in _AGGREGATES if word in by_name), "")
    return (repetitions, "") if repetitions or not found else ([by_name[found]], found)


def _clock(settings: Mapping[str, Setting], flags: Sequence[str]) -> str:
    """Return the time that Google Benchmark itself judges by."""
    is_wall = any(flag in _WALL for flag in flags) or (settings.get("threads", 1.0) != 1 and "process_time" not in flags)
    return "real_time" if is_wall else "cpu_time"


def _unit(one: Record, name: str, where: str) -> float:
    unit = one.get("time_unit", "ns")
    if not isinstance(unit, str) or unit not in _UNITS:
        raise DataError(f"{where}: {name!r} has the time_unit {unit!r}; known are {', '.join(_UNITS)}.")
    return _UNITS[unit]


def _parsed(name: str) -> tuple[str, dict[str, Setting], list[str]]:
    """Return the function, its arguments and the flags in a name such as ``BM_Sort/size:1024/real_time``."""
    first, *rest = name.split("/")
    words, flags = [first], []
    found: list[tuple[str, float]] = []
    for part in rest:
        match = _ARGUMENT.fullmatch(part)
        if part in _FLAGS:
            flags.append(part)
        elif match is None:
            words.append(part)
        elif match["name"] not in _SETTINGS_OF_THE_RUN:
            found.append((match["name"] or "", float(match["value"])))
    unnamed = sum(not label for label, _ in found)
    settings: dict[str, Setting] = {}
    number = 0
    for label, value in found:
        number += not label
        settings[identifier(label) if label else f"n{number}" if unnamed > 1 else "n"] = value
    return "/".join(words), settings, flags
