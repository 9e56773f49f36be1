"""Run files become runs of a store: all launches with the same run id are one, with every repetition."""

import json
import math
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from scalkit.errors import DataError
from scalkit.measure.quarter_means import CUTS
from scalkit.measure.records import Cell, Memory
from scalkit.measure.runfile import RunFile, is_run_file, read_run_file
from scalkit.measure.sources import CAMPAIGN
from scalkit.measure.virtual_time import clock_of
from scalkit.store.filed.machines import described, over
from scalkit.store.filed.rows import Rows, add_trips, add_units, named, of_passes
from scalkit.store.runs.columns import pattern_of, role_of
from scalkit.store.runs.content import RunContent, library_of
from scalkit.support.bundled import is_shipped
from scalkit.support.files import require_own_files
from scalkit.support.json_values import json_fields

_PRIVATE_OPTIONS = ("--out", "--provenance", "--run-id", "--expect-np")


def runs_of_files(paths: Iterable[Path], measured: Mapping[str, Any], filing: Mapping[str, Any]) -> list[RunContent]:
    """Return the runs in run files and folders of them.

    `paths`: campaign folders or run files.
    `measured`, `filing`: fields of the record that the caller sets; they win over what the files say.
    Raises DataError if there are none, or two files hold the same launch; RunFileError if one is malformed.
    """
    groups: dict[tuple[str, bool], list[RunFile]] = {}
    campaigns: dict[Path, dict[str, Any]] = {}
    for path in _files(paths):
        file = read_run_file(path)
        if file.cells or file.memories or file.counts or file.units or file.trips:
            groups.setdefault((file.env.run_id, bool(file.env.virtual)), []).append(file)  # memory beside it is real
            campaigns.setdefault(path.parent, _campaign(path.parent))
    if not groups:
        raise DataError("there are no measurements in what was named; name a campaign folder or run files (*.jsonl).")
    return [_run(group, campaigns[group[0].path.parent], measured, filing) for group in groups.values()]


