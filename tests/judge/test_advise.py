"""Where to measure next: far points tell growths apart, costs count, and when to stop."""

from __future__ import annotations

import re

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import UsageError
from scalkit.judge.advise import Advice, Candidate, _information, advise
from scalkit.judge.fit.regression.mixture import Mixture

P = np.array([2.0, 4.0, 8.0, 16.0, 32.0])
OPEN = 1 + np.log2(P) + P / 20
"""Values at `P` that do not tell log(p) from faster growths."""


def result(noise: float, y: np.ndarray = OPEN, name: str = "f") -> sk.Validation:
    values = y[:, None] * np.exp(np.random.default_rng(1).normal(0, noise, (5, 5))) * 1e-6
    return sk.validate(sk.measurements(P, values, name=name), {name: "log(p)"})


def information(advice: Advice) -> dict[float, float]:
    return {candidate.x: candidate.information for candidate in advice.candidates}


def test_far_points_tell_more_and_costs_count() -> None:
    verdict = result(0.05)["f"]
    assert verdict.answer == "cannot tell"
    free = advise(verdict, [40, 64, 512], None)
    assert [c.x for c in free.candidates] == [512, 64, 40]
    assert all(0 <= c.information <= 1 for c in free.candidates)
    dear = advise(verdict, [256, 512], lambda p: p**4)
    assert [c.x for c in dear.candidates] == [256, 512]
    by_p = advise(verdict, [64, 512], "p")
    assert [c.cost for c in sorted(by_p.candidates, key=lambda c: c.x)] == [64, 512]


def test_what_tells_little_comes_last_however_cheap() -> None:
    advice = advise(result(0.05)["f"], [8, 256, 512], lambda p: 1e-6 if p == 8 else p)
    assert [c.x for c in advice.candidates] == [256, 512, 8]
    assert advice.candidates[2].value > advice.candidates[0].value
    assert advice.information == advice.candidates[1].information


@pytest.mark.parametrize("noise", [0.02, 0.05, 0.1])
def test_points_that_were_measured_tell_little(noise: float) -> None:
    found = information(advise(result(noise)["f"], [2, 4, 8, 16, 32, 512], None))
    assert max(found[x] for x in P) < 0.25 * found[512]


def test_points_between_measured_ones_tell_little_where_those_follow_no_law() -> None:
    found = information(advise(result(0.005, OPEN * [1, 0.9, 1.1, 0.95, 1])["f"], [6, 12, 24, 512], None))
    assert max(found[x] for x in (6, 12, 24)) < 0.25 * found[512]


def test_exact_values_need_no_repetition() -> None:
    values = np.array([4096.0, 4480, 5184, 6016, 7936])
    found = sk.validate(sk.measurements(P, values, metric="object_memory"), {"f": "log(p)"})
    told = information(advise(found["f"], [8, 32, 64], None))
    assert told[8] == told[32] == 0
    assert told[64] > 0.1


def test_what_a_candidate_tells_does_not_depend_on_the_others() -> None:
    counts = np.array([4099.0, 4480, 5184, 6016, 7936])
    found = sk.validate(sk.measurements(P, counts, metric="object_memory"), {"f": "log(p)"})
    for verdict in (found["f"], result(0.05)["f"]):
        alone = advise(verdict, [64], None).information
        assert alone > 0.1
        assert information(advise(verdict, [32, 64, 1e6], None))[64] == pytest.approx(alone, rel=1e-3)


def test_information_is_that_of_the_answer_about_the_value() -> None:
    """Of two normal distributions far apart it is one bit, of equal ones none."""
    centre = np.array([[0.0, 0.0], [1.0, 0.0]])
    mixture = Mixture(np.full((2, 2), 0.5), centre, np.full((2, 2), 1e-3))
    assert _information(mixture, np.array([True, False])) == pytest.approx([1.0, 0.0], abs=1e-6)
    assert _information(mixture, np.array([True, True])) == pytest.approx([0.0, 0.0], abs=1e-6)


