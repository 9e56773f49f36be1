"""Claims about literal series: true ones are fine, false ones are to be fixed, and doubt is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike

import scalkit as sk
from scalkit.errors import UsageError
from scalkit.judge import Verdict
from scalkit.measure import combine


def judged(claim: str, x: ArrayLike, seconds: ArrayLike, **options: object) -> Verdict:
    data = sk.measurements(x, seconds, name="solve")
    return sk.validate(data, {"solve": claim}, **options)["solve"]  # type: ignore[arg-type,return-value]


FALLING = [1, 2, 4, 8, 16], [10, 9, 8, 7, 6]


def test_times_that_fall_under_a_constant_claim_are_fine() -> None:
    verdict = judged("1", *FALLING)
    assert verdict.answer == "fine"
    assert verdict.too_fast < 0.05


def test_times_that_hardly_fall_are_too_slow_for_a_claim_of_perfect_scaling() -> None:
    verdict = judged("1/p", *FALLING)
    assert (verdict.answer, verdict.metric, str(verdict.expectation.growth)) == ("fix", "p*time", "1")
    assert verdict.series.y.tolist() == [10, 18, 32, 56, 96]
    assert verdict.sentence.startswith("p*time of solve grows as ")
    assert verdict.problem.startswith("p*time of solve grows as ")


def test_times_that_halve_are_fine_under_a_claim_of_perfect_scaling() -> None:
    verdict = judged("1/p", [1, 2, 4, 8, 16], [16, 8.1, 4, 2.05, 1])
    assert verdict.answer == "fine"
    assert verdict.sentence.startswith("p*time of solve stays constant, as claimed; ")


N = [16, 32, 64, 128, 256, 512, 1024]
COMPARISONS = [212, 388, 804, 1764, 3940, 8804, 19556]  # 2 n log2 n - n + 100


@pytest.mark.parametrize(("claim", "answer"), [("n*log(n)", "fine"), ("n", "fix"), ("n^2", "fine")])
def test_exact_counts_with_lower_terms(claim: str, answer: str) -> None:
    counts = sk.measurements(N, COMPARISONS, "n", metric="comparisons", unit="1", exact=True, name="sort")
    verdict = sk.validate(counts, {"sort": claim})["sort"]
    assert verdict.answer == answer
    assert str(verdict.model) == "100 - 1 * n + 2 * n*log(n)"


P = [2, 4, 8, 16, 32, 64, 128]
JUMP = [2.75e-6, 5.5e-6, 11e-6, 22e-6, 44e-6, 88e-6, 17_616e-6]
LAUNCHES = [JUMP, [2.8e-6, 5.4e-6, 11e-6, 22.3e-6, 43.7e-6, 88.5e-6, 17_840e-6]]
LAUNCHES += [[2.7e-6, 5.6e-6, 10.9e-6, 21.9e-6, 44.2e-6, 87.8e-6, 17_530e-6]]


def launched(times: int) -> Verdict:
    data = combine([sk.measurements(P, seconds, name="solve") for seconds in LAUNCHES[:times]])
    return sk.validate(data, {"solve": "p"})["solve"]


@pytest.mark.parametrize("times", [1, 2])
def test_a_jump_at_the_largest_point_is_to_be_measured_again(times: int) -> None:
    verdict = launched(times)
    assert verdict.answer == "cannot tell"
    assert verdict.sentence == ("solve: the answer hangs on the value at p = 128 alone; measure it again, and a larger p.")
    assert "measure p = 128 again, and a larger one" in verdict.caveats[0]


def test_a_jump_that_three_launches_agree_on_is_to_be_fixed() -> None:
    verdict = launched(3)
    assert verdict.answer == "fix"
    assert verdict.sentence == (
        "solve jumps to 17.6 ms at p = 128, 100 times what the smaller ones suggest, in all of 3 launches."
    )
    assert verdict.caveats == (
        "the value at p = 128 lies far above what the smaller ones suggest, and the model follows these; measure a larger p "
        "to see how it goes on",
    )


def test_a_jump_above_values_that_fall_to_nothing_has_no_factor() -> None:
    data = sk.read(Path(__file__).parents[2] / "data/mafia/m1")
    verdict = sk.validate(data, {"gen": "log(k)"}, min_points=3)["gen", "time"]
    assert verdict.problem == "gen jumps to 37.7 ms at k = 16, far above what the smaller ones suggest, in all of 5 launches"


def test_a_jump_does_not_bend_the_model() -> None:
    verdict = launched(3)
    assert str(verdict.model.growth) == "p"
    assert verdict.model([64, 128, 256]) == pytest.approx([88e-6, 176e-6, 352e-6], rel=0.03)


def test_a_bad_point_among_six_is_named_and_not_followed() -> None:
    verdict = judged("p", [2, 4, 8, 16, 32, 64], [10.1, 20.2, 39.7, 161, 160.5, 321])
    assert verdict.answer == "fine"
    assert verdict.caveats[0].startswith("the value at p = 16 is off by a factor with a probability of ")
    assert verdict.model([16, 256]) == pytest.approx([80, 1280], rel=0.03)


def test_a_bad_point_among_seventeen_is_named_and_not_followed() -> None:
    x = [4 * k for k in range(1, 18)]
    first = [6.12, 11.7, 18.08, 23.86, 29.86, 35.92, 41.16, 47.89]
    verdict = judged("p", x, [*first, 107.06, 62.03, 66.15, 71.75, 77.78, 83.44, 89.06, 95.63, 102.49])
    assert verdict.answer == "fine"
    assert verdict.caveats[0].startswith("the value at p = 36 is off by a factor with a probability of ")
    assert verdict.model([36, 200]) == pytest.approx([54, 300], rel=0.03)


def test_three_points_can_refute_a_claim() -> None:
    verdict = judged("1", [21_600, 43_200, 86_400], [657, 2040, 4972], min_points=3)
    assert verdict.answer == "fix"
    assert verdict.caveats == ("the model rests on only 3 points of p; 5 are the least to rely on",)


NOISY = [2, 4, 8, 16, 32, 64], [2.2, 3.9, 8.4, 15.2, 33.1, 62]


@pytest.mark.parametrize(("required", "answer"), [("any", "fine"), ("p^(1/2)", "fine"), ("p^(1/8)", "cannot tell")])
def test_a_true_claim_is_fine_as_far_as_the_values_resolve_it(required: str, answer: str) -> None:
    verdict = judged("p", *NOISY, resolution=required)
    assert (verdict.answer, str(verdict.resolution)) == (answer, "p^(5/4)")


def test_a_resolution_that_is_missed_says_what_is_excluded() -> None:
    assert judged("p", *NOISY, resolution="p^(1/8)").sentence == (
        "solve grows as claimed, p, but only what is faster than p^(5/4) is excluded; measure a larger p, or more repetitions."
    )


@pytest.mark.parametrize("text", ["fine", "q^(1/8)", "1/p", "2", "", "p^"])
def test_a_resolution_that_is_no_growth_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        judged("p", *NOISY, resolution=text)
    assert str(refused.value) == f"the resolution {text!r} is no growth in p; write one such as 'p^(1/4)', or 'any'."


def test_a_resolution_that_is_no_text_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        judged("p", *NOISY, resolution=0.125)
    assert str(refused.value) == "the resolution cannot be 0.125; write a growth such as 'n^(1/4)', or any."


def test_bytes_that_are_zero_everywhere_are_constant_and_do_not_stop_the_others() -> None:
    p = np.array([2, 4, 8, 16, 32, 64])
    sizes = {"none": 0 * p, "some": 8 + 16 * p}
    data = combine([sk.measurements(p, y, metric="object_memory", name=name) for name, y in sizes.items()])
    result = sk.validate(data, {"none": "1", "some": "p"})
    assert [(v.function, v.answer, str(v.model)) for v in result] == [("none", "fine", "0 B"), ("some", "fine", "8 B + 16 B * p")]


def test_times_that_are_zero_are_not_judged_and_do_not_stop_the_others() -> None:
    data = combine([sk.measurements(P, 0 * np.array(P), name="none"), sk.measurements(P, P, name="some")])
    result = sk.validate(data, {"none": "1", "some": "p"})
    assert [(v.function, v.answer) for v in result] == [("some", "fine")]
    assert result.unjudged[0].startswith("'time' of 'none' at p = 2 is 0 s; it must be positive and finite.")