def _files(paths: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            require_own_files(path, os.listdir(path), hard_links=is_shipped(path))
            inside = sorted(p for p in path.iterdir() if p.is_file() and re.search(r"\.jsonl(\.part)?$", p.name))
            done = {p.name for p in inside if p.suffix == ".jsonl"}
            found += [p for p in inside if p.name.removesuffix(".part") not in done or p.suffix == ".jsonl"]
            if not inside:
                raise DataError(f"the folder {str(path)!r} has no run files (*.jsonl); name a campaign folder.")
        elif path.is_file():
            with path.open("rb") as stream:
                if not is_run_file(stream.read(4096)):
                    raise DataError(f"{path} is no run file; name a campaign folder or run files (*.jsonl).")
            found.append(path)
        else:
            raise DataError(f"there is nothing at {str(path)!r}; name a campaign folder or a run file.")
    return found


def _campaign(folder: Path) -> dict[str, Any]:
    path = folder / CAMPAIGN
    if not os.path.lexists(path):
        return {}
    require_own_files(folder, [CAMPAIGN], hard_links=is_shipped(folder))
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {path}: {error}; restore or delete it.") from error


def _run(
    files: Sequence[RunFile], campaign: Mapping[str, Any], measured: Mapping[str, Any], filing: Mapping[str, Any]
) -> RunContent:
    """Return one run: its launches ordered by when they began."""
    seen: dict[tuple[str, int, frozenset[object]], RunFile] = {}
    for file in files:
        cells = {*(cell.size_bytes for cell in file.cells), *(trip.op for trip in file.trips)}
        key = (file.env.program, file.env.point, frozenset(cells))
        if key in seen:
            raise DataError(
                f"{seen[key].path} and {file.path} are the same launch (run {file.env.run_id!r}, {key[0]}); keep one of them."
            )
        seen[key] = file
    ordered = sorted(files, key=lambda file: (file.env.started, file.env.program, file.env.point))
    parameters = {file.env.parameter for file in ordered}
    if len(parameters) > 1:
        raise DataError(f"the run {files[0].env.run_id!r} is over {' and '.join(sorted(parameters))}; file them apart.")
    if any("," in name for name in parameters):
        raise DataError(
            f"the run {files[0].env.run_id!r} is over {files[0].env.parameter}, and runs of the store have one parameter."
        )
    clocks = list(dict.fromkeys("simulated time" if file.env.simulated else clock_of(file.env.virtual) for file in ordered))
    if len(clocks) > 1:
        raise DataError(
            f"the run {files[0].env.run_id!r} has times of different clocks, {' and '.join(clocks)}; file them apart."
        )
    rows = Rows()
    for launch, file in enumerate(ordered):
        _add_launch(rows, launch, file)
    rows.over(parameters.pop())
    return RunContent.of(over(_measured(ordered, campaign), measured), filing, rows.table())


def _add_launch(rows: Rows, launch: int, file: RunFile) -> None:
    extras = _extras(file.path)
    env = file.env
    common = {
        "program": env.program,
        "launch": launch,
        "x": env.point,
        "p": env.p,
        "oversubscribed": env.oversubscribed,
        "processes_per_node": env.processes_per_node,
    }
    timed: dict[tuple[str, int, str], list[Cell]] = {}
    for cell in file.cells:
        timed.setdefault((cell.op, cell.size_bytes, cell.datatype), []).append(cell)
    for cells in timed.values():
        cells.sort(key=lambda cell: cell.number)
        rows.add("med", **common, **_of_cells(cells, extras, env.program), seq=len(rows))
    for memory in file.memories:
        rows.add("min", **common, **_of_memory(memory, extras), seq=len(rows))
    for count in file.counts:
        of_count = {"metric": "operations", "unit": "op", "verified": count.verified, "raw": [count.operations]}
        rows.add("med", **common, **named(count.op, "kernel"), **of_count, seq=len(rows))
    add_units(rows, common, file.units)
    add_trips(rows, common, file.trips)


def _extras(path: Path) -> dict[tuple[str, str, int], dict[str, Any]]:
    """Return the fields of each record by kind, operation and pass; `read_run_file` has checked the lines."""
    found: dict[tuple[str, str, int], dict[str, Any]] = {}
    for line in path.read_bytes().split(b"\n"):
        try:
            fields = json.loads(line)
        except ValueError:  # an empty line, or where the launch broke off
            continue
        if isinstance(fields, dict) and isinstance(fields.get("op"), str):
            op, shape = fields["op"], fields.get("shape", "identity")
            name = op if shape == "identity" or "[" in op else f"{op}[{shape}]"
            found[str(fields.get("rec")), name, fields.get("pass", 0)] = fields
    return found


def _of_cells(cells: Sequence[Cell], extras: Mapping[Any, Mapping[str, Any]], program: str) -> dict[str, Any]:
    first = cells[0]
    said = extras.get(("cell", first.op, first.number), {})
    last = extras.get(("cell", first.op, cells[-1].number), {})
    offsets = list(accumulate((len(cell.t_ns) for cell in cells[:-1]), initial=0))

    def joined(name: str) -> list[Any]:
        return [one for cell in cells for one in getattr(cell, name)]

    def marked(name: str) -> list[int]:
        return [at + i for at, cell in zip(offsets, cells, strict=True) for i in getattr(cell, name)]

    started = next((cell.first_ns for cell in cells if not math.isnan(cell.first_ns)), math.nan)
    pattern = pattern_of(first.op, program, str(said.get("pattern", "")))
    arguments = {key: last.get(key) for key in ("warmup", "rep_min", "rep_max", "auto_refined", "allowed_stderr")}
    return {
        **named(first.op, pattern, role_of(first.op) if program == "sk_time" else "subject"),
        **{key: value for key, value in arguments.items() if isinstance(value, int | float)},
        "metric": "time",
        "unit": "ns",
        "datatype": first.datatype,
        "sync": _text(said, "sync"),
        "definition": _text(said, "definition"),
        "msg_By": first.size_bytes,
        "status": cells[-1].status,
        **of_passes(cells),
        "first": None if math.isnan(started) else int(started),
        "raw": joined("t_ns"),
        "late_at": marked("late_at"),
        "overrun_at": marked("overrun_at"),
        "pure": joined("pure_ns") or None,
        "work": joined("work_ns") or None,
        "root_raw": joined("root_ns") or None,
        "process_med": _wholes(last.get("process_median_ns")),
        "process_at": [at + i for at, c in zip(offsets, cells, strict=True) for i in range(len(c.process_ns))] or None,
        "process_raw": [t for row in joined("process_ns") for t in row] or None,
        "cut": _cut(last.get("cut")),
    }


def _cut(said: object) -> str | None:
    """Return the quarters that the mean leaves out, as ``"1,4"``; None if the record does not say it."""
    if not isinstance(said, list) or not all(isinstance(n, int) and not isinstance(n, bool) for n in said):
        return None
    return next((str(cut) for cut in CUTS if [cut.lowest, cut.highest] == said), None)


def _of_memory(memory: Memory, extras: Mapping[Any, Mapping[str, Any]]) -> dict[str, Any]:
    said = extras.get(("mem", memory.op, 0), {})
    metric = "process_memory" if "process_memory" in memory.values else "object_memory"
    value = round(memory.values[metric])
    live = _wholes(said.get("live_B"))
    values = {key: None if math.isnan(number) else number for key, number in memory.values.items()}
    return {
        **named(memory.op, "memory"),
        "metric": metric,
        "unit": "By",
        "definition": "bytes that each creation left behind" if live else "bytes, largest over processes",
        "verified": memory.verified,
        "raw": live if live and min(live) == value else [value],
        "detail": json.dumps({"values": values, "bypassed": memory.bypassed}, sort_keys=True),
    }


def _text(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key, "")
    return value if isinstance(value, str) else ""


def _wholes(values: object) -> list[int] | None:
    if not isinstance(values, list) or not values:
        return None
    return values if all(isinstance(v, int) and not isinstance(v, bool) for v in values) else None


def _measured(files: Sequence[RunFile], campaign: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the launches of a run share, as its record says it."""
    first = files[0]
    fields = first.env.fields
    provenance = _mapping(fields, "provenance")
    simulation = _mapping(provenance, "simulation")
    settings = {**_mapping(provenance, "settings"), **_mapping(campaign, "settings")}
    library = first.env.mpi_library
    implementation, version = library_of(library)
    hosts = {host for file in files for host in file.env.fields.get("hosts", [file.env.host]) if isinstance(host, str)}
    per_node = max(file.env.processes_per_node for file in files)
    machine = first.env.host
    if first.env.simulated:
        machine = f"{simulation.get('platform', machine)}, simulated, {per_node} per node"
    n_nodes = max(1, len(hosts))
    if first.env.virtual:
        n_nodes = -(-max(file.env.p for file in files) // max(1, per_node))  # the hosts are those that it ran on
        machine, simulation = clock_of(first.env.virtual), {"virtual": dict(first.env.virtual)}
    return {
        "campaign": str(campaign.get("id") or re.sub(r"-r\d{1,6}$", "", first.env.run_id)),
        "label": first.env.run_id,
        "machine": machine,
        **described(first.env, campaign, simulation, n_nodes),
        "started": min((file.env.started for file in files if file.env.started), default=""),
        "ended": max((file.env.started for file in files if file.env.started), default=""),
        "mpi_impl": implementation,
        "mpi_version": version,
        "mpi_library": library,
        "mpi_standard": _text(fields, "mpi_standard"),
        "compiler": _text(fields, "compiler"),
        "flags": _text(provenance, "mpicc_show"),
        "environment": {str(key): str(value) for key, value in _mapping(fields, "environment").items()},
        "nodes": n_nodes,
        "processes_per_node": per_node,
        "seed": _whole(_mapping(campaign, "arguments").get("seed", fields.get("seed"))),
        "sync": _text(_mapping(campaign, "arguments"), "sync"),
        "clock": "virtual" if first.env.virtual else "simulated" if first.env.simulated else "real",
        "timer": {
            key: value
            for key, value in _mapping(fields, "clock").items()
            if isinstance(value, str | bool) or (isinstance(value, int | float) and math.isfinite(value))
        },
        "harness_sha": _text(provenance, "sources"),
        "switches": {
            "arguments": json.loads(json.dumps(_mapping(campaign, "arguments"), default=str)),
            "settings": {str(key): str(value) for key, value in settings.items()},
        },
        "parameter": first.env.parameter,
        "launches": [_launch(file) for file in files],
        "skips": [{"launch": number, "op": skip.op, "why": skip.why} for number, file in enumerate(files) for skip in file.skips],
        "inputs": {file.path.name: file.sha256 for file in files},
        "remarks": [note for file in files for note in file.notes],
    }


def _launch(file: RunFile) -> dict[str, Any]:
    env = file.env
    argv = env.fields.get("argv", [])
    options = [one for one in argv[1:] if isinstance(one, str)] if isinstance(argv, list) else []
    return {
        **json_fields(env, "program p point host started processes_per_node oversubscribed"),
        "complete": file.complete,
        "switches": [one for one in options if not one.startswith(_PRIVATE_OPTIONS)],
    }


def _mapping(fields: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = fields.get(key)
    return value if isinstance(value, dict) else {}


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
