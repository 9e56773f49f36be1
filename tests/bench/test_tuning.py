"""Algorithms of an MPI library: forced, chosen, written as its own file, and measured again in virtual time."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from scalkit.bench import Mpi, find_mpi
from scalkit.bench.tuning.files import EVERYWHERE, Algorithm, algorithms_of, own_selection, write_rules, write_settings
from scalkit.bench.tuning.tuning import Tuner, _best, _rules, _with_middles
from scalkit.bench.virtual.mpi import virtual
from scalkit.bench.virtual.network import read_network
from scalkit.cli import main
from scalkit.errors import BuildError, LaunchError, UsageError
from scalkit.stats.spans import Area

OPEN_MPI = Mpi("mpicc", "mpiexec", "Open MPI", "Open MPI v5.0.11", "3.1", "Open MPI")
INTEL_MPI = replace(OPEN_MPI, kind="Intel MPI", library="Intel(R) MPI Library 2021.16")
CHAIN, LINEAR = (algorithms_of("Open MPI")["bcast"][k] for k in (1, 0))


@pytest.fixture(scope="module")
def mpich() -> Mpi:
    try:
        found = find_mpi()
        virtual(found, read_network("cluster"))
    except (BuildError, LaunchError, UsageError) as error:
        pytest.skip(f"needs an MPI library in virtual time: {error}")
    if found.kind != "MPICH":
        pytest.skip("needs MPICH")
    return found


def test_rules_of_open_mpi_end_where_the_choice_ends(tmp_path: Path) -> None:
    rules = {
        "bcast": (Area(CHAIN, (4, 4), (64, 4096)), Area(LINEAR, (8, 8), (8, 8))),
        "allgather": (Area(LINEAR, (3, 3), (10, 20)),),
    }
    told = write_rules(OPEN_MPI, rules, tmp_path, 4)
    assert told == {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(tmp_path / "openmpi.rules"),
    }
    words = [line.partition(" #")[0] for line in (tmp_path / "openmpi.rules").read_text().splitlines()]
    chain = ["4", "3", "0 0 0 0", "64 2 4 8192", "4097 0 0 0"]
    linear = ["8", "3", "0 0 0 0", "8 1 0 0", "9 0 0 0"]
    assert words[:17] == ["2", "7", "4", *chain, "5", "1", "0 0 0 0", *linear, "9"]
    assert words[19:] == ["0", "2", "3", "3", "0 0 0 0", "30 1 0 0", "61 0 0 0", "4", "1", "0 0 0 0"]


def test_intel_mpi_has_sizes_without_gaps_and_a_file_for_each_number(tmp_path: Path) -> None:
    knomial = Algorithm("knomial", "8")
    rules = {"bcast": (Area(knomial, (4, 5), (64, 4096)),), "barrier": (Area(knomial, (5, 5), EVERYWHERE[1]),)}
    files = write_settings(INTEL_MPI, rules, tmp_path)
    assert [path.name for path in files] == ["settings-p4.sh", "settings-p5.sh"]
    bcast = "export I_MPI_ADJUST_BCAST='0:0-63;8:64-4096;0:4097-2147483647'\n"
    assert files[0].read_text() == bcast
    assert files[1].read_text() == f"{bcast}export I_MPI_ADJUST_BARRIER='8'\n"
    fewer = write_settings(INTEL_MPI, {"barrier": rules["barrier"]}, tmp_path)
    assert list(tmp_path.glob("settings*")) == [*fewer] == [files[1]]


def test_settings_are_right_in_any_folder(tmp_path: Path) -> None:
    folder = tmp_path / "it's $(false)"
    (file,) = write_settings(OPEN_MPI, {"bcast": (Area(CHAIN, (4, 4), (64, 4096)),)}, folder)
    shown = 'printf %s "$OMPI_MCA_coll_tuned_dynamic_rules_filename"'
    said = subprocess.run(["sh", "-c", f'. "$0"; {shown}', str(file)], capture_output=True, text=True, check=True)
    assert said.stdout == str(folder / "openmpi.rules")


def test_what_is_not_known_cannot_be_tuned(tmp_path: Path) -> None:
    other = replace(OPEN_MPI, kind="other", library="My MPI 1")
    with pytest.raises(UsageError, match=r"My MPI 1 cannot be tuned; MPICH, Open MPI and Intel MPI can\."):
        Tuner(tmp_path, other, (4,), (64,))
    with pytest.raises(
        UsageError, match=r"there is nothing to choose for 'scan' with Open MPI v5.0.11; choose from barrier, bcast"
    ):
        Tuner(tmp_path, OPEN_MPI, (4,), (64,), ("scan",))
    with pytest.raises(UsageError, match="a size of 6 B: sums are of integers; name multiples of 4 B"):
        Tuner(tmp_path, OPEN_MPI, (4,), (6,))


def test_a_choice_must_lie_above_the_noise() -> None:
    place = ("bcast", 4, 64)
    noisy = {place: (1.0, 1.3, 0.9, 1.2, 1.1, 1.0)}
    assert not list(_best(noisy, {("bcast", LINEAR): {place: (0.99, 1.25, 0.88, 1.15, 1.05, 0.95)}}, 1.03))
    (gain,) = _best(noisy, {("bcast", LINEAR): {place: (0.5, 0.6, 0.45, 0.55, 0.52, 0.5)}}, 1.03)
    assert gain.low > 1.5
    assert gain.algorithm == LINEAR
    exact = {place: (1.03,)}
    assert not list(_best(exact, {("bcast", LINEAR): {place: (1.01,)}}, 1.03))
    assert [one.ratio for one in _best(exact, {("bcast", LINEAR): {place: (1.0,)}, ("bcast", CHAIN): {place: (0.9,)}}, 1.03)] == [
        1.03 / 0.9
    ]


def test_powers_of_two_stay_alone_and_middles_lie_between() -> None:
    power = Algorithm("doubling", "3", only_powers=True)
    choices: dict[tuple[str, int, int], Algorithm | None] = {("bcast", p, 64): power for p in (4, 8)}
    assert [area.p for area in _rules(choices)["bcast"]] == [(4, 4), (8, 8)]
    choices = {("bcast", p, 64): LINEAR for p in (4, 8)}
    assert [area.p for area in _rules(choices)["bcast"]] == [(4, 4), (8, 8), (5, 7)]
    assert _with_middles((4, 8, 9), 1) == (4, 6, 8, 9)
    assert _with_middles((64, 1024), 4) == (64, 256, 1024)


@pytest.mark.mpi
def test_the_own_selection_of_mpich_is_kept_beside_the_rules(mpich: Mpi, tmp_path: Path) -> None:
    ring = next(one for one in algorithms_of("MPICH")["allreduce"] if one.name == "ring")
    own = own_selection(mpich)
    write_rules(mpich, {"allreduce": (Area(ring, (4, 4), (64, 4096)),)}, tmp_path, 4)
    written = json.loads((tmp_path / "mpich.json").read_text())
    before = own["collective=allreduce"]["comm_type=intra"]
    branch = written["collective=allreduce"]["comm_type=intra"]
    assert list(branch) == ["comm_size<=3", "comm_size<=4", "comm_size=any"]
    assert branch["comm_size=any"] == branch["comm_size<=3"] == before
    assert list(branch["comm_size<=4"]) == ["avg_msg_size<=63", "avg_msg_size<=4096", "avg_msg_size=any"]
    leaf = {"count<pow2": before, "count=any": {"algorithm=MPIR_Allreduce_intra_ring": {}}}
    assert branch["comm_size<=4"]["avg_msg_size<=4096"] == {"is_op_built_in=yes": leaf, "is_op_built_in=no": before}
    assert {key: value for key, value in written.items() if key != "collective=allreduce"} == {
        key: value for key, value in own.items() if key != "collective=allreduce"
    }


@pytest.mark.parametrize("content", [b'{"collective=ibarrier": {', b'{"collective=bcast": {}}'])
def test_a_selection_that_is_cut_is_none(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libmpi.so.12").write_bytes(bytes(2**17) + content + bytes(2**17))
    mpi = Mpi(str(tmp_path / "bin" / "mpicc"), "", "MPICH", "MPICH 5.0.2", "5.0", "MPICH", "")
    with pytest.raises(UsageError, match="was not found within the library of "):
        own_selection(mpi)


@pytest.mark.mpi
def test_the_file_brings_what_the_forced_algorithm_promised(
    mpich: Mpi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["model", "tune", "--out", str(tmp_path), "--mpi", mpich.mpicc, "--op", "allreduce", "-n", "4", "--size", "1024"]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "virtual time: L 1.00 us" in said
    assert "allreduce  4  1024 B  recursive_doubling" in said
    found = json.loads((tmp_path / "tune.json").read_text())
    (predicted,), (measured,) = found["predicted"], found["measured"]
    assert predicted["ratio"] == pytest.approx(measured["ratio"], rel=0.05)
    assert measured["ratio"] > 1.03
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.jsonl")}
    assert main(words) == 0
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.jsonl")} == times
