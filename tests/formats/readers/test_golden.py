"""Golden files: what each reader makes of a real file, or of one after the program's documentation (README beside them)."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import scalkit as sk
from scalkit.formats.read import read
from scalkit.formats.readers.foreign import p_in_name
from scalkit.judge.expectation import sure_match
from scalkit.measure import series
from scalkit.measure.schema import check
from scalkit.support.extras import sentence

DATA = Path(__file__).parents[2] / "data" / "readers"


def values(ds, function: str, metric: str = "time", **point: float) -> list[float]:
    found = np.asarray(ds[metric].sel(function=function, **point)).ravel()
    return found[np.isfinite(found)].tolist()


def notes(ds) -> list[str]:
    return json.loads(ds.attrs.get("notes", "[]"))


ALL = (
    ("imb/mpi1.txt", "Intel MPI Benchmarks 2021.10", "p"),
    ("imb/nbc.txt", "Intel MPI Benchmarks 2021.10", "S"),
    ("imb/rma.txt", "Intel MPI Benchmarks 2021.10", "S"),
    ("imb/multi.txt", "Intel MPI Benchmarks 2021.10", "S"),
    ("imb/p2p.txt", "Intel MPI Benchmarks 2021.10", "S"),
    ("osu/osu_allreduce_np4.txt", "OSU Micro-Benchmarks 5.9", "S"),
    ("osu/osu_ibcast_p4.txt", "OSU Micro-Benchmarks 7.4", "S"),
    ("osu/osu_bw_p2.txt", "OSU Micro-Benchmarks 7.4", "S"),
    ("reprompi/raw.txt", "ReproMPI", "p"),
    ("reprompi/summary.txt", "ReproMPI", "S"),
    ("reprompi/verbose.txt", "ReproMPI", "S"),
    ("skampi/pingpong_5.sko", "SKaMPI", "S"),
    ("skampi/collectives_6.sko", "SKaMPI", "p"),
    ("extra-p/one.txt", "Extra-P text", "p"),
    ("extra-p/two.txt", "Extra-P text", "p,n"),
    ("extra-p/one.json", "Extra-P JSON", "p"),
    ("extra-p/old.json", "Extra-P JSON (old layout)", "p"),
    ("extra-p/one.jsonl", "Extra-P JSON Lines", "p"),
    ("extra-p/kept.extra-p", "Extra-P experiment 4.2.5", "p"),
    ("extra-p/means.extra-p", "Extra-P experiment 4.2.5", "p,n"),
    ("cube/set/demo.p4.r1/profile.cubex", "CUBE profile", "p"),
    ("hyperfine/scan.json", "hyperfine JSON", "n"),
    ("hyperfine/scan.csv", "hyperfine CSV", "n"),
    ("reframe/ScanTest.log", "ReFrame performance log", "n"),
    ("jube/scan.csv", "JUBE table", "n"),
    ("jube/scan.dat", "JUBE table", "n"),
    ("csv/long.csv", "CSV", "p"),
    ("csv/wide.csv", "CSV with semicolons", "nprocs"),
)


@pytest.mark.parametrize(
    ("name", "kind", "parameter"),
    [pytest.param(*one, id=one[0], marks=[pytest.mark.extra] if one[0].startswith("cube") else []) for one in ALL],
)
def test_every_format_is_recognised_whole(name: str, kind: str, parameter: str) -> None:
    ds = read(DATA / name)
    check(ds)
    assert (ds.attrs["format"], ds.attrs["parameter"]) == (kind, parameter)
    assert "truncated" not in ds.attrs
    assert list(json.loads(ds.attrs["inputs"])) == [f"{(DATA / name).parent.name}/{(DATA / name).name}"]


def test_every_golden_file_is_listed() -> None:
    listed = {name for name, _, _ in ALL}
    others = {"README.md", "make_cube.py", "scan.xml", "printed.txt", "two.json"}
    for path in DATA.rglob("*"):
        name = str(path.relative_to(DATA))
        in_folder = name.startswith(("osu/p", "cube/set/"))
        assert path.is_dir() or path.name in others or in_folder or name in listed, name


def test_imb() -> None:
    ds = read(DATA / "imb" / "mpi1.txt")
    text = (DATA / "imb" / "mpi1.txt").read_text()
    table = text.partition("# Benchmarking Bcast \n# #processes = 4")[2]
    row = next(line.split() for line in table.splitlines() if line.split()[:1] == ["8"])
    assert values(ds, "MPI_Bcast[S=8]", p=4) == [pytest.approx(float(row[3]) / 1e6, rel=0, abs=0)]
    for place, detail in ((2, "time_min"), (3, "time_max"), (4, "time_avg")):
        assert values(ds, "MPI_Bcast[S=8]", detail, p=4) == [float(row[place]) / 1e6]
    assert ds["n_repetitions"].sel(function="MPI_Bcast[S=8]", p=4).item() == 20
    assert (ds["n_repetitions"].attrs, ds["time_min"].attrs["role"]) == ({"role": "quality"}, "detail")
    assert {"MPI_Barrier", "PingPong[S=0]", "Exchange[S=16]"} <= set(ds["function"].values)
    assert json.loads(ds.attrs["metadata"])["MPI Version"] == "4.1"
    both = read(DATA / "imb" / "mpi1.txt", parameter=["p", "S"])
    assert values(both, "MPI_Bcast", p=4, S=8) == values(ds, "MPI_Bcast[S=8]", p=4)
    assert "left out, as they have no positive number for 'p' and 'S': PingPong[S=0], MPI_Bcast[S=0], " in notes(both)[0]


def test_other_parts_of_imb() -> None:
    nbc = read(DATA / "imb" / "nbc.txt", parameter="p")
    assert {"MPI_Ibcast[S=8]", "MPI_Ibarrier"} <= set(nbc["function"].values)
    assert {"time_pure", "time_cpu", "overlap"} <= set(nbc.data_vars)
    assert nbc["overlap"].attrs["units"] == "%"
    assert read(DATA / "imb" / "rma.txt")["function"].values.tolist() == [
        "Unidir_put[p=2, mode=non-aggregate]",
        "Unidir_put[p=2, mode=aggregate]",
    ]
    assert read(DATA / "imb" / "multi.txt")["function"].values.tolist() == ["Multi-PingPong[p=4, groups=2]"]


def test_osu_takes_p_from_names_of_folders() -> None:
    folder = DATA / "osu"
    ds = read([folder / f"p{p:02d}" for p in (2, 4, 8, 16, 32)])
    assert ds["p"].values.tolist() == [2, 4, 8, 16, 32]
    assert ds["function"].values.tolist()[0] == "MPI_Barrier"
    text = (folder / "p08" / "osu_bcast.txt").read_text()
    (row,) = [line.split() for line in text.splitlines() if line.split()[:1] == ["64"]]
    assert values(ds, "MPI_Bcast[S=64]", p=8) == [float(row[3]) / 1e6]
    assert values(ds, "MPI_Bcast[S=64]", "time_avg", p=8) == [float(row[1]) / 1e6]
    assert notes(ds) == []
    assert len(json.loads(ds.attrs["inputs"])) == 10
    result = sk.validate(ds, {"MPI_Bcast": "log(p)", "MPI_Barrier": "log(p)"})
    assert result["MPI_Barrier"].match in ("total", "approximate")


def test_osu_of_one_count() -> None:
    ds = read(DATA / "osu" / "osu_ibcast_p4.txt", parameter="p")
    assert ds["p"].values.tolist() == [4]
    assert values(ds, "MPI_Ibcast[S=8]", p=4) == [13e-6]
    bandwidth = read(DATA / "osu" / "osu_bw_p2.txt")
    assert (values(bandwidth, "MPI Bandwidth[p=2]", "bandwidth", S=4), bandwidth["bandwidth"].attrs["units"]) == ([12.4e6], "B/s")


def test_osu_without_p(tmp_path: Path) -> None:
    path = tmp_path / "osu.txt"
    path.write_text((DATA / "osu" / "osu_allreduce_np4.txt").read_text())
    message = (
        f"{path} is a file of OSU Micro-Benchmarks 5.9, which does not say the number of processes; put it into the name of the "
        "file or its folder, as in 'osu_p8.txt', or say it: scalkit.read(path, p=8), scalkit convert --processes 8; or read "
        "along the message size with parameter='S'."
    )
    with pytest.raises(sk.errors.DataError, match=f"^{re.escape(message)}$"):
        read(path)
    assert read(path, parameter="S")["function"].values.tolist() == ["MPI_Allreduce"]
    assert read(path, p=6, parameter="p")["p"].values.tolist() == [6]


@pytest.mark.parametrize("p", [0, -1, 1.5, True, "8"])
def test_p_that_is_none(p: object) -> None:
    message = f"p is {p!r}; the number of processes, a whole number from 1 on, is needed."
    with pytest.raises(sk.errors.DataError, match=f"^{re.escape(message)}$"):
        read(DATA / "osu", p=p)  # type: ignore[arg-type]


def test_reprompi() -> None:
    ds = read(DATA / "reprompi" / "raw.txt")
    assert ds["p"].values.tolist() == [2, 4, 8]
    rows = [line.split() for line in (DATA / "reprompi" / "raw.txt").read_text().splitlines()]
    wanted = [float(row[4]) for row in rows if row[:1] == ["MPI_Bcast"] and row[2] == "64" and row[3] == "0"]
    found = values(ds, "MPI_Bcast[S=64]", p=2) + values(ds, "MPI_Bcast[S=64]", p=4) + values(ds, "MPI_Bcast[S=64]", p=8)
    assert found == wanted
    assert len(values(ds, "MPI_Bcast[S=64]", p=8)) == 3
    assert notes(ds)[0].startswith("MPI_Bcast: 1 repetition")
    assert (ds.attrs["datatype"], json.loads(ds.attrs["metadata"])["clocksync"]) == ("MPI_BYTE", "HCA3O")


def test_reprompi_of_each_process_and_summaries() -> None:
    verbose = read(DATA / "reprompi" / "verbose.txt")
    assert values(verbose, "MPI_Bcast[p=2]", S=8) == pytest.approx([4.208e-6] * 3, abs=2e-9)
    assert len(values(verbose, "MPI_Bcast[p=2]", S=64)) == 2
    summary = read(DATA / "reprompi" / "summary.txt")
    assert values(summary, "MPI_Bcast[p=4]", S=8) == [2.4623e-06]
    assert {"time_mean", "time_min", "time_max", "n_repetitions"} <= set(summary.data_vars)


def test_reprompi_cut_before_the_last_process_of_a_repetition(tmp_path: Path) -> None:
    lines = (DATA / "reprompi" / "verbose.txt").read_text().splitlines(keepends=True)
    (tmp_path / "cut.txt").write_text("".join(lines[:-3]))
    cut = read(tmp_path / "cut.txt")
    assert len(values(cut, "MPI_Bcast[p=2]", S=64)) == 2
    assert "MPI_Bcast: 1 repetitions are left out, as not all of their processes are in the file" in notes(cut)
    assert cut.attrs["truncated"] == "cut.txt"


def test_skampi() -> None:
    ds = read(DATA / "skampi" / "collectives_6.sko")
    assert (ds["p"].values.tolist(), ds.attrs["message_size_B"]) == ([2, 4, 8, 16, 32], 32)
    assert values(ds, "MPI_Gather", p=2) == [3.0e-6]
    assert ds["n_repetitions"].sel(function="MPI_Gather", p=2).item() == 41
    result = sk.validate(ds, {"MPI_Gather": "log(p)", "MPI_Bcast": "log(p)"})
    assert sure_match(result["MPI_Gather"].probability) == "none"
    old = read(DATA / "skampi" / "pingpong_5.sko")
    assert old["S"].values.tolist() == [4, 8, 16, 32, 64]
    assert old["function"].values.tolist() == ["Pingpong_Send_Recv[p=2]"]


@pytest.mark.parametrize("name", ["one.json", "old.json", "one.jsonl", "kept.extra-p"])
def test_all_formats_of_extra_p_say_the_same(name: str) -> None:
    """The experiment was saved by Extra-P itself, which also read the others."""
    text, other = read(DATA / "extra-p" / "one.txt"), read(DATA / "extra-p" / name)
    assert text["function"].values.tolist() == ["main", "main->merge"]
    assert (text["time"].attrs["units"], text["visits"].attrs["units"]) == ("s", "1")
    for metric in ("time", "visits"):
        np.testing.assert_array_equal(text[metric], other[metric])
    assert "the file says no units; taken were time in s, visits in numbers" in notes(other)


def test_means_of_an_experiment() -> None:
    single, means = read(DATA / "extra-p" / "two.txt"), read(DATA / "extra-p" / "means.extra-p")
    wanted = single["time"].mean("repetition")
    np.testing.assert_allclose(means["time"].isel(repetition=0), wanted)
    np.testing.assert_allclose(means["time_median"], single["time"].median("repetition"))
    assert "9 measurements have no single values" in notes(means)[1]


@pytest.mark.extra
def test_cube() -> None:
    """Extra-P 4.2.5 reads the same means: 1.03 and 0.0211 s at p = 2."""
    ds = read(DATA / "cube" / "set")
    assert ds["p"].values.tolist() == [2, 4, 8, 16, 32]
    assert ds.sizes["run"] == 2
    assert ds["function"].values.tolist() == ["main", "main->MPI_Bcast"]
    assert np.mean(values(ds, "main", p=2)) == pytest.approx(1.0294850)
    assert np.mean(values(ds, "main->MPI_Bcast", p=2)) == pytest.approx(0.021115)
    assert values(ds, "main->MPI_Bcast", "visits", p=8) == [8.0, 8.0]
    assert "metrics without data are left out: empty" in notes(ds)


def test_hyperfine() -> None:
    ds = read(DATA / "hyperfine" / "scan.json")
    content = json.loads((DATA / "hyperfine" / "scan.json").read_text())
    assert ds["function"].values.tolist() == ["seq {n}"]
    assert values(ds, "seq {n}", n=6000) == content["results"][1]["times"]
    assert values(ds, "seq {n}", "time_user", n=6000) == [content["results"][1]["user"]]
    table = read(DATA / "hyperfine" / "scan.csv")
    assert values(table, "seq {n}", n=6000) == [content["results"][1]["median"]]
    two = read(DATA / "hyperfine" / "two.json")
    assert two["function"].values.tolist() == ["{tool} {n}[tool=seq]", "{tool} {n}[tool=shuf -e]"]


def test_reframe() -> None:
    ds = read(DATA / "reframe" / "ScanTest.log")
    rows = [line.split("|") for line in (DATA / "reframe" / "ScanTest.log").read_text().splitlines()]
    place, n = rows[0].index("duration_value"), rows[0].index("n")
    wanted = [float(row[place]) / 1e9 for row in rows[1:] if row[n] == "4000"]
    assert values(ds, "ScanTest[duration]", n=4000) == wanted
    assert (values(ds, "ScanTest", "rate", n=4000), ds["rate"].attrs["units"]) == ([12.5e6] * 2, "B/s")
    assert ds.attrs["measured_on"] == "generic:default"


@pytest.mark.parametrize("name", ["scan.csv", "scan.dat", "printed.txt"])
def test_jube(name: str) -> None:
    ds = read(DATA / "jube" / name)
    rows = [line.split(",") for line in (DATA / "jube" / "scan.csv").read_text().splitlines()]
    wanted = [float(row[3]) / 1e9 for row in rows[1:] if row[:2] == ["4000", "seq"]]
    assert values(ds, "f[kind=seq]", n=4000) == wanted
    assert len(wanted) == 3


def test_csv() -> None:
    ds = read(DATA / "csv" / "long.csv")
    assert ds["function"].values.tolist() == ["bcast", "<b>reduce</b>"]
    assert values(ds, "bcast", p=4) == [9e-6, 9.1e-6, 9.2e-6]
    wide = read(DATA / "csv" / "wide.csv")
    assert (wide["memory"].attrs["units"], values(wide, "f", "memory", nprocs=8)) == ("B", [108000.0])


def test_the_same_file_twice_counts_once(tmp_path: Path) -> None:
    path = DATA / "jube" / "scan.csv"
    (tmp_path / "copy.csv").write_bytes(path.read_bytes())
    ds = read([path, tmp_path / "copy.csv"])
    np.testing.assert_array_equal(ds["time"], read(path)["time"])
    assert notes(ds) == [f"{tmp_path / 'copy.csv'} is left out, as it is the same as {path}"]


def test_a_page_in_a_folder_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("| a | b |\n| --- | --- |\n| 1 | 2 |\n")
    (tmp_path / "scan.csv").write_bytes((DATA / "jube" / "scan.csv").read_bytes())
    assert notes(read(tmp_path)) == ["ignored, as they are of no known format: README.md"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "{} is empty; measure again, or name another file."),
        (b"\n \n", "{} is empty; measure again, or name another file."),
        ("p,time\n1,2\n".encode("utf-16"), "{} is UTF-16 text; save it as UTF-8."),
        (b"# OSU MPI Bcast Latency Test v7.4\n# Size       Avg Latency(us)\n8   1.0",
         "{} holds no measurement before it ends (a_p2.txt: line 3 has no line end, so the file was cut there; left out: "
         "'8   1.0'); copy it again, or measure again."),
        (b"# OSU MPI Bcast Latency Test v7.4\n# Size       Avg Latency(us)\n8 1.0 7\n16 2.0\n",
         "{}, line 3: the row '8 1.0 7' has 3 fields, the header has 2 (S, time_avg); the file is damaged there, run the "
         "benchmark again or delete the row."),
        (b"[1, 2]", "{} holds a JSON list; an object of a benchmark program is needed."),
        (b"\x1f\x8b\x08", "{} is compressed (gzip), which is not read as it is; unpack it first."),
    ],
)  # fmt: skip
def test_files_that_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a_p2.txt"
    path.write_bytes(content)
    with pytest.raises(sk.errors.DataError, match=f"^{re.escape(message.format(path))}$"):
        read(path)


def test_cube_needs_pycubexr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycubexr", None)
    path = DATA / "cube" / "set" / "demo.p4.r1" / "profile.cubex"
    message = sentence("cube", "pycubexr")
    with pytest.raises(sk.errors.MissingPackageError, match=f"^{re.escape(message)}$"):
        read(path)


@pytest.mark.extra
def test_cube_needs_a_folder_that_names_parameters(tmp_path: Path) -> None:
    path = tmp_path / "scorep" / "profile.cubex"
    path.parent.mkdir()
    path.write_bytes((DATA / "cube" / "set" / "demo.p4.r1" / "profile.cubex").read_bytes())
    message = (
        f"{path}: the folder 'scorep' names no parameter; call it as Extra-P does, as in 'run.p32.n100.r1' (r is the repetition)."
    )
    with pytest.raises(sk.errors.DataError, match=f"^{re.escape(message)}$"):
        read(path)


@pytest.mark.parametrize(
    ("name", "p"),
    [
        ("osu_bcast_p8.txt", 8), ("p0016.txt", 16), ("np4/bcast.log", 4), ("bcast.ranks-4.out", 4), ("x_nprocs=32.txt", 32),
        ("x-P2.txt", 2), ("map8.txt", None), ("p8_p16.txt", None), ("osu.txt", None), ("p0.txt", None),
    ],
)  # fmt: skip
def test_p_in_names(name: str, p: int | None) -> None:
    assert p_in_name(Path("/data") / name) == p


def test_a_folder_of_several_formats_is_combined_if_it_can_be(tmp_path: Path) -> None:
    for name in ("jube/scan.csv", "hyperfine/scan.json"):
        (tmp_path / Path(name).name).write_bytes((DATA / name).read_bytes())
    (tmp_path / "picture.bin").write_bytes(b"\x00\x01")
    ds = read(tmp_path)
    assert sorted(ds["function"].values) == ["f[kind=seq]", "f[kind=shuf]", "seq {n}"]
    assert set(ds.attrs["format"].split(", ")) == {"hyperfine JSON", "JUBE table"}
    assert "ignored, as they are of no known format: picture.bin" in notes(ds)
    assert len(series(ds)) == 3
