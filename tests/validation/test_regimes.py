"""Exact times of libraries that change their algorithm: planted ones are decided and right, or undecided for a reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import scalkit as sk
from scalkit.fit.model import Model
from scalkit.growth import Growth
from scalkit.validation import Expectation, Verdict
from scalkit.validation.judge.trusted import best_ahead
from scalkit.validation.posterior.regimes import with_regimes

MESSAGE, SEND, BLOCK = 1602.0, 300.0, 21.0  # ns: a message, what its sender pays, the bytes of a block
P = 2.0 ** np.arange(1, 8)
DATA = Path(__file__).parents[2] / "data/virtual"

ALGORITHMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "tree": lambda p: MESSAGE * np.log2(p),
    "two trees": lambda p: 2 * MESSAGE * np.log2(p),
    "ring": lambda p: MESSAGE * (p - 1),
    "linear": lambda p: MESSAGE - SEND + SEND * (p - 1),
    "binary tree": lambda p: np.maximum(MESSAGE * np.log2(p), (MESSAGE + SEND) * (np.log2(p) - 1)),
    "gather": lambda p: MESSAGE * np.log2(p) + BLOCK * (p - 1),
    "bruck": lambda p: MESSAGE * np.log2(p) + BLOCK * p / 2 * np.log2(p),
    "4-nomial": lambda p: (MESSAGE + 2 * SEND) * (np.log2(p) // 2) + MESSAGE * (np.log2(p) % 2),
}


def judged(times: np.ndarray, expected: str, p: np.ndarray = P) -> Verdict:
    values = np.repeat(np.round(times)[:, None], 3, axis=1)
    data = sk.measurements(p, 1e-9 * values, name="mine").assign_attrs(clock="virtual", virtual='{"network": "cluster"}')
    wanted = {"expectation": expected, "deviation": "p^(1/2)", "space": "ics15"}
    return sk.validate(data, {"mine": wanted}, progress=False)["mine"]


def mixed(first: str, then: str, *places: int) -> np.ndarray:
    """Return the times of one algorithm, and of another one at some places."""
    times = ALGORITHMS[first](P)
    times[list(places)] = ALGORITHMS[then](P)[list(places)]
    return times


@pytest.mark.parametrize(
    ("times", "expected", "verdict", "direction"),
    [
        pytest.param(mixed("tree", "ring", 1), "log(p)", "total", "", id="a ring with four processes"),
        pytest.param(mixed("tree", "two trees", 3), "log(p)", "total", "", id="another tree in between"),
        pytest.param(mixed("binary tree", "tree"), "log(p)", "total", "", id="a longer path with 128 processes"),
        pytest.param(mixed("bruck", "linear", 1, 2), "p*log(p)", "total", "", id="linear up to 8, then Bruck"),
        pytest.param(mixed("bruck", "linear", 1, 2), "log(p)", "none", "grows faster", id="Bruck is no tree"),
        pytest.param(mixed("ring", "tree", 0, 1, 2), "log(p)", "none", "grows faster", id="a tree up to 8, then a ring"),
        pytest.param(mixed("ring", "tree", 2), "log(p)", "none", "grows faster", id="a ring but for one"),
        pytest.param(mixed("tree", "linear", 0, 1, 2), "p", "none", "grows slower", id="linear up to 8, then a tree"),
        pytest.param(mixed("4-nomial", "tree"), "log(p)", "total", "", id="every second one has whole levels"),
        pytest.param(mixed("tree", "ring", 1, 2), "p", "none", "grows slower", id="a ring in between"),
    ],
)
def test_what_changes_at_a_few_settings_is_judged_by_the_rest(
    times: np.ndarray, expected: str, verdict: str, direction: str
) -> None:
    found = judged(times, expected)
    assert found.verdict == verdict
    if direction:
        assert found.misses == (direction == "grows faster")


@pytest.mark.parametrize("then", ["ring", "two trees"])
def test_an_algorithm_that_begins_at_the_last_setting_decides_nothing(then: str) -> None:
    found = judged(mixed("tree", then, 6), "log(p)")
    assert found.verdict == "undecided"
    assert found.posterior.apart == (128.0,)
    assert (
        "at p = 128 something else begins, perhaps another algorithm, and one value does not tell how it grows; "
        "measure beyond it" in found.remarks
    )


def test_other_settings_do_not_decide_what_begins_at_the_last_one() -> None:
    p = np.array([2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128.0])
    times = MESSAGE * np.ceil(np.log2(p))
    times[-1] *= 3
    assert judged(times, "log(p)", p).verdict == "undecided"


def test_a_verdict_names_the_settings_of_another_algorithm() -> None:
    found = judged(mixed("tree", "ring", 1), "log(p)")
    assert found.posterior.apart == (4.0,)
    assert "at p = 4 it follows something else, perhaps another algorithm; the other settings are judged" in found.remarks
    assert judged(mixed("tree", "ring"), "log(p)").posterior.apart == ()


def test_a_faster_term_of_two_hundredths_is_seen_in_exact_times() -> None:
    found = judged(ALGORITHMS["tree"](P) + 0.02 * MESSAGE * 7 * P / 128, "p")
    assert found.verdict == "total"


def test_the_steps_of_a_tree_are_shown_though_a_sum_with_them_is_more_probable() -> None:
    found = judged(MESSAGE * np.log2(P) + 0.6 * (P - 1), "p")
    assert found.posterior.weight_of(found.model.growth) < 0.5
    assert (str(found.model.growth), found.answer) == ("log(p)", "fine")
    assert found.model(P) == pytest.approx(found.series.y, rel=0.02)


@pytest.mark.parametrize(("expected", "place"), [("p", 1), ("p^(1/8)", 0)])
def test_what_is_shown_misses_to_the_side_of_what_is_probable(expected: str, place: int) -> None:
    """Where 1/3 is too much, log(p), which is less than p^(1/8), is not shown for it; where both are less, it is."""
    y = MESSAGE * np.log2(P)
    models = [
        Model(0.0, c, Growth.parse(growth, "p"), "p", "s", 0.99, 0.1, np.log2(c), weight=weight)
        for growth, c, weight in (("p^(1/3)", 2 * MESSAGE, 0.9), ("log(p)", MESSAGE, 0.05))
    ]
    expectation = Expectation(expected, "p^(1/64)", "p")
    assert best_ahead(models, P, y, expectation) == place


def test_at_least_four_settings_follow_the_term() -> None:
    y = P / P[-1]
    errors = with_regimes(y, np.outer(np.linspace(0, 0.1, 8), y), np.full(8, 1 / 8))
    assert errors.apart.any(axis=1).sum() > 0
    assert ((~errors.apart).sum(axis=1) >= 4).all()
    assert errors.scales.shape == errors.apart.shape == (len(errors.masses), len(P))
    few = with_regimes(y[:4], np.outer(np.linspace(0, 0.1, 8), y[:4]), np.full(8, 1 / 8))
    assert not few.apart.any()


@pytest.mark.slow
def test_the_litmus_test_of_three_libraries_is_total() -> None:
    for folder in ("mpich-5.0.2", "openmpi-5.0.11", "intel-2021.16.0"):
        found = sk.validate(sk.read(DATA / folder), "mpi", progress=False)["Bcast_binary_tree"]
        assert found.verdict == "total"
        depth = np.log2(found.series.x)
        message = found.series.y[0]
        paths = np.maximum(depth * message, (depth - 1) * (message + SEND * 1e-9))  # left children, and right ones above them
        np.testing.assert_allclose(found.series.y, paths, atol=8e-9)


@pytest.mark.parametrize("place", [0, 1, 3, 5])
def test_a_share_that_is_zero_somewhere_is_one_setting_apart(place: int) -> None:
    y = np.where(np.arange(len(P)) == place, 0, 1e-3 * np.log2(P))
    data = sk.measurements(P, y, name="f", metric="idle_share", unit="1").assign_attrs(clock="virtual")
    with np.errstate(divide="raise", invalid="raise"):
        found = sk.validate(data, {"f": "log(p)"}, progress=False)["f"]
    assert found.series.virtual
    assert (found.verdict, found.posterior.apart) == ("total", (P[place],))