def test_a_setting_costs_what_it_says_whatever_the_parameter_is_called() -> None:
    y = (1 + np.log2(P))[:, None] * np.exp(np.random.default_rng(1).normal(0, 0.1, (5, 5)))
    found = sk.validate(sk.measurements(P, y, "n"), {"f": "log(n)"})
    for advice in (found.advise([64]), found.advise([64], "n")):
        assert advice["f", "time"].candidates[0].cost == 64


def test_rivals_disagree_where_it_tells() -> None:
    advice = advise(result(0.02)["f"], [512], None)
    (first, y), (second, z) = advice.candidates[0].predictions
    claim = sk.Growth("log(p)")
    assert (first > claim) != (second > claim)
    assert y != pytest.approx(z, rel=0.05)
    assert not advice.stop
    assert re.fullmatch(
        r"Measure p = 512: f grows faster than claimed with a probability of \d+ %; "
        r"there \S+ predicts \S+ us and \S+ predicts \S+ us\.",
        advice.sentence,
    )


@pytest.mark.parametrize(("y", "answer"), [(P, "fix"), (1 + np.log2(P), "fine")])
def test_an_answer_is_a_reason_to_stop(y: np.ndarray, answer: str) -> None:
    advice = result(0.02, y).advise([64])["f", "time"]
    assert advice.verdict.answer == answer
    assert advice.stop
    assert advice.sentence == f"Stop: the answer for f is {answer}."


def test_stop_where_no_candidate_tells() -> None:
    verdict = result(0.05)["f"]
    advice = advise(verdict, [4, 8])
    assert verdict.answer == "cannot tell"
    assert advice.stop
    assert re.fullmatch(
        r"Stop: f grows faster than claimed with a probability of \d+ %, and no candidate tells more than 0\.0[0-3] bit; "
        r"offer larger points\.",
        advice.sentence,
    )
    assert not advise(verdict, [4, 512]).stop


@pytest.mark.parametrize(("bits", "stop"), [(0.02, True), (0.04, False)])
def test_bounds_of_stopping(bits: float, stop: bool) -> None:
    verdict = result(0.05)["f"]
    assert Advice(verdict, (Candidate(64, 64, bits, ()),)).stop is stop


def test_values_that_decide_nothing_are_measured_again_first() -> None:
    data = sk.measurements(P, OPEN * 1e-6, name="f").assign_coords(oversubscribed=("p", P > 8))
    advice = sk.validate(data, {"f": "log(p)"}).advise([64])["f", "time"]
    assert advice.sentence.startswith("Measure f again first, as its values decide nothing: ")


def test_a_deviation_that_was_given_is_no_reason_to_measure_on() -> None:
    values = (P * 1e-6)[:, None] * np.exp(np.random.default_rng(1).normal(0, 0.02, (5, 5)))
    found = sk.validate(sk.measurements(P, values), {"f": {"expectation": "log(p)", "deviation": "p"}})
    assert found.advise([64])["f", "time"].sentence == "Stop: the answer for f is fine."


def test_html_is_escaped() -> None:
    name = "<b>f"
    shown = result(0.05, name=name).advise([64])[name, "time"]._repr_html_()
    assert "<b>f" not in shown
    assert "&lt;b&gt;f" in shown


@pytest.mark.parametrize(
    ("candidates", "cost", "message"),
    [
        ([], "p", "candidates are []; name at least one positive setting to measure."),
        ([-1], "p", "candidates are [-1]; name at least one positive setting to measure."),
        ([0.5, 64], "p", "the candidate p = 0.5 is where log(p) has no value; leave it out."),
        ([64], "n", "cost is 'n'; name the parameter, 'p', give a function of it, or None."),
        ([64], lambda p: 0.0, "costs are [0.0]; every cost must be positive and finite."),
        ([64], 3, "cost is 3; name the parameter, 'p', give a function of it, or None."),
        ([64], lambda p: "high", "costs are ['high']; the function of the setting must return a number."),
        ("all", "p", "candidates are 'all'; name at least one positive setting to measure."),
        ([[1], [1, 2]], "p", "candidates are [[1], [1, 2]]; name at least one positive setting to measure."),
    ],
)
def test_refused(candidates: object, cost: object, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        result(0.05).advise(candidates, cost)  # type: ignore[arg-type]
