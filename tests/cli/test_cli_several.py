"""`scalkit validate` on measurements over several parameters."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from scalkit.cli import main


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    records = [
        {"name": f"BM_mul/n:{n}/k:{k}", "real_time": 9.0, "cpu_time": 5.0 + n * k, "time_unit": "ns"}
        for n, k in itertools.product((8, 16, 32, 64, 128), (3, 9, 27, 81, 243))
    ]
    (tmp_path / "out.json").write_text(json.dumps({"context": {}, "benchmarks": records}))
    (tmp_path / "expect.toml").write_text('[expectations]\nBM_mul = "n + k"\n')
    return tmp_path / "out.json"


def test_table_of_two_arguments(benchmark: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expect = str(benchmark.with_name("expect.toml"))
    assert main(["validate", str(benchmark), "--expect", expect, "--parameter", "n, k"]) == 1
    shown = capsys.readouterr().out
    for text in ("k + n", "5.00 ns + 1.00 ns * k*n", "(k*n)/(k + n)", "✗ fix"):
        assert text in shown
    assert "1 problem: BM_mul grows as k*n instead of k + n: 498 us at n = 512, k = 972" in shown


def test_json_of_two_arguments(benchmark: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expect = str(benchmark.with_name("expect.toml"))
    main(["validate", str(benchmark), "--expect", expect, "--parameter", "n,k", "--json"])
    (verdict,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert verdict["parameters"] == ["n", "k"]
    assert {name: one["match"] for name, one in verdict["along"].items()} == {"n": "total", "k": "total"}


def test_one_of_two_arguments_is_still_a_choice(benchmark: Path, capsys: pytest.CaptureFixture[str]) -> None:
    benchmark.with_name("expect.toml").write_text('[expectations]\nBM_mul = "n"\n')
    expect = str(benchmark.with_name("expect.toml"))
    assert main(["validate", str(benchmark), "--expect", expect, "--parameter", "n"]) == 0
    assert "BM_mul[k=243]" in capsys.readouterr().out
