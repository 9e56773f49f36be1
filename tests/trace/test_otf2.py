"""OTF2 both ways: what comes back has the same waits, otf2-print reads what is written, and archives by hand are understood."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
import xarray as xr
from needs import needs_otf2
from random_traces import COLLECTIVES, Call, build, random_calls

from scalkit.cli import main
from scalkit.errors import DataError
from scalkit.trace import TraceBuilder, analyse
from scalkit.trace.files.otf2 import read_otf2, write_otf2
from scalkit.trace.files.otf2_events import events_of

pytestmark = needs_otf2

NAMES = ("severity", "path_name", "parent", "cause_metric", "cause_location", "cause_by", "cause_path", "cause_severity")


def finished(seed: int, locations: int) -> list[list[Call]]:
    """Return random calls in which every message ends, as in what a recorder writes, and all calls are of the library."""
    everything = random_calls(seed, locations, 40, COLLECTIVES)
    for calls in everything:
        for one in calls:
            one.name = "MPI_Comm_rank" if one.name == "work" else one.name
        ended = {id(one) for call in calls for one in call.ends}
        left = [one for one in calls if id(one) not in ended and not one.is_blocking]
        begins = {"MPI_Ibarrier", "MPI_Iallreduce", "MPI_Ibcast", "MPI_Ireduce", "MPI_Iscan", "MPI_Iexscan"}
        left = [one for one in left if one.name in begins or any(what in ("send", "receive") for what, _, _ in one.transfers)]
        last = max(call.leave for call in calls)
        calls.append(Call(calls[0].location, "MPI_Waitall", last + 1, last + 9, ends=left))
    return everything


def assert_same_waits(one: xr.Dataset, other: xr.Dataset) -> None:
    for name in NAMES:
        assert one[name].values.tolist() == other[name].values.tolist(), name
    assert one.attrs["title"] == other.attrs["title"]


@pytest.mark.parametrize("seed", range(5))
def test_a_trace_comes_back(seed: int, tmp_path: Path) -> None:
    plain = build(finished(seed, 2 + seed % 4), shift=-50 * seed).write(tmp_path / "plain")
    events = write_otf2(plain, tmp_path / "archive")
    found = read_otf2(tmp_path / "archive/traces.otf2", tmp_path / "back")
    assert found == {"locations": 2 + seed % 4, "others": 0, "events": events, "unmatched": 0}
    assert_same_waits(analyse(tmp_path / "back"), analyse(plain))


def small() -> TraceBuilder:
    trace = TraceBuilder(2, simulated=True)
    for location in range(2):
        trace.enter(location, "solve", 0)
        put = trace.call(location, "MPI_Put", 10, 12, scope=1, peer=1 - location)
        trace.transfer(location, "put", put, 1 - location)
        trace.enter(location, "inner work", 13)
        trace.leave(location, "inner work", 30 + 40 * location)
        trace.call(location, "MPI_Win_flush", 80, 100 + location, scope=1, peer=1 - location)
        lock = trace.call(location, "MPI_Win_lock", 110, 115, scope=1, peer=(1 << 30) + 1)
        assert lock > 0
        trace.call(location, "MPI_Win_unlock", 120 + 20 * location, 160, scope=1, peer=1)
        trace.leave(location, "solve", 200)
        trace.call(location, "MPI_Barrier", 300 + 7 * location, 400, scope=0)
    return trace


def test_regions_of_the_user_and_call_sites_come_back(tmp_path: Path) -> None:
    trace = small()
    for one in trace.locations:
        plain = one.definitions

        def with_sites(plain: object = plain) -> dict[str, object]:
            found = plain()  # type: ignore[operator]
            found["sites"] = [[7, "solver.c+0x1c, line\t3"]]
            found["paths"] = [[n, parent, region, 7 if n == 2 else -1] for n, parent, region, _ in found["paths"]]
            return dict(found)

        one.definitions = with_sites  # type: ignore[method-assign]
    folder = trace.write(tmp_path / "plain")
    write_otf2(folder, tmp_path / "archive")
    read_otf2(tmp_path / "archive/traces.otf2", tmp_path / "back")
    back = analyse(tmp_path / "back")
    assert "program/solve/MPI_Put@solver.c+0x1c, line 3" in back["path_name"].values
    assert back["severity"].values.tolist() == analyse(folder)["severity"].values.tolist()
    assert back.attrs["title"] == "simulated"


def test_otf2_print_reads_it_and_finds_what_score_p_writes(tmp_path: Path) -> None:
    write_otf2(small().write(tmp_path / "plain"), tmp_path / "archive")
    command = ["otf2-print", str(tmp_path / "archive/traces.otf2")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    seen = re.findall(r"^([A-Z_]+) +0 +(\d+)", done.stdout, re.MULTILINE)
    assert [(name, int(time)) for name, time in seen if name not in ("ENTER", "LEAVE")] == [
        ("RMA_PUT", 10),
        ("RMA_OP_COMPLETE_NON_BLOCKING", 100),
        ("RMA_SYNC", 100),
        ("RMA_ACQUIRE_LOCK", 115),
        ("RMA_RELEASE_LOCK", 160),
        ("MPI_COLLECTIVE_BEGIN", 300),
        ("MPI_COLLECTIVE_END", 400),
    ]
    definitions = subprocess.run([*command[:1], "-G", *command[1:]], capture_output=True, text=True, check=True).stdout
    assert "RMA_WIN" in definitions
    assert "MPI_Win_flush" in definitions


ACCELERATOR = """
#include <otf2/otf2.h>
#include <stddef.h>
static OTF2_FlushType flush(void *a, OTF2_FileType b, OTF2_LocationRef c, void *d, bool e) { return OTF2_FLUSH; }
static OTF2_TimeStamp after(void *a, OTF2_FileType b, OTF2_LocationRef c) { return 9; }
static OTF2_FlushCallbacks callbacks = { flush, after };
int main(int argc, char **argv)
{
    OTF2_Archive *to = OTF2_Archive_Open(argv[1], "traces", OTF2_FILEMODE_WRITE, 1 << 20, 1 << 20, OTF2_SUBSTRATE_POSIX,
                                         OTF2_COMPRESSION_NONE);
    OTF2_Archive_SetFlushCallbacks(to, &callbacks, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(to);
    OTF2_Archive_OpenEvtFiles(to);
    for (int k = 0; k < 3; k++) {
        OTF2_EvtWriter *events = OTF2_Archive_GetEvtWriter(to, k);
        OTF2_EvtWriter_Enter(events, NULL, 1, 0);
        OTF2_EvtWriter_Leave(events, NULL, 5, 0);
        OTF2_Archive_CloseEvtWriter(to, events);
    }
    OTF2_Archive_CloseEvtFiles(to);
    OTF2_GlobalDefWriter *words = OTF2_Archive_GetGlobalDefWriter(to);
    OTF2_GlobalDefWriter_WriteClockProperties(words, 1000000000, 0, 9, 0);
    const char *const texts[] = { "", "process", "CUDA\\n[0:7]", "kernel" };
    for (int k = 0; k < 4; k++)
        OTF2_GlobalDefWriter_WriteString(words, k, texts[k]);
    OTF2_GlobalDefWriter_WriteRegion(words, 0, 3, 3, 0, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER, 0, 0, 0, 0);
    OTF2_GlobalDefWriter_WriteSystemTreeNode(words, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    OTF2_GlobalDefWriter_WriteLocationGroup(words, 0, 1, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP);
    const uint64_t ranks[] = { 0 };
    OTF2_GlobalDefWriter_WriteGroup(words, 0, 1, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, 0, 1, ranks);
    for (int k = 0; k < 3; k += 2)
        OTF2_GlobalDefWriter_WriteLocation(words, k, 1, OTF2_LOCATION_TYPE_CPU_THREAD, 2, 0);
    OTF2_GlobalDefWriter_WriteLocation(words, 1, 2, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, 2, 0);
    return OTF2_Archive_Close(to) != OTF2_SUCCESS;
}
"""


def test_accelerators_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "make.c").write_text(ACCELERATOR)
    subprocess.run(["cc", "-w", str(tmp_path / "make.c"), "-o", str(tmp_path / "make"), "-lotf2"], check=True)
    subprocess.run([str(tmp_path / "make"), str(tmp_path / "archive")], check=True)
    archive = str(tmp_path / "archive/traces.otf2")
    left = "2 locations of the archive without a rank of MPI: accelerator stream CUDA [0:7], 1 thread"
    made = str(tmp_path / "t")
    assert main(["trace", "convert", archive, made]) == 0
    said = f"1 location, 2 events in {made}; see the waits with: scalkit trace analyse {made}\nleft out: {left}\n"
    assert capsys.readouterr().out == said
    for source in (archive, made):
        assert main(["trace", "analyse", source]) == 0
        assert capsys.readouterr().out.endswith(f"left out:\n  {left}\n")


def test_calls_of_threads_have_no_place(tmp_path: Path) -> None:
    trace = TraceBuilder(1)
    trace.call(0, "MPI_Barrier", 0, 20)
    trace.call(0, "MPI_Barrier", 10, 30)
    with pytest.raises(DataError, match=r"^location 0: calls overlap, as those of threads do, and OTF2 has no place"):
        write_otf2(trace.write(tmp_path / "plain"), tmp_path / "archive")


@pytest.mark.parametrize(
    ("length", "why", "left_out"),
    [
        (None, "cannot be read;", "location 1: 000001.sktrace cannot be read (No such file or directory)"),
        (0.5, "cannot be read to their end;", "000001.sktrace ends after this record, without an end"),
    ],
)
def test_an_archive_that_lacks_something(
    length: float | None, why: str, left_out: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = small()
    for k in range(0 if length is None else 20_000):
        trace.call(1, "MPI_Barrier", 1000 + 2 * k, 1001 + 2 * k)
    write_otf2(trace.write(tmp_path / "plain"), tmp_path / "archive")
    archive, events = str(tmp_path / "archive/traces.otf2"), tmp_path / "archive/traces/1.evt"
    if length is None:
        events.unlink()
    else:
        events.write_bytes(events.read_bytes()[: int(length * events.stat().st_size)])
    assert main(["trace", "analyse", archive]) == 2
    said = f"scalkit trace: the events of location 1 {why} take the rest with --keep-going."
    assert capsys.readouterr().err.startswith(said)
    assert main(["trace", "analyse", archive, "--keep-going", "--json"]) == 0
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert problem.startswith("location 1")
    assert problem.endswith(left_out)


def test_an_archive_with_a_leave_that_has_no_enter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "scalkit.trace.files.otf2.events_of", lambda k, *more: events_of(k, *more)[k:]
    )  # not the first of location 1
    write_otf2(small().write(tmp_path / "plain"), tmp_path / "archive")
    archive = str(tmp_path / "archive/traces.otf2")
    assert main(["trace", "analyse", archive]) == 2
    assert capsys.readouterr().err == (
        f"scalkit trace: {archive}: location 1: a region is left that was not the innermost one (1 of all locations); "
        "record it again, or analyse the rest with --keep-going.\n"
    )
    assert main(["trace", "analyse", archive, "--keep-going"]) == 0
    said = "left out:\n  location 1: a region is left that was not the innermost one (1 of all locations)\n"
    assert capsys.readouterr().out.endswith(said)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain, archive, back = small().write(tmp_path / "plain"), tmp_path / "archive", tmp_path / "back"
    assert main(["trace", "convert", str(plain), str(archive)]) == 0
    assert capsys.readouterr().out == f"42 events in {archive / 'traces.otf2'}\n"
    assert main(["trace", "convert", str(archive / "traces.otf2"), str(back)]) == 0
    assert capsys.readouterr().out == f"2 locations, 42 events in {back}; see the waits with: scalkit trace analyse {back}\n"
    assert main(["trace", "analyse", str(back), "--json"]) == 0
    expected = capsys.readouterr().out
    assert main(["trace", "analyse", str(archive / "traces.otf2"), "--json"]) == 0
    assert capsys.readouterr().out == expected
    assert main(["trace", "convert", str(plain), str(archive)]) == 2
    assert capsys.readouterr().err == f"scalkit trace: {archive} is in use; name a folder that is empty or not there.\n"
    (tmp_path / "no.otf2").write_text("nothing")
    assert main(["trace", "convert", str(tmp_path / "no.otf2"), str(tmp_path / "x")]) == 2
    assert capsys.readouterr().err.startswith(f"scalkit trace: {tmp_path / 'no.otf2'} is no OTF2 archive that can be read.")
    assert main(["trace", "convert", str(tmp_path / "none.otf2"), str(tmp_path / "x")]) == 2
    assert "name its anchor file, as in scorep-run/traces.otf2." in capsys.readouterr().err
    assert main(["trace", "convert", str(tmp_path / "none"), str(tmp_path / "x")]) == 2
    assert not (tmp_path / "x").exists(), "so that one may try again"
    (tmp_path / "x").mkdir()
    assert main(["trace", "convert", str(tmp_path / "no.otf2"), str(tmp_path / "x")]) == 2
    assert list((tmp_path / "x").iterdir()) == []
