"""CUBE profiles (``.cubex``) of the result of an analysis, for the browsers and tools of that world."""

import io
import json
import struct
import tarfile
from os import PathLike
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import xarray as xr

from scalkit.errors import DataError
from scalkit.support.files import whole_file
from scalkit.support.text import plain
from scalkit.trace.results.summary import FACTS

_UNITS = {"ns": "sec", "1": "occ", "B": "bytes"}


def write_cube(ds: xr.Dataset, file: str | PathLike[str]) -> int:
    """Write every metric of a result, exclusive along call paths, times in s; return how many metrics that are.

    What was left out of the analysis stands in the attribute "left out" of the profile.

    `ds`: what `scalkit.trace.analyse` returns. `file`: archive of an anchor, and of an index and the values of each metric.
    Raises DataError if the file cannot be written.
    """
    order = _preorder(ds["parent"].values.tolist())
    metrics = [str(name) for name in ds["metric"].values]
    with whole_file(file, DataError) as part, tarfile.open(part, "w") as archive:
        _add(archive, "anchor.xml", _anchor(ds, metrics, order).encode())
        for number, name in enumerate(metrics):
            values = ds["severity"].values[number][order]
            kept = np.flatnonzero(values.any(axis=1)) if values.any() else np.arange(1)
            head = struct.pack("<ihbi", 1, 0, 1, len(kept))  # the order of bytes, a version, places of rows that are there
            _add(archive, f"{number}.index", b"CUBEX.INDEX" + head + kept.astype("<i4").tobytes())
            in_s = FACTS[name].unit == "ns"
            data = (1e-9 * values[kept]).astype("<f8") if in_s else values[kept].astype("<u8")
            _add(archive, f"{number}.data", b"CUBEX.DATA" + data.tobytes())
    return len(metrics)


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def _preorder(parents: list[int]) -> list[int]:
    """Return the paths from the root on, each followed by those below it."""
    below: dict[int, list[int]] = {}
    for path, parent in enumerate(parents):
        below.setdefault(parent, []).append(path)
    found, waiting = [], below.get(-1, [])[::-1]
    while waiting:
        found.append(waiting.pop())
        waiting += below.get(found[-1], [])[::-1]
    return found


def _anchor(ds: xr.Dataset, metrics: list[str], order: list[int]) -> str:
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<cube version="4.4">', '<attr key="Creator" value="scalkit"/>']
    if problems := json.loads(ds.attrs.get("problems", "[]")):
        lines.append(f'<attr key="left out" value={quoteattr(plain("; ".join(problems)))}/>')
    lines.append("<metrics>")
    for number, name in enumerate(metrics):
        unit, kind = FACTS[name].unit, "DOUBLE" if FACTS[name].unit == "ns" else "UINT64"
        lines.append(
            f'<metric id="{number}" type="EXCLUSIVE"><disp_name>{escape(FACTS[name].title)}</disp_name><uniq_name>{name}'
            f"</uniq_name><dtype>{kind}</dtype><uom>{_UNITS[unit]}</uom><val></val><url></url><descr></descr></metric>"
        )
    lines += ["</metrics>", "<program>"]
    nodes: list[str] = []
    open_paths: list[int] = []
    parents, texts = ds["parent"].values.tolist(), [str(one) for one in ds["path_name"].values]
    for number, path in enumerate(order):
        name, around = str(ds["region"].values[path]), len(texts[parents[path]]) + 1 if parents[path] >= 0 else 0
        site = texts[path][around + len(name) + 1 :]
        module, _, line = site.rpartition(":") if site.rpartition(":")[2].isdigit() else (site, "", "-1")
        module, shown = quoteattr(plain(module)), escape(plain(name))  # XML has no place for control characters
        paradigm = "mpi" if name.startswith("MPI_") else "user"
        lines.append(
            f'<region id="{number}" mod={module} begin="{line}" end="{line}"><name>{shown}</name><mangled_name>'
            f"{shown}</mangled_name><paradigm>{paradigm}</paradigm><role>function</role><url></url><descr></descr></region>"
        )
        while open_paths and open_paths[-1] != parents[path]:
            open_paths.pop()
            nodes.append("</cnode>")
        nodes.append(f'<cnode id="{number}" calleeId="{number}">')
        open_paths.append(path)
    lines += [*nodes, "</cnode>" * len(open_paths), "</program>", "<system>"]
    lines += ['<systemtreenode Id="0"><name>machine</name><class>machine</class>']
    lines += ['<systemtreenode Id="1"><name>node</name><class>node</class>']
    for rank in range(ds.sizes["location"]):
        lines.append(
            f'<locationgroup Id="{rank}"><name>MPI Rank {rank}</name><rank>{rank}</rank><type>process</type>'
            f'<location Id="{rank}"><name>Master thread</name><rank>0</rank><type>thread</type></location></locationgroup>'
        )
    return "\n".join([*lines, "</systemtreenode></systemtreenode>", "</system>", "</cube>", ""])
