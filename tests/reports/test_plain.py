"""Expectations travel as plain values and come back the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import scalkit as sk
from scalkit.reports.inputs import from_plain, to_plain
from scalkit.validation import ExpectationSet, SearchSpace, load_expectations


def test_names_and_paths_stay_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert to_plain(None) == "mpi"
    assert to_plain("mafia") == "mafia"
    assert to_plain("own.toml") == str(tmp_path / "own.toml")


@pytest.mark.parametrize("name", ["mpi", "mafia"])
def test_a_set_comes_back_the_same(name: str) -> None:
    given = load_expectations(name)
    plain = json.loads(json.dumps(to_plain(given)))
    assert from_plain(plain) == ExpectationSet(dict(given.functions), given.rules, given.litmus, given.name)


def test_own_spaces_and_constants_come_back_the_same() -> None:
    expectation = sk.Expectation("k^3*2^k")
    space = SearchSpace.around(expectation).with_tick("k^5*2^k")
    given = {"f": {"expectation": expectation.growth, "space": space}, "g": "1", "h": sk.Expectation("p", "log(p)")}
    back = from_plain(json.loads(json.dumps(to_plain(given)))).functions
    assert back["f"].space == space
    assert back["f"].expectation == expectation
    assert back["g"].expectation.growth.is_constant
    assert str(back["h"].expectation.deviation) == "log(p)"
