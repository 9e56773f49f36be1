"""What a verdict tells a person: the plain model of counted bytes, long times, answers along each parameter, the litmus test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import scalkit as sk
from scalkit.cli import main
from scalkit.judge.told.sentences import _shown

P = 2.0 ** np.arange(1, 8)


def test_bytes_with_an_odd_first_setting_have_the_plain_model() -> None:
    y = 2792 + 28 * P
    y[0] += 24
    data = sk.measurements(P, y, name="MPI_Comm_dup", metric="object_memory", unit="B", exact=True)
    data["object_memory"].attrs["resolution"] = 16.0
    verdict = sk.validate(data, "mpi")["MPI_Comm_dup"]
    assert str(verdict.model) == "2.80 kB + 28.0 B * p"
    assert verdict.problem == "MPI_Comm_dup keeps 28.0 B for every process, 280 kB at 10,000"


@pytest.mark.parametrize(
    ("seconds", "shown"), [(999, "999 s"), (5000, "5,000 s"), (7300, "2.03 h"), (9.5e6, "110 days"), (1e12, "31,688 years")]
)
def test_long_times_have_the_units_of_people(seconds: float, shown: str) -> None:
    assert _shown(seconds, "s") == shown


def test_each_parameter_has_an_answer() -> None:
    a, b = (one.ravel() for one in np.meshgrid(P, 4.0 ** np.arange(3, 9)))
    values = (1e-6 * (a + 1e-3 * b))[:, None] * np.random.default_rng(1).lognormal(0, 0.02, (len(a), 5))
    verdict = sk.validate(sk.measurements(np.stack([a, b], 1), values, ["p", "S"], name="g"), "log(p) + S")["g"]
    assert {name: one.answer for name, one in verdict.along.items()} == {"p": "fix", "S": "fine"}
    assert verdict.to_dict()["along"]["p"]["answer"] == "fix"


def test_a_litmus_test_that_cannot_tell_accuses_nobody(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    y = 1e-6 * np.random.default_rng(2).lognormal(0, 0.8, (5, 5))
    data = sk.measurements(P[:5], y, name="f")
    result = sk.validate(data, {"f": "1"}, litmus="f")
    assert result["f"].answer == "cannot tell"
    assert result.litmus is not None
    assert "says nothing about the others" in result.litmus.sentence
    data.to_netcdf(tmp_path / "run.nc")
    assert main(["validate", str(tmp_path / "run.nc"), "--expectation", "f = log(p)"]) == 0
    assert "Excludes faster than" in capsys.readouterr().out
