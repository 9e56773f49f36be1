"""Where to measure next: far points tell growths apart, costs count, and when to stop."""

from __future__ import annotations

import re

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import UsageError
from scalkit.validation.advise import Advice, Candidate, advise

P = np.array([2.0, 4.0, 8.0, 16.0, 32.0])


def result(noise: float, seed: int = 1, name: str = "f") -> sk.Validation:
    rng = np.random.default_rng(seed)
    y = (1 + np.log2(P))[:, None] * np.exp(rng.normal(0, noise, (5, 5))) * 1e-6
    return sk.validate(sk.measurements(P, y, name=name), {name: {"expectation": "log(p)", "deviation": "p^(1/4)"}})


def test_far_settings_tell_more_and_costs_count() -> None:
    posterior = result(0.1)["f"].posterior
    free = advise(posterior, [8, 64, 512], None)
    assert [c.x for c in free.candidates] == [512, 64, 8]
    assert all(c.information >= 0 for c in free.candidates)
    assert free.candidates[0].information <= np.log2(3)
    dear = advise(posterior, [256, 512], lambda p: p**4)
    assert [c.x for c in dear.candidates] == [256, 512]
    by_p = advise(posterior, [64, 512], "p")
    assert [c.cost for c in sorted(by_p.candidates, key=lambda c: c.x)] == [64, 512]


def test_what_tells_little_comes_last_however_cheap() -> None:
    advice = advise(result(0.1)["f"].posterior, [8, 256, 512], lambda p: 1e-6 if p == 8 else p)
    assert [c.x for c in advice.candidates] == [256, 512, 8]
    assert advice.candidates[2].value > advice.candidates[0].value
    assert advice.information == advice.candidates[1].information


def repeated(y: np.ndarray, again: int) -> float:
    """Return the information at the last setting, which has `again` times as many repetitions as the others."""
    values = np.full((5, 5 * again), np.nan)
    values[:, :5] = y
    values[-1] = np.tile(y[-1], again)
    found = sk.validate(sk.measurements(P, values), {"f": {"expectation": "log(p)", "deviation": "p^(1/4)"}})
    return advise(found["f"].posterior, [P[-1]], None).information


def test_repetitions_tell_less_the_more_there_are() -> None:
    y = (1 + np.log2(P))[:, None] * np.exp(np.random.default_rng(1).normal(0, 0.1, (5, 5)))
    few, many = repeated(y, 1), repeated(y, 20)
    assert 0 < many < 0.3 * few


def test_repetitions_tell_less_where_settings_deviate() -> None:
    values = (1 + np.log2(P) * [1, 1.1, 0.9, 1.1, 0.9])[:, None] * np.exp(np.random.default_rng(1).normal(0, 0.003, (5, 5)))
    found = sk.validate(sk.measurements(P, values), {"f": {"expectation": "log(p)", "deviation": "p^(1/4)"}})
    again, new = sorted(advise(found["f"].posterior, [32, 33], None).candidates, key=lambda c: c.x)
    assert again.information < 0.1 * new.information


def test_without_repetitions_a_second_value_tells_as_much_as_a_new_setting() -> None:
    values = (1 + np.log2(P)) * np.exp(np.random.default_rng(1).normal(0, 0.03, 5))
    found = sk.validate(sk.measurements(P, values), {"f": {"expectation": "log(p)", "deviation": "p^(1/4)"}})
    again, new = sorted(advise(found["f"].posterior, [32, 32.1], None).candidates, key=lambda c: c.x)
    assert again.information == pytest.approx(new.information, rel=0.1)


def test_exact_values_need_no_repetition() -> None:
    values = np.array([4096.0, 4480, 5184, 6016, 7936])
    found = sk.validate(sk.measurements(P, values, metric="object_memory"), {"f": "log(p)"})
    again, new = sorted(advise(found["f"].posterior, [32, 64], None).candidates, key=lambda c: c.x)
    assert again.information == 0
    assert new.information > 0


def test_what_a_candidate_tells_does_not_depend_on_the_others() -> None:
    counts = np.array([4099.0, 4480, 5184, 6016, 7936])
    found = sk.validate(sk.measurements(P, counts, metric="object_memory"), {"f": "log(p)"})
    for posterior in (found["f"].posterior, result(0.1)["f"].posterior):
        alone = advise(posterior, [64], None).candidates[0].information
        beside = {c.x: c.information for c in advise(posterior, [32, 64, 1e6], None).candidates}
        assert beside[64] == pytest.approx(alone, rel=1e-9)


