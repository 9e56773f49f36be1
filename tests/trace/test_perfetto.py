"""What is written for others: trace events of Chrome with calls, waits and messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scalkit.cli import main
from scalkit.trace import TraceBuilder


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
