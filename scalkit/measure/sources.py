"""`read`: run files, netCDF files and files of other programs become one Dataset; what a file is, its content says."""

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr
from pandas import DataFrame

from scalkit.bundled import here_or_bundled
from scalkit.errors import DataError, RunFileError
from scalkit.files import require_own_files
from scalkit.measure.assemble import assemble
from scalkit.measure.assemble_units import MASTER_WORKER, assemble_units
from scalkit.measure.combined import combine
from scalkit.measure.environment import Environment, as_attribute, from_attribute, together
from scalkit.measure.foreign import ForeignFile, frame_dataset, is_frame, readers
from scalkit.measure.netcdf import is_hdf5, is_netcdf3, read_netcdf
from scalkit.measure.runfile import RunFile, is_run_file, read_run_file
from scalkit.measure.schema import check, is_reserved, parameters_of

_SIZE = "message_size_B"


def over_size(part: xr.Dataset, names: Sequence[str]) -> xr.Dataset:
    """Return the Dataset of run files of one message size as one over two parameters.

    `part`: along the number of processes, with the size in its attributes.
    `names`: the parameter of the run files and a name for the message size, in the order of the dimensions.
    Raises DataError if the names are others, or there is no positive message size.
    """
    (known,) = parameters_of(part)
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


CAMPAIGN = "campaign.toml"
"""The file of a campaign folder that says how it was made."""

PathLike = str | os.PathLike[str]

_HEAD = 4096

_WANTED = "name a run folder or a run file, a netCDF file, or another benchmark's file"