def test_a_setting_costs_what_it_says_whatever_the_parameter_is_called() -> None:
    y = (1 + np.log2(P))[:, None] * np.exp(np.random.default_rng(1).normal(0, 0.1, (5, 5)))
    found = sk.validate(sk.measurements(P, y, "n"), {"f": "log(n)"})
    for advice in (found.advise([64]), found.advise([64], "n")):
        assert advice["f", "time"].candidates[0].cost == 64


def test_rivals_disagree_where_it_tells() -> None:
    advice = advise(result(0.1)["f"].posterior, [512], None)
    (first, y), (second, z) = advice.candidates[0].predictions
    rank = advice.posterior.expectation.rank
    assert rank(first) != rank(second)
    assert y != pytest.approx(z, rel=0.05)
    assert not advice.stop
    assert advice.sentence.startswith("Measure p = 512: the most probable match of f has ")
    assert "predicts" in advice.sentence


def test_when_to_stop() -> None:
    sure = sk.validate(sk.measurements(P, P * 1e-6, name="f"), {"f": "1"}).advise([64])["f", "time"]
    assert sure.stop
    assert sure.sentence == "Stop: the most probable match of f has more than 99.9 %."


def test_stop_where_no_candidate_tells() -> None:
    posterior = result(0.1)["f"].posterior
    advice = advise(posterior, [2, 4])
    assert advice.probability < 0.9
    assert advice.stop
    assert advice.sentence.endswith("bit; offer larger settings.")
    assert not advise(posterior, [2, 512]).stop


@pytest.mark.parametrize(("apparent", "information", "stop"), [(0.98, 1.0, True), (0.97, 0.04, False), (0.5, 0.02, True)])
def test_bounds_of_stopping(apparent: float, information: float, stop: bool) -> None:
    posterior = result(0.1)["f"].posterior
    assert Advice(posterior, (Candidate(64, 64, information, ()),), 0.6, apparent).stop is stop


def test_doubt_about_hidden_terms_does_not_go_on_for_ever() -> None:
    x = 2.0 ** np.arange(1, 9)
    y = (1 + np.log2(x))[:, None] * np.exp(np.random.default_rng(1).normal(0, 0.02, (8, 5))) * 1e-6
    found = sk.validate(sk.measurements(x, y, name="f"), {"f": {"expectation": "log(p)", "deviation": "p^(1/4)"}})
    advice = advise(found["f"].posterior, [512])
    assert advice.apparent > advice.probability
    assert advice.stop
    assert advice.sentence.endswith(" % if no second term hides.")


def test_two_terms_that_show_are_taken_as_they_are() -> None:
    x = 2.0 ** np.arange(1, 11)
    y = (100 + 30 * np.log2(x) + x)[:, None] * np.exp(np.random.default_rng(1).normal(0, 0.003, (10, 5)))
    posterior = sk.validate(sk.measurements(x, y, name="f"), {"f": "log(p)"})["f"].posterior
    seen = posterior.predictions([2048.0], refined=False)
    assert seen.weights[seen.is_single].sum() < 0.1
    assert seen.of_one_term() is seen


def test_a_hidden_term_that_makes_another_rank_probable_is_no_mere_doubt() -> None:
    """Growths of one term alone are sure of a rank that is not the most probable one of all: no reason to stop."""
    x = 2.0 ** np.arange(3, 9)
    base = 1 + np.log2(x)
    y = base + 0.35 / 0.65 * base[-1] * x / x[-1]
    noise = np.exp(np.random.default_rng(3).normal(0, 0.01, (6, 5)))
    found = sk.validate(
        sk.measurements(x, y[:, None] * noise, name="f"),
        {"f": {"expectation": "log(p)", "deviation": "p^(1/2)", "space": "ics15"}},
    )["f"]
    advice = advise(found.posterior, [512, 1024])
    one = found.posterior.predictions([512.0], refined=False).of_one_term()
    inside = [found.expectation.rank(growth) != "none" for growth in one.growths]
    assert one.is_single.all()
    assert one.weights[np.array(inside)[one.tick]].sum() > 0.98
    assert max(found.probability, key=found.probability.__getitem__) == "none"
    assert advice.apparent == pytest.approx(advice.probability, abs=0.02)
    assert not advice.stop


def test_html_is_escaped() -> None:
    name = "<b>f"
    shown = result(0.1, name=name).advise([64])[name, "time"]._repr_html_()
    assert "<b>f" not in shown
    assert "&lt;b&gt;f" in shown


@pytest.mark.parametrize(
    ("candidates", "cost", "message"),
    [
        ([], "p", "candidates are []; name at least one positive setting to measure."),
        ([-1], "p", "candidates are [-1]; name at least one positive setting to measure."),
        ([0.5, 64], "p", "the candidate p = 0.5 is where log(p)^(1/4) has no value; leave it out."),
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
        result(0.1).advise(candidates, cost)  # type: ignore[arg-type]
