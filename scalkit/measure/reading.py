"""`read`: run files, netCDF files and foreign benchmark files become one Dataset; what a file is, its content says."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

import xarray as xr

from scalkit.errors import DataError, RunFileError
from scalkit.measure.assemble import assemble
from scalkit.measure.combining import combine
from scalkit.measure.netcdf import is_hdf5, is_netcdf3, read_netcdf
from scalkit.measure.readers import is_json, read_benchmark_json
from scalkit.measure.runfile import RunFile, is_run_file, read_run_file
from scalkit.measure.schema import check
from scalkit.measure.sizes import over_sizes

__all__ = ["CAMPAIGN", "read"]

CAMPAIGN = "campaign.toml"
"""The file of a campaign folder that says how it was made."""

PathLike = str | os.PathLike[str]

_HEAD = 4096


def read(
    path: PathLike | Sequence[PathLike], *, keep_flagged: bool = False, parameter: str | Sequence[str] | None = None
) -> xr.Dataset:
    """Return measurements as a Dataset.

    Parameters
    ----------
    path : path or sequence of paths
        A folder of run files, run files, netCDF-3 files, or JSON of Google Benchmark or pytest-benchmark; found by content,
        not by name.
    keep_flagged : bool
        Keep repetitions that began late or outlasted their window; by default they are NaN, unless fewer than 5 of a
        run would remain.
    parameter : str or sequence of str, optional
        Which argument of the benchmarks in a JSON file is the parameter; by default the one that varies in most of them.
        Several, as in ``["n", "k"]``, make a Dataset over several parameters. Of run files ``["p", "S"]`` makes the message
        size of each campaign the parameter ``S``. Other files say it themselves.

    Returns
    -------
    xarray.Dataset
        As docs/file-formats.md describes. ``attrs["inputs"]`` has the SHA-256 of every file; a netCDF file that already
        says its ``inputs`` and ``source`` keeps them.

    Raises
    ------
    RunFileError
        If a run file is malformed; the text names file and line.
    DataError
        If there is nothing, or something else, or what there is cannot be one Dataset.
    """
    given = list(path) if isinstance(path, Sequence) and not isinstance(path, str | bytes) else [path]
    if not given:
        raise DataError("read needs a path; name a run folder, a run file or a netCDF file.")
    runs: list[RunFile] = []
    parts: list[xr.Dataset] = []
    campaigns: list[str] = []
    notes: list[str] = []
    hashes: list[tuple[Path, str]] = []
    for one in map(_path, given):
        if one.is_dir():
            found, ignored = _folder(one)
            runs += found
            notes += ignored
            campaigns += _campaign(one)
        elif one.is_file():
            _file(one, runs, parts, hashes, parameter)
        else:
            raise DataError(
                f"there are no measurements at {str(one)!r}; name a run folder, a run file or a netCDF file."
            )
    hashes += [(run.path, run.sha256) for run in runs]
    parts = _assembled(runs, keep_flagged, parameter) + parts
    ds = combine(parts) if len(parts) > 1 else parts[0]
    ds.attrs["inputs"] = json.dumps({**json.loads(ds.attrs.get("inputs") or "{}"), **_named(hashes)})
    ds.attrs.setdefault("source", ", ".join(os.fspath(one) for one in given))
    if campaigns and (len(campaigns) == 1 or "message_size_B" in ds.attrs):
        ds.attrs["campaign"] = campaigns[0]
    if notes:
        ds.attrs["notes"] = json.dumps([*json.loads(ds.attrs.get("notes") or "[]"), *notes])
    check(ds)
    return ds


def _assembled(runs: Sequence[RunFile], keep_flagged: bool, parameter: str | Sequence[str] | None) -> list[xr.Dataset]:
    """Return a Dataset for each campaign, over the message size, too, where two parameters are asked for."""
    parts = [assemble(group, keep_flagged=keep_flagged) for group in _by_campaign(runs)]
    return parts if parameter is None or isinstance(parameter, str) else over_sizes(parts, parameter)


def _file(
    path: Path,
    runs: list[RunFile],
    parts: list[xr.Dataset],
    hashes: list[tuple[Path, str]],
    parameter: str | Sequence[str] | None,
) -> None:
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}; check its permissions.") from error
    if is_netcdf3(head):
        parts.append(read_netcdf(path))
        if not parts[-1].attrs.get("inputs"):
            hashes.append((path, hashlib.sha256(path.read_bytes()).hexdigest()))
    elif is_run_file(head):
        runs.append(read_run_file(path))
    elif is_json(head):
        parts.append(read_benchmark_json(path, parameter))
        hashes.append((path, hashlib.sha256(path.read_bytes()).hexdigest()))
    elif is_hdf5(head):
        raise DataError(f"{path} is netCDF-4 or HDF5; write it as netCDF-3, with ds.to_netcdf(path, engine='scipy').")
    else:
        raise DataError(f"{path} is neither a run file nor netCDF-3 (it begins with {head[:20]!r}); name another file.")


def _path(given: object) -> Path:
    """Return a path that the system can look up."""
    try:
        path = Path(given)  # type: ignore[arg-type]
        path.exists()
    except (OSError, ValueError, TypeError) as error:
        raise _unreadable(given, error) from error
    return path


def _unreadable(path: object, error: Exception) -> DataError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return DataError(f"cannot read {str(path)[:80]!r}: {reason}; name a run folder, a run file or a netCDF file.")


def _folder(folder: Path) -> tuple[list[RunFile], list[str]]:
    """Return the run files of a folder, unfinished ones included, and notes on those that hold nothing."""
    try:
        names = sorted(p for p in folder.iterdir() if p.is_file() and re.search(r"\.jsonl(\.part)?$", p.name))
    except OSError as error:
        raise _unreadable(folder, error) from error
    finished = {p.name for p in names if p.suffix == ".jsonl"}
    runs, notes = [], []
    for path in names:
        if path.suffix == ".part" and path.name.removesuffix(".part") in finished:
            continue
        if path.suffix == ".part" and b"\n" not in path.read_bytes():
            notes.append(f"{path.name}: ignored, the launch died before its first record")
            continue
        runs.append(read_run_file(path))
    if not runs:
        inner = sorted(p.name for p in folder.iterdir() if p.is_dir())
        hint = f"; perhaps one of its folders is meant: {', '.join(inner[:5])}" if inner else ""
        raise DataError(f"the folder {str(folder)!r} has no run files (*.jsonl){hint}; name another or measure first.")
    if all(not run.cells and not run.memories and not run.counts for run in runs):
        raise RunFileError(
            f"the run files in {str(folder)!r} hold no measurements: all launches died early; measure again."
        )
    return runs, notes


def _named(hashes: Sequence[tuple[Path, str]]) -> dict[str, str]:
    """Return the hashes by folder and file name, by the whole path where that is ambiguous."""
    short = [f"{path.absolute().parent.name}/{path.name}" for path, _ in hashes]
    return {
        (name if short.count(name) == 1 else str(path)): digest
        for name, (path, digest) in zip(short, hashes, strict=True)
    }


def _campaign(folder: Path) -> list[str]:
    """Return the campaign's own record as JSON text, in a list; empty without one."""
    path = folder / CAMPAIGN
    if not path.is_file():
        return []
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {path}: {error}; restore or delete it, the run files do not need it.") from error
    return [json.dumps(content, default=str)]


def _by_campaign(runs: Sequence[RunFile]) -> list[list[RunFile]]:
    """Return the files grouped by their run id without its number, so that each campaign numbers its own runs."""
    groups: dict[str, list[RunFile]] = {}
    for run in runs:
        groups.setdefault(re.sub(r"-r\d{1,6}$", "", run.env.run_id), []).append(run)
    return list(groups.values())
