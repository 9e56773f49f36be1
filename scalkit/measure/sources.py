"""Run files of campaign folders and netCDF files: which belong together, and the Dataset that they become."""

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from scalkit.errors import DataError, RunFileError
from scalkit.measure.assemble import assemble
from scalkit.measure.combined import combine
from scalkit.measure.environment import Environment, as_attribute, from_attribute, together
from scalkit.measure.netcdf import is_hdf5, is_netcdf3, read_netcdf
from scalkit.measure.pattern_records import MASTER_WORKER
from scalkit.measure.runfile import RunFile, is_run_file, read_run_file
from scalkit.measure.schema import check, is_reserved, parameters_of
from scalkit.support.files import require_own_files

_SIZE = "message_size_B"

CAMPAIGN = "campaign.toml"
"""The file of a campaign folder that says how it was made."""

_HEAD = 4096
"""Bytes at the beginning of a file that say what it is."""


class Sources:
    """Run files, campaign folders and netCDF files, read one after the other.

    `others`: Datasets of what else there was, with the hashes of its files in `hashes`.
    """

    def __init__(self) -> None:
        self.runs: list[RunFile] = []
        self.others: list[xr.Dataset] = []
        self.campaigns: list[str] = []
        self.notes: list[str] = []
        self.hashes: list[tuple[Path, str]] = []

    def add_folder(self, folder: Path) -> bool:
        """Read the run files of a folder, or those of the campaign folders in it; return whether there are any.

        Raises DataError or RunFileError if a file is malformed, or none of them holds measurements.
        """
        runs, notes = run_files(folder)
        campaigns = [] if runs else campaigns_in(folder)
        for one in campaigns:
            if not self.add_folder(one):
                raise without_measurements(one)
        self.runs += runs
        self.notes += notes
        self.campaigns += [] if campaigns else _campaign(folder)
        return bool(runs or campaigns)

    def add_file(self, path: Path) -> bool:
        """Read a file, and return whether it is a run file or netCDF. Raises DataError or RunFileError if it is malformed."""
        head = _head(path)
        if is_netcdf3(head):
            self.others.append(read_netcdf(path))
            if not self.others[-1].attrs.get("inputs"):
                self.hashes.append((path, hashlib.sha256(path.read_bytes()).hexdigest()))
        elif is_run_file(head):
            self.runs.append(read_run_file(path))
        elif is_hdf5(head):
            raise DataError(f"{path} is netCDF-4 or HDF5; write it as netCDF-3, with ds.to_netcdf(path, engine='scipy').")
        else:
            return False
        return True

    def dataset(self, source: str, parameter: str | Sequence[str] | None = None) -> xr.Dataset:
        """Return all in one Dataset, with what it was read from.

        `source`: for ``attrs["source"]``, where files do not say it.
        `parameter`: two make the message size of each campaign a parameter.
        Raises DataError if it cannot be one Dataset.
        """
        parts = _of_runs(self.runs, parameter) + self.others
        ds = combine(parts) if len(parts) > 1 else parts[0]
        hashes = [*self.hashes, *((run.path, run.sha256) for run in self.runs)]
        ds.attrs["inputs"] = json.dumps({**json.loads(ds.attrs.get("inputs") or "{}"), **_named(hashes)})
        ds.attrs.setdefault("source", source)
        if self.campaigns and (len(self.campaigns) == 1 or _SIZE in ds.attrs):
            ds.attrs["campaign"] = self.campaigns[0]
            ds.attrs |= as_attribute(together([from_attribute(ds.attrs), _network(self.campaigns[0], self.runs)]))
        if self.notes:
            ds.attrs["notes"] = json.dumps([*json.loads(ds.attrs.get("notes") or "[]"), *self.notes])
        check(ds)
        return ds


def read_campaign(folder: Path) -> xr.Dataset:
    """Return the measurements in a campaign folder, or in those in it.

    Raises RunFileError if a run file is malformed; DataError if there is nothing, or it cannot be one Dataset.
    """
    sources = Sources()
    if not sources.add_folder(folder):
        raise without_measurements(folder)
    return sources.dataset(str(folder))


def _of_runs(runs: Sequence[RunFile], parameter: str | Sequence[str] | None = None) -> list[xr.Dataset]:
    """Return a Dataset for each campaign, over the message size, too, where two parameters are asked for."""
    parts: list[xr.Dataset] = []
    for group in _by_campaign(runs):
        farmed = [run for run in group if run.env.program == MASTER_WORKER]
        others = [run for run in group if run.env.program != MASTER_WORKER]
        parts += [assemble(some) for some in (farmed, others) if some]
    have_sizes = all(run.env.program == MASTER_WORKER for run in runs)
    if have_sizes or parameter is None or isinstance(parameter, str):
        return parts
    return [_over_size(one, parameter) for one in parts]


def _over_size(part: xr.Dataset, names: Sequence[str]) -> xr.Dataset:
    """Return the Dataset of run files of one message size as one over two parameters.

    `part`: along the number of processes, with the size in its attributes.
    `names`: the parameter of the run files and a name for the message size, in the order of the dimensions.
    Raises DataError if the names are others, or there is no positive message size.
    """
    known = ",".join(parameters_of(part))
    others = [name for name in names if name != known]
    if len(names) != 2 or len(others) != 1 or not str(others[0]).isidentifier() or is_reserved(str(others[0])):
        raise DataError(
            f"run files have the parameter '{known}' and a message size, asked for are {', '.join(map(repr, names)) or 'none'}; "
            f"name two, as in ['{known}', 'S']."
        )
    size = int(part.attrs.get(_SIZE, 0))
    if size <= 0:
        sent = "messages of 0 B" if _SIZE in part.attrs else "no messages"
        raise DataError(
            f"'{others[0]}' is to be the message size, and some run files hold {sent}; leave them out, or read them alone along "
            f"'{known}'."
        )
    wide = {
        name: variable.expand_dims({others[0]: np.array([size])}, axis=variable.dims.index(known) + 1)
        for name, variable in part.data_vars.items()
        if known in variable.dims
    }
    found = part.assign(wide).assign_coords({others[0]: [size]})
    found.attrs = {key: value for key, value in part.attrs.items() if key != _SIZE} | {"parameter": ",".join(names)}
    return found


