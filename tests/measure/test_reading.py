"""From files to a Dataset: passes joined, flags honoured, runs numbered, circumstances kept, wrong input explained."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from run_records import END, Writer, cell, env, memory, own_memory

from scalkit.errors import DataError, RunFileError
from scalkit.formats.read import read
from scalkit.measure import series, write_netcdf

WANTED = "name a run folder or a run file, a netCDF file, or another benchmark's file"


def test_passes_are_joined_and_flagged_repetitions_dropped(write: Writer) -> None:
    passes = [
        cell(t_ns=(10, 20, 30), late_at=[1], first_ns=99, foreign_load=0.0),
        cell(number=1, t_ns=(40, 50, 60, 70, 80, 90), overrun_at=[0], status="capped", foreign_load=0.03),
    ]
    path = write(env(), *passes, END)
    ds = read(path)
    time = np.asarray(ds["time"]).ravel() * 1e9
    np.testing.assert_allclose(time, [10, np.nan, 30, np.nan, 50, 60, 70, 80, 90])
    at = {"function": "MPI_Bcast", "p": 4, "run": 0}
    found = {name: ds[name].sel(at).item() for name in ("n_repetitions", "n_late", "n_overrun", "status", "time_first")}
    assert found == {"n_repetitions": 9, "n_late": 1, "n_overrun": 1, "status": "capped", "time_first": pytest.approx(99e-9)}
    assert ds["foreign_load"].sel(at).item() == pytest.approx(0.02)


def test_flagged_repetitions_stay_when_fewer_than_five_would_remain(write: Writer) -> None:
    ds = read(write(env(), cell(t_ns=(1, 2, 3, 4, 5), late_at=[0]), END))
    assert np.isfinite(ds["time"]).all()
    (one,) = series(ds)
    assert "late repetitions count at p = 4, because too few began in time" in one.caveats


def test_folder_with_several_counts_runs_and_programs(write: Writer) -> None:
    for run in (0, 3):
        for p in (2, 8):
            name = f"p{p:04d}-r{run:02d}.jsonl"
            write(env(p, f"camp-r{run:02d}"), cell(p=p, t_ns=(p, p + run)), END, name=f"time-{name}")
            write(env(p, f"camp-r{run:02d}", "sk_memory"), memory(p=p, steady=100 * p), END, name=f"memory-{name}")
    folder = write(env(8, "camp-r04"), cell(p=8), END, name="time-p0008-r04.jsonl").parent
    ds = read(folder)
    assert ds["function"].values.tolist() == ["MPI_Bcast", "MPI_Comm_dup"]
    assert ds["p"].values.tolist() == [2, 8]
    assert ds["run"].values.tolist() == [0, 3, 4]
    assert ds["oversubscribed"].values.tolist() == [False, True]
    assert ds["processes_per_node"].values.tolist() == [2, 8]
    np.testing.assert_allclose(ds["object_memory"].sel(function="MPI_Comm_dup"), [[200, 200, np.nan], [800, 800, np.nan]])
    assert len(json.loads(ds.attrs["inputs"])) == 9
    assert (ds.attrs["message_size_B"], ds.attrs["mpi_library"], ds.attrs["measured_on"]) == (8, "Some MPI 1.0", "node1")
    assert ds["time"].attrs == {"role": "metric", "units": "s", "long_name": "run time, common start to last end", "exact": 0}
    assert ds["object_memory"].attrs["exact"] == 1


def test_hash_of_every_input(write: Writer) -> None:
    path = write(env(), cell(), END)
    assert json.loads(read(path).attrs["inputs"]) == {
        f"{path.parent.name}/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest()
    }


def test_truncated_files_are_read_and_said_to_be_so(write: Writer, tmp_path: Path) -> None:
    write(env(), cell(), END)
    write(env(8, "camp-r00"), cell(p=8), name="time-p0008-r00.jsonl.part")
    (tmp_path / "time-p0016-r00.jsonl.part").write_text('{"rec": "e')
    ds = read(tmp_path)
    assert ds.attrs["truncated"] == "time-p0008-r00.jsonl.part"
    assert ds["p"].values.tolist() == [4, 8]
    assert json.loads(ds.attrs["notes"]) == ["time-p0016-r00.jsonl.part: ignored, the launch died before its first record"]
    assert "some run files at p = 8 end early" in series(ds)[0].caveats


def test_a_part_beside_its_finished_file_is_left_out(write: Writer, tmp_path: Path) -> None:
    write(env(), cell(), END)
    write(env(), cell(), name="time-p0004-r00.jsonl.part")
    assert read(tmp_path).attrs["truncated"] == ""


def test_campaign_record_is_kept(write: Writer, tmp_path: Path) -> None:
    write(env(), cell(), END)
    (tmp_path / "campaign.toml").write_text("schema = 1\n[arguments]\nruns = 3\n")
    assert json.loads(read(tmp_path).attrs["campaign"]) == {"schema": 1, "arguments": {"runs": 3}}
    (tmp_path / "campaign.toml").write_text("schema = = 1")
    start = re.escape(f"cannot read {tmp_path / 'campaign.toml'}: ")
    with pytest.raises(DataError, match=f"^{start}.*; restore or delete it, the run files do not need it\\.$"):
        read(tmp_path)


def test_two_campaigns_are_further_runs(write: Writer) -> None:
    a = write(env(run_id="one-r00"), cell(), memory(), END, name="a.jsonl")
    b = write(env(run_id="two-r00"), cell(t_ns=(7, 8, 9)), END, name="b.jsonl")
    ds = read([a, b])
    assert ds["run"].values.tolist() == [0, 1]
    assert np.nanmin(ds["time"].sel(run=1)) == pytest.approx(7e-9)


def test_html_in_a_name_is_data(write: Writer) -> None:
    name = "<script>alert('x')</script>&amp;{y}%"
    assert read(write(env(), cell(name), END))["function"].values.tolist() == [name]


def test_foreign_and_bypassed_and_wrong_are_caveats(write: Writer) -> None:
    records = [cell(foreign_load=0.5, verified=False), memory(bypassed=True), own_memory(), END]
    ds = read(write(env(2), *[{**r, "p": 2} if "p" in r else r for r in records]))
    by_name = {one.function: one for one in series(ds)}
    assert by_name["MPI_Bcast"].caveats == ("the results were wrong at p = 2", "other programs used about 50 % of the CPU")
    assert by_name["MPI_Comm_dup"].caveats == (
        "the library bypasses malloc at p = 2: the bytes counted are fewer than the memory used",
    )
    assert not by_name["MPI_Bcast"].decides
    assert not by_name["MPI_Comm_dup"].decides
    assert by_name["MPI_memory"].decides


def test_process_memory_needs_a_constant_number_of_processes_per_node(write: Writer, tmp_path: Path) -> None:
    for p, per_node in ((2, 2), (4, 2), (8, 2)):
        write(env(p, processes_per_node=per_node), own_memory(p), END, name=f"{p}.jsonl")
    assert series(read(tmp_path))[0].decides
    write(env(8, processes_per_node=8), own_memory(8), END, name="8.jsonl")
    (one,) = series(read(tmp_path))
    assert not one.decides
    assert one.caveats == ("the number of processes per node varies, and memory pages shared by them count proportionally",)
    write(env(8, "camp-r01"), own_memory(8), END, name="8b.jsonl")
    write(env(8, "camp-r00", processes_per_node=4), own_memory(8), END, name="8.jsonl")
    assert read(tmp_path)["processes_per_node"].values.tolist() == [2, 2, 0]
    assert not series(read(tmp_path))[0].decides


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size_B": 64}, "differ in their message size: 8 B and 64 B; read them apart."),
        ({"datatype": "int"}, "differ in their data type: 'byte' and 'int'; read them apart."),
    ],
)
def test_files_that_cannot_be_one_dataset(write: Writer, tmp_path: Path, change: dict[str, object], message: str) -> None:
    write(env(), cell(), END, name="a.jsonl")
    write(env(8), cell(p=8, **change), END, name="b.jsonl")
    with pytest.raises(DataError, match=f"^{re.escape(f'the run files in {tmp_path} {message}')}$"):
        read(tmp_path)


def test_another_library_or_a_simulator_is_another_dataset(write: Writer, tmp_path: Path) -> None:
    write(env(), cell(), END, name="a.jsonl")
    write(env(8, mpi_library="Other MPI\nsecond line"), cell(p=8), END, name="b.jsonl")
    with pytest.raises(DataError, match=r"differ in their MPI library: 'Other MPI' and 'Some MPI 1.0'; read them apart\."):
        read(tmp_path)
    write(env(8, simulated=True), cell(p=8), END, name="b.jsonl")
    with pytest.raises(DataError, match=r"differ in their kind of machine: 'real' and 'simulated'; read them apart\."):
        read(tmp_path)


def test_the_same_launch_twice(write: Writer, tmp_path: Path) -> None:
    a, b = (write(env(), cell(), END, name=name) for name in ("a.jsonl", "b.jsonl"))
    message = f"{a} and {b} are the same launch (run 'camp-r00', sk_time, 4 processes); keep one of them."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        read(tmp_path)


def test_nothing_there(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    message = f"there are no measurements at {str(missing)!r}; {WANTED}."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        read(missing)
    with pytest.raises(DataError, match=f"^read needs a path; {WANTED}\\.$"):
        read([])


@pytest.mark.parametrize(
    ("given", "shown"), [(None, "None"), (3, "3"), (b"x", "b'x'"), ("a\0b", "a\\x00b"), ("a" * 5000, "aaa"), ([None], "None")]
)
def test_what_is_no_path(given: object, shown: str) -> None:
    with pytest.raises(DataError, match=f"{re.escape(shown)}.*; {WANTED}\\.$"):
        read(given)  # type: ignore[arg-type]


def test_long_path_is_cut() -> None:
    message = f"cannot read {'a' * 80!r}: File name too long; {WANTED}."
    with pytest.raises(DataError, match=f"^{message}$"):
        read("a" * 5000)


def test_folder_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Root may read everything, so the answer of the system is replaced.
    def refused(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refused)
    with pytest.raises(DataError, match=f": Permission denied; {WANTED}\\.$"):
        read(tmp_path)


def test_leaks_are_a_caveat_that_decides_nothing(write: Writer, tmp_path: Path) -> None:
    for p, leaked in ((2, 0), (4, 240), (8, 480)):
        write(env(p), memory(p=p, leaked_B=leaked), memory("MPI_Win_create", p=p), END, name=f"memory-p{p:04d}-r00.jsonl")
    leaking, clean = series(read(tmp_path))
    assert leaking.caveats == ("up to 480 B are not given back when the objects of a launch are freed, at p = 4, 8",)
    assert leaking.decides
    assert clean.caveats == ()


def test_folder_without_run_files(tmp_path: Path) -> None:
    message = f"the folder {str(tmp_path)!r} has no run files (*.jsonl); name another or measure first."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        read(tmp_path)
    (tmp_path / "here").mkdir()
    message = f"the folder {str(tmp_path)!r} has no run files (*.jsonl); perhaps one of its folders is meant: here; "
    with pytest.raises(DataError, match=f"^{re.escape(message)}name another or measure first\\.$"):
        read(tmp_path)


def test_folder_of_launches_that_died(write: Writer, tmp_path: Path) -> None:
    write(env(), name="time-p0004-r00.jsonl.part")
    message = f"the run files in {str(tmp_path)!r} hold no measurements: all launches died early; measure again."
    with pytest.raises(RunFileError, match=f"^{re.escape(message)}$"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"no measurements\n",
            "is of no format that is read here (it begins with b'no measurements\\n'); known are run files, netCDF-3, OSU, IMB, "
            "ReproMPI, SKaMPI, Extra-P (text, JSON, JSON Lines, experiments), CUBE, Google Benchmark, "
            "pytest-benchmark, hyperfine, ReFrame's performance logs, JUBE's tables, CSV.",
        ),
        (b"\x89HDF\r\n\x1a\nmore", "is netCDF-4 or HDF5; write it as netCDF-3, with ds.to_netcdf(path, engine='scipy')."),
    ],
)
def test_other_files(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "some.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"^{re.escape(f'{path} {message}')}$"):
        read(path)


def test_netcdf_returns_what_was_written(write: Writer, tmp_path: Path) -> None:
    write(env(), cell(), memory(), own_memory(), END)
    write(env(8), cell("<b>ü</b>", p=8), name="time-p0008-r00.jsonl.part")
    ds = read(tmp_path)
    path = tmp_path / "all.nc"
    write_netcdf(ds, path)
    again = read(path)
    assert again.identical(ds)
    assert {name: again[name].dtype.kind for name in again.variables} == {n: ds[n].dtype.kind for n in ds.variables}
    assert list(tmp_path.glob(".*")) == []


def test_damaged_netcdf(write: Writer, tmp_path: Path) -> None:
    path = tmp_path / "all.nc"
    write_netcdf(read(write(env(), cell(), END)), path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(DataError, match=f"^cannot read {re.escape(str(path))} as netCDF-3: .*; the file is damaged\\.$"):
        read(path)


def test_netcdf_to_a_place_that_cannot_be_written(write: Writer, tmp_path: Path) -> None:
    path = tmp_path / "no" / "all.nc"
    message = f"cannot write {path}: No such file or directory; make room or choose another place."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        write_netcdf(read(write(env(), cell(), END)), path)
