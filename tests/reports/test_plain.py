"""Expectations travel as plain values and come back the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import scalkit as sk
from scalkit.judge import ExpectationSet, SearchSpace, load_expectations
from scalkit.reports.inputs import from_plain, plain_expectations


def test_names_paths_and_growths_stay_text() -> None:
    assert plain_expectations("mafia") == "mafia"
    assert plain_expectations(Path("own.toml")) == "own.toml"
    assert plain_expectations("log p") == "log p"


@pytest.mark.parametrize("name", ["mpi", "mafia"])
def test_a_set_comes_back_the_same(name: str) -> None:
    given = load_expectations(name)
    plain = json.loads(json.dumps(plain_expectations(given)))
    assert from_plain(plain) == ExpectationSet(dict(given.functions), given.rules, given.litmus, given.name)


def test_own_spaces_and_constants_come_back_the_same() -> None:
    expectation = sk.Expectation("k^3*2^k")
    space = SearchSpace.around(expectation).with_tick("k^5*2^k")
    given = {"f": {"expectation": expectation.growth, "space": space}, "g": "1", "h": sk.Expectation("p", "log(p)")}
    back = from_plain(json.loads(json.dumps(plain_expectations(given)))).functions
    assert back["f"].space == space
    assert back["f"].expectation == expectation
    assert back["g"].expectation.growth.is_constant
    assert str(back["h"].expectation.deviation) == "log(p)"
