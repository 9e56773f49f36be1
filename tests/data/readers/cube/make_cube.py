"""Writes small CUBE profiles as `.cubex`: the layout of CubeLib 4.8, with made-up values. `python make_cube.py FOLDER`."""

from __future__ import annotations

import io
import struct
import sys
import tarfile
import zlib
from pathlib import Path

import numpy as np

ANCHOR = """<?xml version="1.0" encoding="UTF-8"?>
<cube version="4.4">
  <attr key="Creator" value="made up for tests"/>
  <metrics>
    <metric id="0" type="EXCLUSIVE"><disp_name>Visits</disp_name><uniq_name>visits</uniq_name><dtype>UINT64</dtype>
      <uom>occ</uom><val></val><url></url><descr></descr></metric>
    <metric id="1" type="INCLUSIVE"><disp_name>Time</disp_name><uniq_name>time</uniq_name><dtype>DOUBLE</dtype>
      <uom>sec</uom><val></val><url></url><descr></descr></metric>
    <metric id="2" type="EXCLUSIVE"><disp_name>Empty</disp_name><uniq_name>empty</uniq_name><dtype>DOUBLE</dtype>
      <uom>bytes</uom><val></val><url></url><descr></descr></metric>
  </metrics>
  <program>
    <region id="0" mod="a.c" begin="1" end="9"><name>main</name><mangled_name>main</mangled_name><paradigm>user</paradigm>
      <role>function</role><url></url><descr></descr></region>
    <region id="1" mod="a.c" begin="1" end="9"><name>MPI_Bcast</name><mangled_name>MPI_Bcast</mangled_name>
      <paradigm>mpi</paradigm><role>function</role><url></url><descr></descr></region>
    <cnode id="0" calleeId="0"><cnode id="1" calleeId="1"/></cnode>
  </program>
  <system>
    <systemtreenode Id="0"><name>machine</name><class>machine</class>
      <systemtreenode Id="1"><name>node</name><class>node</class>
{ranks}
      </systemtreenode>
    </systemtreenode>
  </system>
</cube>
"""

RANK = """        <locationgroup Id="{r}"><name>MPI Rank {r}</name><rank>{r}</rank><type>process</type>
          <location Id="{r}"><name>Master thread</name><rank>0</rank><type>thread</type></location></locationgroup>"""


def index(nodes: list[int]) -> bytes:
    return (
        b"CUBEX.INDEX"
        + struct.pack("<i", 1)
        + struct.pack("<h", 0)
        + b"\x00"
        + struct.pack(f"<i{len(nodes)}i", len(nodes), *nodes)
    )


def plain(values: np.ndarray) -> bytes:
    return b"CUBEX.DATA" + values.tobytes()


def packed(values: np.ndarray) -> bytes:
    piece = zlib.compress(values.tobytes())
    return b"ZCUBEX.DATA" + struct.pack("<q", 1) + struct.pack("<3q", 0, 0, len(piece)) + piece


def write(path: Path, p: int, factor: float) -> None:
    visits = np.array([[1] * p, [p] * p], dtype="<u8")
    time = np.array([[1.0 + 0.01 * p] * p, [0.01 * p * (1 + 0.1 * r / p) for r in range(p)]], dtype="<f8") * factor
    files = {
        "anchor.xml": ANCHOR.replace("{ranks}", "\n".join(RANK.format(r=r) for r in range(p))).encode(),
        "0.index": index([0, 1]),
        "0.data": plain(visits),
        "1.index": index([0, 1]),
        "1.data": packed(time),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


if __name__ == "__main__":
    for n_processes in (2, 4, 8, 16, 32):
        for repetition in (1, 2):
            folder = Path(sys.argv[1]) / f"demo.p{n_processes}.r{repetition}"
            write(folder / "profile.cubex", n_processes, 1.0 + 0.02 * repetition)
