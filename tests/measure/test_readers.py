"""JSON of Google Benchmark and pytest-benchmark: real files, the parts of names, and damaged files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import DataError
from scalkit.formats.read import read
from scalkit.measure import series, write_netcdf
from scalkit.measure.schema import check

DATA = Path(__file__).parents[1] / "data" / "benchmarks"


def notes(ds) -> list[str]:
    return json.loads(ds.attrs.get("notes", "[]"))


def written(tmp_path: Path, content: object) -> Path:
    path = tmp_path / "out.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def google(*records: dict[str, Any], **context: Any) -> dict[str, Any]:
    return {"context": {"host_name": "here", **context}, "benchmarks": list(records)}


def timing(name: str, cpu: object = 1.0, **more: Any) -> dict[str, Any]:
    return {
        "name": name, "run_name": name, "run_type": "iteration", "real_time": 9.0, "cpu_time": cpu, "time_unit": "ns", **more,
    }  # fmt: skip


def test_a_real_file_of_google_benchmark(tmp_path: Path) -> None:
    ds = read(DATA / "google_benchmark.json")
    check(ds)
    assert ds.attrs["parameter"] == "n"
    assert ds["function"].values.tolist() == ["BM_Sort", "BM_Fill<int>"]
    assert ds["n"].values.tolist() == [256, 1024, 4096, 16384, 65536]
    content = json.loads((DATA / "google_benchmark.json").read_text())
    wanted = [one["cpu_time"] for one in content["benchmarks"] if one["name"] == "BM_Sort/1024"]
    np.testing.assert_allclose(ds["time"].sel(function="BM_Sort", n=1024).values.ravel() * 1e9, wanted)
    assert len(wanted) == 3
    assert notes(ds) == [
        "BM_Refused: left out where it reported an error: there is no such device",
        "Google Benchmark itself was built for debugging, which makes short run times longer",
        "2.42 programs shared 2 CPUs when Google Benchmark began",
        "left out, as they have no positive number for 'n': BM_InsertionSort, BM_Copy, BM_Nothing",
    ]
    assert (ds.attrs["measured_on"], ds.attrs["started"][:10]) == ("vm", "2026-11-21")
    assert list(json.loads(ds.attrs["inputs"])) == ["benchmarks/google_benchmark.json"]
    write_netcdf(ds, tmp_path / "copy.nc")
    assert read(tmp_path / "copy.nc").identical(ds)


def test_another_parameter_of_the_same_file() -> None:
    ds = read(DATA / "google_benchmark.json", parameter="size")
    assert ds["function"].values.tolist() == ["BM_InsertionSort", "BM_Copy[rows=8]", "BM_Copy[rows=64]"]
    content = json.loads((DATA / "google_benchmark.json").read_text())
    (wall,) = {
        one["real_time"]
        for one in content["benchmarks"]
        if one["name"] == "BM_InsertionSort/size:64/real_time" and one["repetition_index"] == 0
    }
    assert ds["time"].sel(function="BM_InsertionSort", size=64)[0, 0].item() == pytest.approx(wall * 1e-9)
    result = sk.validate(ds, {"BM_InsertionSort": "size^2", "BM_Copy": "size"})
    assert result["BM_InsertionSort"].match in ("total", "approximate")
    assert set(read(DATA / "google_benchmark.json", parameter="threads")["function"].values) == {"BM_Nothing"}


def test_aggregates_stand_for_repetitions_that_are_not_there() -> None:
    ds = read(DATA / "google_benchmark_aggregates.json", parameter="size")
    assert ds["function"].values.tolist() == ["BM_Copy[rows=8]"]
    content = json.loads((DATA / "google_benchmark_aggregates.json").read_text())
    (median,) = [one["cpu_time"] for one in content["benchmarks"] if one["name"] == "BM_Copy/rows:8/size:64_median"]
    assert ds["time"].sel(size=64).values.ravel() == pytest.approx([median * 1e-6])
    assert "BM_Copy: of the repetitions only the median is in the file" in notes(ds)


def test_files_before_version_1_5_say_aggregates_in_the_name(tmp_path: Path) -> None:
    old = [
        {"name": f"BM_f/{n}{suffix}", "cpu_time": value, "real_time": 0, "time_unit": "us"}
        for n in (8, 64)
        for suffix, value in (("_mean", 5), ("_median", 4), ("_stddev", 1))
    ]
    old += [{"name": "BM_g/8", "cpu_time": 7}, {"name": "BM_f_BigO", "cpu_coefficient": 1, "big_o": "N"}, {"name": "BM_f_RMS"}]
    ds = read(written(tmp_path, google(*old)))
    assert {one.function: (one.y * 1e9).round(6).tolist() for one in series(ds)} == {"BM_f": [4000, 4000], "BM_g": [7]}


@pytest.mark.parametrize(
    ("names", "parameter", "functions"),
    [
        (["BM_f/8", "BM_f/64"], "n", ["BM_f"]),
        (["BM_f/8/3", "BM_f/64/3", "BM_f/8/4"], "n1", ["BM_f[n2=3]", "BM_f[n2=4]"]),
        (["BM_f/size:8/threads:2", "BM_f/size:64/threads:2"], "size", ["BM_f[threads=2]"]),
        (["BM_f/min_time:0.010/8", "BM_f/iterations:10/repeats:3/64"], "n", ["BM_f"]),
        (["BM_f/case/8/process_time", "BM_f/case/64/manual_time"], "n", ["BM_f/case"]),
        (["Fixture<int, 3>/f/8", "Fixture<int, 3>/f/64"], "n", ["Fixture<int, 3>/f"]),
        (["BM_f/a b:8", "BM_f/a b:64"], "a_b", ["BM_f"]),
        (["BM_f/2nd:8", "BM_f/2nd:64"], "_2nd", ["BM_f"]),
        (["BM_f/time:8", "BM_f/time:64"], "time_", ["BM_f"]),
        (["BM_f/-1/8", "BM_f/-1/64"], "n2", ["BM_f[n1=-1]"]),
        (["BM_f/0", "BM_f/8", "BM_f/64"], "n", ["BM_f"]),
        (["BM_f/x:8", "BM_f/x:64", "BM_g/y:8", "BM_g/y:64", "BM_h/y:8", "BM_h/y:64"], "y", ["BM_g", "BM_h"]),
    ],
)
def test_parts_of_names(tmp_path: Path, names: list[str], parameter: str, functions: list[str]) -> None:
    ds = read(written(tmp_path, google(*map(timing, names))))
    assert (ds.attrs["parameter"], ds["function"].values.tolist()) == (parameter, functions)


@pytest.mark.parametrize(
    ("name", "is_wall"),
    [
        ("BM_f/{}", False),
        ("BM_f/{}/real_time", True),
        ("BM_f/{}/manual_time", True),
        ("BM_f/{}/process_time", False),
        ("BM_f/{}/process_time/real_time", True),
        ("BM_f/{}/threads:1", False),
        ("BM_f/{}/threads:4", True),
        ("BM_f/{}/process_time/threads:4", False),
    ],
)
def test_which_time(tmp_path: Path, name: str, is_wall: bool) -> None:
    ds = read(written(tmp_path, google(*(timing(name.format(n)) for n in (8, 64)))))
    assert series(ds)[0].y == pytest.approx(9e-9 if is_wall else 1e-9)


def test_skipped_and_scaled(tmp_path: Path) -> None:
    records = [timing("BM_f/8"), timing("BM_f/64"), timing("BM_g/8", skipped=True, skip_message="no GPU"),
               timing("BM_h/8", error_occurred=True)]  # fmt: skip
    assert notes(read(written(tmp_path, google(*records, cpu_scaling_enabled=True)))) == [
        "BM_g: left out where it reported an error: no GPU",
        "BM_h: left out where it reported an error: no reason given",
        "the frequency of the CPU was not fixed while these run times were measured",
    ]


def test_several_files_are_runs(tmp_path: Path) -> None:
    ds = read([DATA / "pytest_benchmark.json", DATA / "pytest_benchmark_summary.json"])
    assert ds.sizes["run"] == 2


def test_a_real_file_of_pytest_benchmark() -> None:
    ds = read(DATA / "pytest_benchmark.json")
    check(ds)
    assert ds["function"].values.tolist() == ["test_sort", "test_find[kind=list]", "test_find[kind=set]"]
    assert ds["n"].values.tolist() == [100, 300, 1000, 3000, 10000]
    content = json.loads((DATA / "pytest_benchmark.json").read_text())
    (wanted,) = [one["stats"] for one in content["benchmarks"] if one["name"] == "test_sort[1000]"]
    found = ds["time"].sel(function="test_sort", n=1000).values.ravel()
    np.testing.assert_allclose(found[np.isfinite(found)], wanted["data"])
    assert notes(ds) == ["left out, as they have no positive number for 'n': test_alone"]
    assert sk.validate(ds, {"test_find[kind=list]": "n"}).verdicts[0].match in ("total", "approximate")


def test_without_rounds_the_first_quartile_stands_for_them() -> None:
    ds = read(DATA / "pytest_benchmark_summary.json")
    content = json.loads((DATA / "pytest_benchmark_summary.json").read_text())
    assert series(ds)[0].y.tolist() == [one["stats"]["q1"] for one in content["benchmarks"]]
    assert notes(ds) == [
        "5 of 5 benchmarks have their first quartile alone in the file; --benchmark-json and --benchmark-save-data keep "
        "every round"
    ]


def pytest_file(*benchmarks: dict[str, Any]) -> dict[str, Any]:
    return {"machine_info": {"node": "here"}, "benchmarks": list(benchmarks), "version": "5"}


def row(name: str, params: object = None, stats: object = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "params": params, "stats": {"q1": 1.0} if stats is None else stats, **more}


def test_the_same_name_in_two_files(tmp_path: Path) -> None:
    rows = [
        row(f"test_f[{n}]", {"n": n, "big": 10**400, "flag": True}, fullname=f"{module}.py::test_f[{n}]")
        for module in "ab"
        for n in (8, 64)
    ]
    ds = read(written(tmp_path, pytest_file(*rows)))
    assert [str(name).split("[")[0] for name in ds["function"].values] == ["a.py::test_f", "b.py::test_f"]
    assert "flag=True" in str(ds["function"].values[0])


NO_RANGE = (
    "{} has no benchmark that ran with several values of one argument; give it a range of them, for example "
    "BENCHMARK(f)->Range(8, 8192) or @pytest.mark.parametrize('n', [100, 1000, ...])."
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"context": {', "{}, line 1, column 14: this is no valid JSON (Expecting property name enclosed in double quotes); "
         "perhaps the benchmark was stopped while it wrote; run it again."),
        ({"a": 1, "b": 2}, "{} is JSON, but not of Google Benchmark, pytest-benchmark, hyperfine or Extra-P (its "
         "keys are 'a', 'b'); name another file."),
        ({}, "{} is JSON, but not of Google Benchmark, pytest-benchmark, hyperfine or Extra-P (its keys are none); name another "
         "file."),
        (google(), "{} has no benchmark with a run time; run some, without errors."),
        (google(3), "{}: benchmark 1 has no name in 'name'; write the file again."),  # type: ignore[arg-type]
        (google({"name": 3}), "{}: benchmark 1 has no name in 'name'; write the file again."),
        (google(timing("BM_f")), NO_RANGE),
        (google(timing("BM_f/8"), timing("BM_g/64")), NO_RANGE),
        (google(timing("BM_f/8", "fast")), "{}: cpu_time of 'BM_f/8' is 'fast'; a duration, a number from 0 on, is needed."),
        (google(timing("BM_f/8", -1)), "{}: cpu_time of 'BM_f/8' is -1; a duration, a number from 0 on, is needed."),
        (google(timing("BM_f/8", float("nan"))), "{}: cpu_time of 'BM_f/8' is nan; a duration, a number from 0 on, is needed."),
        (google(timing("BM_f/8", time_unit="min")), "{}: 'BM_f/8' has the time_unit 'min'; known are ns, us, ms, s."),
        (google(timing("BM_f/8", time_unit=[1])), "{}: 'BM_f/8' has the time_unit [1]; known are ns, us, ms, s."),
        (pytest_file({"stats": {}}), "{}: benchmark 1 has no name in 'name'; write the file again."),
        (pytest_file(row("f", stats=3)), "{}: 'f' has no table 'stats'; write the file again with --benchmark-json."),
        (pytest_file(row("f", stats={})), "{}: q1 of 'f' is None; a duration, a number from 0 on, is needed."),
        (pytest_file(row("f", stats={"data": [1.0, True]})), "{}: round 2 of 'f' is True; a duration, a number from 0 on, "
         "is needed."),
        (pytest_file(row("f", [1])), "{}: the 'params' of 'f' are '[1]'; a table is needed."),
        (pytest_file(row("f", {"n": 3})), NO_RANGE),
    ],
)  # fmt: skip
def test_malformed_files(tmp_path: Path, content: object, message: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(DataError, match=f"^{re.escape(message.format(path))}$"):
        read(path)


def test_unknown_parameter() -> None:
    path = DATA / "google_benchmark.json"
    message = (
        f"{path} has no benchmark with a number for 'sise'; arguments with numbers are 'n', 'size', 'rows', 'threads'. "
        "Did you mean 'size'?"
    )
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        read(path, parameter="sise")


def test_text_that_is_not_utf_8_or_far_too_deep(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    for content in (b'{"context": "\xff"}', b'{"a": ' + b"[" * 200_000):
        path.write_bytes(content)
        with pytest.raises(DataError, match=rf"^{re.escape(str(path))} is no readable JSON \(.*\); write the file again\.$"):
            read(path)


def test_a_byte_order_mark_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(google(timing("BM_f/8"), timing("BM_f/64"))).encode())
    assert read(path).attrs["parameter"] == "n"


def test_two_arguments_make_two_parameters(tmp_path: Path) -> None:
    records = [timing(f"BM_mul/n:{n}/k:{k}", n * k) for n in (8, 16) for k in (1, 2, 4)]
    records += [timing("BM_add/n:8", 3.0), timing("BM_add/n:16", 5.0)]
    path = written(tmp_path, google(*records))
    ds = read(path, parameter=["n", "k"])
    check(ds)
    assert ds.attrs["parameter"] == "n,k"
    assert ds["time"].sel(function="BM_mul", n=16, k=4).item() == pytest.approx(64e-9)
    assert notes(ds) == ["left out, as they have no positive number for 'n' and 'k': BM_add"]
    assert read(path, parameter="n")["function"].values.tolist() == ["BM_mul[k=1]", "BM_mul[k=2]", "BM_mul[k=4]", "BM_add"]
    assert read(path, parameter=["n"])["time"].identical(read(path, parameter="n")["time"])


def test_two_unnamed_arguments(tmp_path: Path) -> None:
    path = written(tmp_path, google(*(timing(f"BM_copy/{a}/{b}", a * b) for a in (2, 4) for b in (3, 9))))
    assert read(path, parameter=["n1", "n2"])["time"].dims[1:3] == ("n1", "n2")


def test_two_parameters_of_pytest_benchmark(tmp_path: Path) -> None:
    tests = [
        {"name": f"test_f[{n}-{k}]", "params": {"n": n, "k": k}, "stats": {"data": [n * k, n * k + 1]}}
        for n in (1, 2)
        for k in (3, 4)
    ]
    path = written(tmp_path, {"machine_info": {"node": "here"}, "benchmarks": tests})
    ds = read(path, parameter=["k", "n"])
    assert ds["time"].dims == ("function", "k", "n", "run", "repetition")
    assert ds["time"].sel(n=2, k=4).values.ravel().tolist() == [8, 9]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (["n", "m"], "{path} has no benchmark with a number for 'm'; arguments with numbers are 'n', 'k'."),
        (["n", "k"], "{path} has no benchmark with a positive number for each of 'n', 'k'; name one of them, or run benchmarks "
         "that have all."),
        ([], "the parameters are an empty list; name one or more arguments of the benchmarks."),
    ],
)  # fmt: skip
def test_parameters_that_are_not_there(tmp_path: Path, wanted: list[str], message: str) -> None:
    path = written(tmp_path, google(timing("BM_a/n:8"), timing("BM_b/k:8")))
    with pytest.raises(DataError, match=f"^{re.escape(message.format(path=path))}"):
        read(path, parameter=wanted)
