"""What is written for others: trace events of Chrome with calls, waits and messages; CUBE profiles; OTF2 archives."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from pycubexr import CubexParser
from random_traces import build, random_calls, random_regions

import scalkit as sk
from scalkit.cli import main
from scalkit.trace import TraceBuilder, analyse
from scalkit.trace.files.cube import write_cube


def test_calls_waits_and_messages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = TraceBuilder(2)
    trace.enter(0, "solve </script>", 5)
    receive = trace.call(0, "MPI_Recv", 10, 50, scope=0)
    trace.transfer(0, "receive", receive, 1, blocking=True)
    trace.leave(0, "solve </script>", 60)
    for begin in (35, 70):  # the second one is never received
        trace.transfer(1, "send", trace.call(1, "MPI_Send", begin, begin + 5, scope=0), 0, blocking=True)
    folder = trace.write(tmp_path / "t")
    assert main(["trace", "convert", str(folder), str(tmp_path / "p.json")]) == 0
    assert capsys.readouterr().out.startswith("3 calls, 1 waits, 1 messages in ")
    events = json.loads((tmp_path / "p.json").read_text())["traceEvents"]
    slices = {(one["pid"], one["name"], one["ts"], one["dur"]) for one in events if one["ph"] == "X"}
    assert slices == {
        (0, "MPI_Recv", 0.005, 0.04),
        (0, "late sender", 0.005, 0.025),
        (1, "MPI_Send", 0.03, 0.005),
        (1, "MPI_Send", 0.065, 0.005),
    }
    assert [(one["ph"], one["name"], one["ts"]) for one in events if one["ph"] in "BE"] == [
        ("B", "solve </script>", 0.0),
        ("E", "solve </script>", 0.055),
    ]
    assert [(one["ph"], one["pid"], one["ts"]) for one in events if one["ph"] in "sf"] == [("s", 1, 0.03), ("f", 0, 0.045)]
    (received,) = (one["args"] for one in events if one["name"] == "MPI_Recv")
    assert received == {"transfer": "receive", "bytes": 8, "peer": 1}


def test_a_cube_profile_has_what_was_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = random_calls(5, locations=3, steps=30)
    folder = build(calls, regions=random_regions(5, calls)).write(tmp_path / "t.p3")
    assert main(["trace", "convert", str(folder), str(folder / "waits.cubex")]) == 0
    assert capsys.readouterr().out == f"26 metrics in {folder}/waits.cubex\n"
    ds = analyse(folder)
    names = [str(one) for one in ds["path_name"].values]
    with CubexParser(folder / "waits.cubex") as profile:
        texts = {}
        for node in profile.all_cnodes():
            texts[node.id] = (f"{texts[node.parent.id]}/" if node.parent else "") + node.region.name
        assert sorted(texts.values()) == sorted(names)
        for metric in profile.all_metrics():
            values = profile.get_metric_values(metric)
            expected = ds["severity"].sel(metric=metric.name).values
            unit = 1e9 if metric.units == "sec" else 1
            for node in profile.all_cnodes():
                row = np.rint(values.cnode_values(node).astype(float) * unit).astype(int).tolist()
                assert row == expected[names.index(texts[node.id])].tolist(), metric.name
    assert "program" in sk.read(folder / "waits.cubex")["function"]  # as other profiles are read


def test_a_cube_profile_has_any_name(tmp_path: Path) -> None:
    trace = TraceBuilder(1)
    trace.enter(0, "a\x1b<&b", 1)
    trace.leave(0, "a\x1b<&b", 5)
    write_cube(analyse(trace.write(tmp_path / "t.p1")), tmp_path / "waits.cubex")
    with CubexParser(tmp_path / "waits.cubex") as profile:
        assert [one.region.name for one in profile.all_cnodes()] == ["program", "a\\u001b<&b"]


def test_a_cube_profile_says_what_was_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left = 'an accelerator "<x>"'
    trace = TraceBuilder(1, others=left)
    trace.call(0, "MPI_Init", 0, 100)
    folder = trace.write(tmp_path / "t.p1")
    assert main(["trace", "convert", str(folder), str(folder / "waits.cubex")]) == 0
    assert capsys.readouterr().out.endswith(f"waits.cubex\nleft out: {left}\n")
    with tarfile.open(folder / "waits.cubex") as archive:
        anchor = archive.extractfile("anchor.xml")
        assert anchor is not None
        told = {one.get("key"): one.get("value") for one in ElementTree.parse(anchor).iter("attr")}
    assert told["left out"] == left
