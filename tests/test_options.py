"""Every option of judging reaches Python, the app, the report, the command line and tests, and does the same in each."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from scalkit.cli.options.declared import add_judging
from scalkit.cli.options.expected import judging_of
from scalkit.errors import DataError, UsageError
from scalkit.judge import SearchSpace
from scalkit.measure import write_netcdf
from scalkit.pytest_plugin.scaling_check import ScalingCheck
from scalkit.reports.pages.verdicts import open_verdicts
from scalkit.session.plain import options_from, plain_options
from scalkit.support.options import MIN_POINTS, OPTIONS, Judging, JudgingOptions
from scalkit.widgets.explorer.data_picker import DataPicker

P = [2, 4, 8, 16, 32, 64]
OTHER: dict[str, Any] = {"statistic": "median", "min_points": 4, "scaling": "weak", "space": "paper",
                         "strictness": "paper", "resolution": "p^(1/4)"}  # fmt: skip


@pytest.fixture
def data() -> xr.Dataset:
    noise = np.random.default_rng(1).lognormal(0, 0.02, (len(P), 5))
    return sk.measurements(P, (100 / np.array(P))[:, None] * noise, unit="us", name="f")


def test_every_option_has_another_value_here() -> None:
    assert set(OTHER) == set(OPTIONS) == set(get_type_hints(JudgingOptions))
    assert set(Judging.of(OTHER).changed) == set(OPTIONS)
    assert Judging().min_points == MIN_POINTS


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_is_everywhere(name: str, data: xr.Dataset, tmp_path: Path) -> None:
    value = OTHER[name]
    expected = sk.validate(data, {"f": "1"}, **{name: value}).to_json()
    session = sk.Session(data, {"f": "1"}, **{name: value})
    assert session.result.to_json() == expected
    later = sk.Session(data, {"f": "1"}).judge_by(**{name: value})
    assert later.result.to_json() == expected
    assert later.undo().state.judging == Judging()

    write_netcdf(data, tmp_path / "f.nc")
    (tmp_path / "e.toml").write_text('[expectations]\nf = "1"\n')
    page = open_verdicts([str(tmp_path / "f.nc")], str(tmp_path / "e.toml"), **{name: value})
    assert page.judging == Judging.of({name: value})
    assert page.result.to_dict()["verdicts"] == json.loads(expected)["verdicts"]
    assert sk.Session.load(page.session_values).state.judging == page.judging

    parser = argparse.ArgumentParser()
    add_judging(parser.add_argument_group("judging"))
    assert judging_of(parser.parse_args([f"--{name.replace('_', '-')}", str(value)])) == {name: value}
    assert judging_of(parser.parse_args([])) == {}

    check = ScalingCheck.of({"expectation": "1", "n": [1, 2, 3, 4, 5], name: value})
    assert check.judging == Judging.of({name: value})

    picker = DataPicker(later)
    assert f'data-press="{name}"' in "".join(picker.pieces.values())
    picker._actions()[name]({"key": str(value)})
    assert later.state.judging == Judging.of({name: value})


@pytest.mark.parametrize("name", OPTIONS)
def test_a_session_keeps_options_in_its_file_and_its_code(name: str, data: xr.Dataset, tmp_path: Path) -> None:
    session = sk.Session(data, {"f": "1"}).judge_by(**{name: OTHER[name]})
    again = sk.Session.load(session.save(tmp_path / "s.json") and tmp_path / "s.json")
    assert again.state.judging == session.state.judging
    assert again.undo().state.judging == Judging()
    assert f"{name}={OTHER[name]!r}".replace("'", '"') in session.as_code()


def test_a_search_space_survives_as_json() -> None:
    own = SearchSpace.of(["1", "log(p)", "p"], "own", "p")
    for space in (own, "ics15", {"p": own, "S": "paper"}):
        judging = Judging(space=space)
        assert Judging.of(options_from(json.loads(json.dumps(plain_options(judging))))) == judging


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"statistics": "q1"}, UsageError, "the option 'statistics' of judging is unknown; did you mean 'statistic'?"),
        ({"x": 1}, UsageError, "the option 'x' of judging is unknown; there are statistic, min_points, scaling, space, "
         "strictness, resolution."),
        ({"scaling": "fast"}, UsageError, "the scaling 'fast' is unknown; choose auto or weak."),
        ({"strictness": 1}, UsageError, "the strictness cannot be 1; choose strict, paper or a growth."),
        ({"resolution": 1}, UsageError, "the resolution cannot be 1; write a growth such as 'n^(1/4)', or any."),
        ({"min_points": 2}, DataError, "min_points is 2; a whole number of at least 3 is needed, 5 by default."),
    ],
)  # fmt: skip
def test_wrong_options(options: dict[str, Any], error: type[Exception], message: str, data: xr.Dataset) -> None:
    for call in (lambda: Judging.of(options), lambda: sk.validate(data, {"f": "1"}, **options),
                 lambda: sk.Session(data, {"f": "1"}, **options)):  # fmt: skip
        with pytest.raises(error) as raised:
            call()
        assert str(raised.value) == message
