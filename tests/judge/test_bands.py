"""Bands in the JSON of a result: on demand, as the schema says, and around what was measured."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import scalkit as sk
from scalkit.cli import main
from scalkit.measure import write_netcdf

SCHEMA = json.loads(resources.files("scalkit.judge").joinpath("verdict.schema.json").read_text(encoding="utf-8"))
P = 2.0 ** np.arange(8)


def result(expectation: str = "log(p)") -> sk.judge.Validation:
    noise = np.exp(0.02 * np.random.default_rng(1).standard_normal((8, 5)))
    return sk.validate(sk.measurements(P, (3 + P)[:, None] * noise), {"f": expectation})


def test_bands_come_on_demand_and_follow_the_schema() -> None:
    found = result()
    plain, banded = json.loads(found.to_json()), json.loads(found.to_json(bands=True))
    jsonschema.validate(banded, SCHEMA)
    bands = banded["verdicts"][0].pop("bands")
    assert banded == plain
    assert bands["x"] == [*P, 512]
    assert bands["level"] == 0.9
    low, high = np.array(bands["prediction"]["low"]), np.array(bands["prediction"]["high"])
    assert (low[:-1] < found["f"].series.y).sum() >= 7
    assert (high[:-1] > found["f"].series.y).sum() >= 7
    assert low[-1] < 515 < high[-1]


def test_the_divergence_is_that_of_the_growths_in_the_band() -> None:
    divergence = result().to_dict(bands=True)["verdicts"][0]["bands"]["divergence"]
    slowest, fastest = (sk.Growth(text) for text in divergence["growths"])
    assert slowest <= sk.Growth("p/log(p)") <= fastest
    assert divergence["low"][0] is None  # log(1) is 0
    assert divergence["low"][1:] == slowest(np.array([*P[1:], 512])).tolist()
    assert divergence["high"][1:] == fastest(np.array([*P[1:], 512])).tolist()


def test_over_several_parameters_there_are_none() -> None:
    points = [(p, size) for p in (2, 4, 8, 16, 32) for size in (1, 2, 4, 8, 16)]
    data = sk.measurements(points, [1.0 + p + size for p, size in points], ("p", "S"))
    banded = sk.validate(data, {"f": "p + S"}).to_dict(bands=True)
    assert "bands" not in banded["verdicts"][0]
    jsonschema.validate(banded, SCHEMA)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_netcdf(sk.measurements(P, 3 + P), tmp_path / "run.nc")
    (tmp_path / "expect.toml").write_text('[expectations]\nf = "p"\n')
    words = ["validate", str(tmp_path / "run.nc"), "--expect", str(tmp_path / "expect.toml"), "--bands"]
    assert main([*words, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["verdicts"][0]["bands"]["x"]) == 9
    assert main(words) == 2
    assert capsys.readouterr().err == "scalkit validate: --bands adds to what --json prints; give both.\n"
