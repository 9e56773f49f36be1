"""Writes measurements in the format of another program."""

import argparse
import json
from typing import Any

import xarray as xr

import scalkit as sk
from scalkit.cli.options.expected import parameters_named
from scalkit.cli.terminal.printed import print_either
from scalkit.errors import DataError, UsageError
from scalkit.formats.writers import suffix_of, write
from scalkit.formats.writers.cells import n_points
from scalkit.measure.schema import metrics_of, parameters_of
from scalkit.support.files import require_free
from scalkit.support.text import counted, few


def run(args: argparse.Namespace) -> int:
    """Read, write, say what was done, and return 0."""
    if args.processes is not None and args.processes < 1:
        raise UsageError(f"--processes is {args.processes}; a number from 1 on is needed.")
    suffix_of(args.out)
    require_free(args.out, DataError, force=args.force)
    given = args.inputs if len(args.inputs) > 1 else args.inputs[0]
    ds = sk.read(given, parameter=parameters_named(args.parameter), p=args.processes)
    title = write(ds, args.out, force=args.force)
    told = {"read": _told(ds, args.inputs), "written": {"path": args.out, "title": title}}
    print_either(args.json, told, _text(told))
    return 0


def _told(ds: xr.Dataset, inputs: list[str]) -> dict[str, Any]:
    """Return a description of the data that were read, as plain values."""
    files = json.loads(str(ds.attrs.get("inputs") or "{}"))
    return {
        "inputs": inputs,
        "files": list(files),
        "format": str(ds.attrs.get("format") or "run files or netCDF of scalkit"),
        "functions": [str(name) for name in ds["function"].values],
        "parameters": list(parameters_of(ds)),
        "points": n_points(ds),
        "runs": int(ds.sizes.get("run", 1)),
        "metrics": {name: str(ds[name].attrs["units"]) for name in metrics_of(ds)},
        "truncated": str(ds.attrs.get("truncated") or ""),
        "notes": json.loads(str(ds.attrs.get("notes") or "[]")),
    }


def _text(told: dict[str, Any]) -> str:
    read, written = told["read"], told["written"]
    inputs = few(read["inputs"], 3)
    metrics = ", ".join(f"{name} [{unit}]" for name, unit in read["metrics"].items())
    lines = [
        f"read {inputs} ({counted(len(read['files']), 'file')}) as {read['format']}: "
        f"{counted(len(read['functions']), 'function')}, {counted(read['points'], 'point')} of {', '.join(read['parameters'])}, "
        f"{counted(read['runs'], 'run')}; {metrics}"
    ]
    lines += [f"  truncated, read as far as it goes: {read['truncated']}"] if read["truncated"] else []
    lines += [f"  note: {note}" for note in read["notes"]]
    lines.append(f"wrote {written['path']} as {written['title']}")
    return "\n".join(lines)
