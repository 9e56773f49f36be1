"""The JSON that pytest-benchmark writes (``--benchmark-json``, or ``--benchmark-save`` with ``--benchmark-save-data``)."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from scalkit.errors import DataError
from scalkit.formats.readers.observed import RANGE, Found, Observed, duration_of, facts_in, identifier, records_in


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
    records = records_in(content["benchmarks"], where)
    lacking = next((one["name"] for one in records if not isinstance(one.get("stats"), dict)), None)
    if lacking is not None:
        raise DataError(f"{where}: {lacking!r} has no table 'stats'; write the file again with --benchmark-json.")
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
    machine = content["machine_info"]
    cpu = machine.get("cpu")
    return Found(
        f"pytest-benchmark JSON {version}".strip(),
        timed,
        first=(),
        attrs=attrs,
        metadata=facts_in({**machine, "cpu": cpu.get("brand_raw") if isinstance(cpu, dict) else None}),
        notes=notes,
        advice=RANGE,
    )


def _settings(one: Mapping[str, Any], where: str) -> dict[str, float | str]:
    params = one.get("params") or {}
    if not isinstance(params, dict):
        raise DataError(f"{where}: the 'params' of {one['name']!r} are {str(params)[:40]!r}; a table is needed.")
    return {identifier(name): _setting(value) for name, value in params.items()}


def _setting(value: object) -> float | str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
    return float(value) if is_number else str(value)[:60]  # type: ignore[arg-type]


def _rounds(one: Mapping[str, Any], where: str) -> tuple[float, ...]:
    """Return the duration of every round, or the first quartile alone; pytest-benchmark writes seconds."""
    stats, name = one["stats"], one["name"]
    data = stats.get("data")
    if isinstance(data, list) and data:
        return tuple(duration_of(value, 1.0, f"{where}: round {i + 1} of {name!r}") for i, value in enumerate(data))
    return (duration_of(stats.get("q1"), 1.0, f"{where}: q1 of {name!r}"),)