def read(
    path: PathLike | Sequence[PathLike] | DataFrame,
    *,
    keep_flagged: bool = False,
    parameter: str | Sequence[str] | None = None,
    p: int | None = None,
) -> xr.Dataset:
    """Return measurements as a Dataset.

    Parameters
    ----------
    path : path, sequence of paths, or pandas.DataFrame
        A folder of run files, run files, netCDF-3 files, files of other programs (docs/readers.md lists them), or a folder
        with these in it or in its folders. What a file is, is found by content, not by name; ``attrs["format"]`` says it.
    keep_flagged : bool
        Keep repetitions that began late or outlasted their window; by default they are NaN, unless fewer than 5 of a
        run would remain.
    parameter : str or sequence of str, optional
        Which setting in files of other programs is the parameter; by default the number of processes, if it varies, else the
        one that varies in most functions. Several, as in ``["n", "k"]``, make a Dataset over several parameters. Of run files
        ``["p", "S"]`` makes the message size of each campaign the parameter ``S``. Other files say it themselves.
    p : int, optional
        The number of processes, for files that do not say it, such as those of the OSU benchmarks; by default it is taken from
        the name of the file or its folder, as in ``osu_bcast_p8.txt``.

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
    if p is not None and (not isinstance(p, int) or isinstance(p, bool) or not 0 < p < 2**31):
        raise DataError(f"p is {p!r:.40}; the number of processes, a whole number from 1 on, is needed.")
    if is_frame(path):
        return frame_dataset(path, parameter)
    given: list[PathLike] = list(path) if isinstance(path, list | tuple) else [path]  # type: ignore[list-item]
    if not given:
        raise DataError(f"read needs a path; {_WANTED}.")
    inputs = _Inputs()
    for one in map(_path, given):
        if one.is_dir():
            inputs.folder(one)
        elif one.is_file():
            inputs.file(one)
        else:
            raise DataError(f"there are no measurements at {str(one)!r}; {_WANTED}.")
    runs = inputs.runs
    hashes = [*inputs.hashes, *((run.path, run.sha256) for run in runs)]
    parts = _assembled(runs, keep_flagged, parameter) + inputs.parts
    parts += readers().foreign_datasets(inputs.foreign, parameter, p) if inputs.foreign else []
    ds = combine(parts) if len(parts) > 1 else parts[0]
    ds.attrs["inputs"] = json.dumps({**json.loads(ds.attrs.get("inputs") or "{}"), **_named(hashes)})
    ds.attrs.setdefault("source", ", ".join(os.fspath(one) for one in given))
    if inputs.campaigns and (len(inputs.campaigns) == 1 or "message_size_B" in ds.attrs):
        ds.attrs["campaign"] = inputs.campaigns[0]
        ds.attrs |= as_attribute(together([from_attribute(ds.attrs), _network(inputs.campaigns[0], runs)]))
    if inputs.notes:
        ds.attrs["notes"] = json.dumps([*json.loads(ds.attrs.get("notes") or "[]"), *inputs.notes])
    check(ds)
    return ds


def _assembled(runs: Sequence[RunFile], keep_flagged: bool, parameter: str | Sequence[str] | None) -> list[xr.Dataset]:
    """Return a Dataset for each campaign, over the message size, too, where two parameters are asked for."""
    parts: list[xr.Dataset] = []
    for group in _by_campaign(runs):
        farmed = [run for run in group if run.env.program == MASTER_WORKER]
        others = [run for run in group if run.env.program != MASTER_WORKER]
        parts += [assemble_units(farmed)] if farmed else []
        parts += [assemble(others, keep_flagged=keep_flagged)] if others else []
    has_sizes = all(run.env.program == MASTER_WORKER for run in runs)
    return parts if has_sizes or parameter is None or isinstance(parameter, str) else [over_size(one, parameter) for one in parts]


class _Inputs:
    """What the paths hold, read one after the other."""

    def __init__(self) -> None:
        self.runs: list[RunFile] = []
        self.parts: list[xr.Dataset] = []
        self.foreign: list[ForeignFile] = []
        self.campaigns: list[str] = []
        self.notes: list[str] = []
        self.hashes: list[tuple[Path, str]] = []

    def folder(self, folder: Path) -> None:
        """Read the run files of a folder; without any, those of the campaigns in it, or the files of other programs."""
        found, ignored = _run_files(folder)
        inner = [] if found or ignored else campaigns_in(folder)
        for one in inner:
            self.folder(one)
        if inner:
            return
        if not found and not ignored:
            contents, ignored = readers().foreign_files(folder)
            if not contents:
                raise _empty(folder)
            for content in contents:
                self._foreign(content)
        elif any(run.trips for run in found):
            raise RunFileError(
                f"{str(folder)!r} holds messages: fit them with scalkit.perfmodels.fit_folder or "
                "'scalkit model fit', or file them with 'scalkit store put'."
            )
        elif all(not (run.cells or run.memories or run.counts or run.units) for run in found):
            raise RunFileError(f"the run files in {str(folder)!r} hold no measurements: all launches died early; measure again.")
        self.runs += found
        self.notes += ignored
        self.campaigns += _campaign(folder)

    def file(self, path: Path) -> None:
        """Read one file."""
        head = _head(path)
        if is_netcdf3(head):
            self.parts.append(read_netcdf(path))
            if not self.parts[-1].attrs.get("inputs"):
                self.hashes.append((path, hashlib.sha256(path.read_bytes()).hexdigest()))
        elif is_run_file(head):
            self.runs.append(read_run_file(path))
        elif is_hdf5(head):
            raise DataError(f"{path} is netCDF-4 or HDF5; write it as netCDF-3, with ds.to_netcdf(path, engine='scipy').")
        else:
            self._foreign(readers().load(path))

    def _foreign(self, content: ForeignFile) -> None:
        self.foreign.append(content)
        self.hashes.append((content.path, content.sha256))


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(_HEAD)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}; check its permissions.") from error


def _path(given: object) -> Path:
    """Return a path that the system can look up."""
    try:
        path = Path(given)  # type: ignore[arg-type]
        path.exists()
    except (OSError, ValueError, TypeError) as error:
        raise _unreadable(given, error) from error
    return here_or_bundled(path)


def _unreadable(path: object, error: Exception) -> DataError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return DataError(f"cannot read {str(path)[:80]!r}: {reason}; {_WANTED}.")


def _run_files(folder: Path) -> tuple[list[RunFile], list[str]]:
    """Return the run files of a folder, unfinished ones included, and notes on those that hold nothing."""
    try:
        names = sorted(p for p in folder.iterdir() if not p.is_dir() and re.search(r"\.jsonl(\.part)?$", p.name))
    except OSError as error:
        raise _unreadable(folder, error) from error
    require_own_files(folder, [path.name for path in names], hard_links=True)
    finished = {p.name for p in names if p.suffix == ".jsonl"}
    runs, notes = [], []
    for path in names:
        head = _head(path)
        if b'"params"' in head and readers().is_extra_p_lines(readers().Content(path, head)):
            continue
        if path.suffix == ".part" and path.name.removesuffix(".part") in finished:
            continue
        if path.suffix == ".part" and b"\n" not in path.read_bytes():
            notes.append(f"{path.name}: ignored, the launch died before its first record")
            continue
        runs.append(read_run_file(path))
    if notes and not runs:
        raise _empty(folder)
    return runs, notes


def campaigns_in(folder: Path) -> list[Path]:
    """Return the campaign folders in a folder, by name; those with a number in the order of the numbers.

    Raises DataError if one of them is a link.
    """
    found = [path for path in folder.iterdir() if path.is_dir() and (path / CAMPAIGN).is_file()]
    require_own_files(folder, [path.name for path in found])
    return sorted(found, key=lambda path: [int(w) if w.isdecimal() else w for w in re.split(r"([0-9]+)", path.name)])


def _empty(folder: Path) -> DataError:
    inner = sorted(p.name for p in folder.iterdir() if p.is_dir())
    hint = f"; perhaps one of its folders is meant: {', '.join(inner[:5])}" if inner else ""
    return DataError(f"the folder {str(folder)!r} has no run files (*.jsonl){hint}; name another or measure first.")


def _named(hashes: Sequence[tuple[Path, str]]) -> dict[str, str]:
    """Return the hashes by folder and file name, by the whole path where that is ambiguous."""
    short = [f"{path.absolute().parent.name}/{path.name}" for path, _ in hashes]
    return {(name if short.count(name) == 1 else str(path)): digest for name, (path, digest) in zip(short, hashes, strict=True)}


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