def _head(path: Path) -> bytes:
    """Return the beginning of a file. Raises DataError if it cannot be read."""
    try:
        with path.open("rb") as stream:
            return stream.read(_HEAD)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}; check its permissions.") from error


def run_files(folder: Path) -> tuple[list[RunFile], list[str]]:
    """Return the run files of a folder, unfinished ones included, and notes on those that hold nothing.

    Files of other programs that are called ``.jsonl``, too, are passed over. Raises DataError if one of the files is a link, or
    none of them holds measurements; RunFileError if one is malformed.
    """
    names = sorted(p for p in folder.iterdir() if not p.is_dir() and re.search(r"\.jsonl(\.part)?$", p.name))
    require_own_files(folder, [path.name for path in names], hard_links=True)
    finished = {p.name for p in names if p.suffix == ".jsonl"}
    runs, notes = [], []
    for path in names:
        head = _head(path)
        if b'"params"' in head and not is_run_file(head):
            continue
        if path.suffix == ".part" and path.name.removesuffix(".part") in finished:
            continue
        if path.suffix == ".part" and b"\n" not in path.read_bytes():
            notes.append(f"{path.name}: ignored, the launch died before its first record")
            continue
        runs.append(read_run_file(path))
    if notes and not runs:
        raise without_measurements(folder)
    if any(run.trips for run in runs):
        raise RunFileError(
            f"{str(folder)!r} holds messages: read it with scalkit.perfmodels.fits.runs.read_message_runs, fit them with "
            "'scalkit model fit', or file them with 'scalkit store put'."
        )
    if runs and all(not (run.cells or run.memories or run.counts or run.units) for run in runs):
        raise RunFileError(f"the run files in {str(folder)!r} hold no measurements: all launches died early; measure again.")
    return runs, notes


def campaigns_in(folder: Path) -> list[Path]:
    """Return the campaign folders in a folder, by name; those with a number in the order of the numbers.

    Raises DataError if one of them is a link.
    """
    found = [path for path in folder.iterdir() if path.is_dir() and (path / CAMPAIGN).is_file()]
    require_own_files(folder, [path.name for path in found])
    return sorted(found, key=lambda path: [int(w) if w.isdecimal() else w for w in re.split(r"([0-9]+)", path.name)])


def _named(hashes: Sequence[tuple[Path, str]]) -> dict[str, str]:
    """Return the hashes by folder and file name, by the whole path where that is ambiguous."""
    short = [f"{path.absolute().parent.name}/{path.name}" for path, _ in hashes]
    return {(name if short.count(name) == 1 else str(path)): digest for name, (path, digest) in zip(short, hashes, strict=True)}


def without_measurements(folder: Path) -> DataError:
    """Return the error of a folder without measurements, which names the folders in it."""
    inner = sorted(p.name for p in folder.iterdir() if p.is_dir())
    hint = f"; perhaps one of its folders is meant: {', '.join(inner[:5])}" if inner else ""
    return DataError(f"the folder {str(folder)!r} has no run files (*.jsonl){hint}; name another or measure first.")


def _campaign(folder: Path) -> list[str]:
    """Return the campaign's own record as JSON text, in a list; empty without one."""
    path = folder / CAMPAIGN
    if not os.path.lexists(path):
        return []
    require_own_files(folder, [CAMPAIGN], hard_links=True)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {path}: {error}; restore or delete it, the run files do not need it.") from error
    return [json.dumps(content, default=str)]


def _network(campaign: str, runs: Sequence[RunFile]) -> Environment:
    """Return network and topology of a campaign on several real nodes."""
    machine = json.loads(campaign).get("machine")
    listed = [run.env.fields.get("hosts") for run in runs]
    hosts = {str(host) for some in listed if isinstance(some, list) for host in some}
    if not isinstance(machine, dict) or len(hosts) < 2 or any(run.env.simulated or run.env.virtual for run in runs):
        return {}
    return {key: [str(machine[key])] for key in ("network", "topology") if machine.get(key)}


def _by_campaign(runs: Sequence[RunFile]) -> list[list[RunFile]]:
    """Return the files grouped by their run id without its number, so that each campaign numbers its own runs.

    The message sizes of a campaign are groups of their own; what has no size is in the first of them.
    """
    groups: dict[str, list[RunFile]] = {}
    for run in runs:
        groups.setdefault(re.sub(r"-r\d{1,6}$", "", run.env.run_id), []).append(run)
    return [part for group in groups.values() for part in _by_size(group)]


def _by_size(runs: Sequence[RunFile]) -> list[list[RunFile]]:
    parts: dict[int, list[RunFile]] = {}
    rest: list[RunFile] = []
    for run in runs:
        sizes = {cell.size_bytes for cell in run.cells}
        (parts.setdefault(sizes.pop(), []) if len(sizes) == 1 else rest).append(run)
    folders = [run.path.parent for part in parts.values() for run in {run.path.parent: run for run in part}.values()]
    if len(parts) < 2 or len(set(folders)) < len(folders):
        return [list(runs)]  # one folder with several sizes is a mistake, which `assemble` names
    ordered = [parts[size] for size in sorted(parts)]
    ordered[0] += rest
    return ordered
