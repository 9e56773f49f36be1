"""A machine that is busy, and values that cannot decide, are told from what grows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scalkit as sk
from scalkit.judge.expectation import sure_match
from scalkit.judge.limit import limit

N = 1000 * 2 ** np.arange(6)


def google_benchmark(tmp_path: Path, load: float, stretched: tuple[float, float] = (8, 20)) -> Any:
    """Return what Google Benchmark measured of a linear function by real time, on a machine of two CPUs."""
    rng = np.random.default_rng(1)
    records = []
    for n in N.tolist():
        for _ in range(5):
            cpu = float(n * rng.lognormal(0, 0.02))
            real = float(cpu * rng.uniform(*stretched))
            one = {"name": f"BM_f/{n}/real_time", "run_type": "iteration", "time_unit": "ns"}
            records.append({**one, "run_name": one["name"], "real_time": real, "cpu_time": cpu})
    context = {"load_avg": [load, load, load], "num_cpus": 2, "library_build_type": "debug"}
    (tmp_path / "b.json").write_text(json.dumps({"context": context, "benchmarks": records}))
    return sk.read(tmp_path / "b.json")


def test_real_time_on_a_busy_machine_decides_nothing_and_cpu_time_does(tmp_path: Path) -> None:
    data = google_benchmark(tmp_path, 82)
    result = sk.validate(data, {"BM_f": "1"})
    assert (result["BM_f"].answer, result.exit_status()) == ("cannot tell", 0)
    assert any("expect something of 'BM_f (cpu_time)'" in one for one in result.warnings)
    assert sk.validate(data, {"BM_f": {"cpu_time": "1"}}).exit_status() == 1
    assert sk.validate(data, {"BM_f": {"cpu_time": "n"}})["BM_f"].answer == "fine"
    assert "82 programs shared 2 CPUs" in data.attrs["notes"]
    assert "built for debugging" in data.attrs["notes"]


def test_waiting_alone_is_said_and_an_idle_machine_is_not(tmp_path: Path) -> None:
    waits = sk.validate(google_benchmark(tmp_path, 0.5), {"BM_f": "n"})["BM_f"]
    assert waits.decides
    assert "times the CPU time" in waits.caveats[0]
    idle = google_benchmark(tmp_path, 0.5, (1.0, 1.05))
    assert "cpu_time" not in idle
    assert not sk.validate(idle, {"BM_f": "n"})["BM_f"].caveats


def test_run_times_beside_much_foreign_load_decide_nothing() -> None:
    y = 1e-6 * N[:, None] * np.random.default_rng(1).lognormal(0, 0.02, (6, 5))
    data = sk.measurements(N, y, parameter="n", name="f")
    for load, answer in ((0.2, "fix"), (0.7, "cannot tell")):
        beside = data.assign(foreign_load=(("function", "n"), np.full((1, 6), load)))
        beside["foreign_load"].attrs["role"] = "detail"
        verdict = sk.validate(beside, {"f": "1"})["f"]
        assert verdict.answer == answer
        assert f"other programs used about {100 * load:.0f} % of the CPU" in verdict.caveats[0]


def test_interrupted_processes_are_told_and_decide_nothing_beside_a_foreign_load() -> None:
    y = 1e-6 * N[:, None] * np.random.default_rng(1).lognormal(0, 0.02, (6, 5))
    data = sk.measurements(N, y, parameter="n", name="f")
    detail = {"role": "detail"}
    switched = data.assign(involuntary_switches=(("function", "n"), np.array([[90.0, 95, 88, 97, 90, 3]]), detail))
    for others, said in ({}, 1), ({"foreign_load": (("function", "n"), np.full((1, 6), 0.3), detail)}, 2):
        verdict = sk.validate(switched.assign(others), {"f": "1"})["f"]
        assert verdict.answer == ("fix" if said == 1 else "cannot tell")
        assert "the scheduler took the CPU from a process about 90 times a second" in verdict.caveats[0]
    quiet = data.assign(involuntary_switches=(("function", "n"), np.full((1, 6), 4.0), detail))
    assert not sk.validate(quiet, {"f": "n"})["f"].caveats


@pytest.mark.parametrize("parameter", ["n", "p"])
@pytest.mark.parametrize("claim", ["1", "log({})"])
def test_what_no_term_follows_is_no_violation(parameter: str, claim: str) -> None:
    y = 1e-6 * np.array([1, 2.2, 0.8, 2.4, 0.9, 2.0])[:, None] * np.random.default_rng(11).lognormal(0, 0.01, (6, 5))
    result = sk.validate(sk.measurements(N, y, parameter, name="f"), {"f": claim.format(parameter)})
    assert (sure_match(result["f"].probability), result.exit_status()) == (None, 0)


def test_predictions_from_unclear_values_say_so() -> None:
    p = 2.0 ** np.arange(1, 6)
    y = 1e-6 * (1 + np.log2(p) + p / 10)[:, None] * np.random.default_rng(1).lognormal(0, 0.05, (5, 5))
    verdict = sk.validate(sk.measurements(p, y, name="f"), {"f": sk.Expectation("log(p)", "p^(1/2)")})["f"]
    assert sure_match(verdict.probability) is None
    assert "do not decide how it grows: that is a guess" in limit(verdict, "1 s").sentence
