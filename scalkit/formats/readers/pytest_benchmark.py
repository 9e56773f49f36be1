"""The JSON that pytest-benchmark writes (``--benchmark-json``, or ``--benchmark-save`` with ``--benchmark-save-data``)."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from scalkit.errors import DataError
from scalkit.formats.readers.observed import RANGE, Found, Observed, duration_of, identifier


def is_pytest_benchmark(content: Mapping[str, Any]) -> bool:
    """Return whether a JSON object has the shape of pytest-benchmark's output."""
    return isinstance(content.get("machine_info"), dict) and isinstance(content.get("benchmarks"), list)


def from_pytest_benchmark(content: Mapping[str, Any], where: str) -> Found:
    """Return the run times in pytest-benchmark's JSON.

    Each round is a repetition if the file has them; otherwise the first quartile stands for all.
    The settings are the test's ``params``.

    `content`: the parsed file.
    `where`: its name, for messages.
    Raises DataError if a record is malformed.

    Source: pytest-benchmark, documentation, "Usage" (docs/references.md).
    """
    records = [_record(one, index, where) for index, one in enumerate(content["benchmarks"])]
    places = Counter({str(one["name"]).split("[")[0]: 0 for one in records})
    for full in {str(one.get("fullname", one["name"])).split("[")[0] for one in records}:
        places[full.split("::")[-1]] += 1
    timed, summarised = [], 0
    for one in records:
        short = str(one["name"]).split("[")[0]
        function = short if places[short] <= 1 else str(one.get("fullname", short)).split("[")[0]
        seconds = _rounds(one, where)
        summarised += len(seconds) == 1
        timed.append(Observed(function, _settings(one, where), seconds))
    notes = []
    if summarised:
        notes.append(
            f"{summarised} of {len(timed)} benchmarks have their first quartile alone in the file; "
            "--benchmark-json and --benchmark-save-data keep every round"
        )
    attrs = {
        "title": "what pytest-benchmark measured",
        "measured_on": str(content["machine_info"].get("node", "")),
        "started": str(content.get("datetime", "")),
    }
    version = str(content.get("version", ""))[:20]
    return Found(
        f"pytest-benchmark JSON {version}".strip(),
        timed,
        first=(),
        attrs={key: value for key, value in attrs.items() if value},
        metadata=_metadata(content["machine_info"]),
        notes=notes,
        advice=RANGE,
    )


def _record(one: object, index: int, where: str) -> Mapping[str, Any]:
    if not isinstance(one, dict) or not isinstance(one.get("name"), str):
        raise DataError(f"{where}: benchmark {index + 1} has no name in 'name'; write the file again.")
    if not isinstance(one.get("stats"), dict):
        raise DataError(f"{where}: {one['name']!r} has no table 'stats'; write the file again with --benchmark-json.")
    return one


def _settings(one: Mapping[str, Any], where: str) -> dict[str, float | str]:
    params = one.get("params") or {}
    if not isinstance(params, dict):
        raise DataError(f"{where}: the 'params' of {one['name']!r} are {str(params)[:40]!r}; a table is needed.")
    return {identifier(name): _setting(value) for name, value in params.items()}


def _setting(value: object) -> float | str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return str(value)[:60]
    return str(value)[:60]


def _rounds(one: Mapping[str, Any], where: str) -> tuple[float, ...]:
    """Return the duration of every round, or the first quartile alone; pytest-benchmark writes seconds."""
    stats, name = one["stats"], one["name"]
    data = stats.get("data")
    if isinstance(data, list) and data:
        return tuple(duration_of(value, 1.0, f"{where}: round {i + 1} of {name!r}") for i, value in enumerate(data))
    return (duration_of(stats.get("q1"), 1.0, f"{where}: q1 of {name!r}"),)


def _metadata(machine: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of the machine, with the name of its processor."""
    cpu = machine.get("cpu")
    named = {**machine, "cpu": cpu.get("brand_raw") if isinstance(cpu, dict) else None}
    return {str(key): str(value)[:200] for key, value in named.items() if isinstance(value, str | int | float)}
