"""`sk.check`: what it chooses, what it believes, and what it says."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import numpy as np
import pytest

import scalkit as sk
from scalkit.bench.functions.probe import Probe, sizes
from scalkit.errors import ExpectationError, UsageError
from scalkit.judge import Validation
from scalkit.quick_check import _clock

N = np.array([100, 200, 400, 800, 1600, 3200, 6400])
M = 2 ** np.arange(12, 22)
STEPS = np.array([1.0, 1.0, 1.01, 1.11, 1.12, 1.12, 1.12])
"""What a cache that is outgrown adds to the time of an element."""


def checked(seconds: np.ndarray, claim: str, n: np.ndarray = N) -> Validation:
    rng = np.random.default_rng(1)
    runs = seconds[:, None] * rng.normal(1, 0.002, (len(n), 15))
    data = sk.measurements(n, runs, parameter="n", name="f", unit="s")
    return sk.validate(data, {"f": claim})


def text_of(result: Validation) -> str:
    """Return what is printed of a result, without the ends of lines."""
    return " ".join(str(result).split())


def pairs(n: int) -> None:
    for _ in range(n * n):
        pass


@pytest.mark.parametrize(("claim", "answer"), [("n", "fix"), ("n log n", "fix"), ("n^2", "fine")])
def test_a_function_is_judged_by_its_claim(checked_by, claim: str, answer: str) -> None:
    of_pairs = checked_by.costs(lambda n: 300 + 30 * n**2, 0.02)
    found = sk.check(of_pairs, claim, n=[10, 20, 40, 80, 160, 320], budget=0.5)
    assert found.answer == answer
    assert (" grows as n^2 instead of " in text_of(found)) == (answer == "fix")


def test_sizes_are_chosen_and_arguments_are_made(checked_by) -> None:
    seen: list[int] = []

    def setup(n: int) -> tuple[list[int], int]:
        seen.append(n)
        return list(range(n)), n - 1

    def index(items: list[int], last: int) -> None:
        assert items[last] == items[-1]
        checked_by.now += 40 * len(items)

    found = sk.check(index, "k", setup, budget=0.3, clock="cpu")
    assert found.answer == "fine"
    (verdict,) = found.along_one
    assert verdict.parameter == "k"
    assert len(verdict.series.x) >= 5
    assert set(verdict.series.x.astype(int).tolist()) <= set(seen)
    assert found.plot().data
    assert f"{found.answer}: {verdict.sentence}" in text_of(found)
    assert found.notes[0].endswith(" s in all, cpu clock")
    assert found.notes[0] in text_of(found)
    assert "<svg" in found._repr_html_()


def test_fresh_arguments_are_made_for_each_call(checked_by) -> None:
    sizes = [10, 20, 40, 80, 160]

    def clear(items: list[int]) -> None:
        assert items, "an earlier call has emptied them"
        checked_by.now += 1000 * len(items)
        items.clear()

    found = sk.check(clear, "n", lambda n: [0] * n, n=sizes, fresh=True, budget=0.2)
    assert found.along_one[0].series.x.tolist() == sizes


@pytest.mark.parametrize(
    ("seconds", "claim", "answer", "words"),
    [
        (1e-9 * N**2, "n^2", "fine", "f grows as claimed, n^2; anything faster than n^(9/4) is excluded."),
        (1e-9 * N**3, "n", "fix", "f grows as n^3 instead of n: "),
        (1e-9 * N**1.7, "n", "fix", "f grows as n^(5/3) instead of n: "),
        (1e-9 * N**1.3, "n", "fix", "f grows as n^(4/3) instead of n: "),
        (1e-9 * N * np.log2(N), "n", "cannot tell", "f outgrows the claim n by a factor of 1.9 "),
        (1e-6 + 1e-12 * N, "n", "fine", "anything faster than n^(9/4) is excluded."),
        (1e-9 * N * STEPS, "n", "fine", "fine: f grows as claimed, n; "),
    ],
)
def test_an_answer_is_that_of_the_verdict(seconds: np.ndarray, claim: str, answer: str, words: str) -> None:
    found = checked(seconds, claim)
    assert found.answer == answer
    assert words in text_of(found)


STAIRS = np.where(np.arange(10) < 4, 0.4, 1.0) * np.linspace(0.99, 1.0, 10)


@pytest.mark.parametrize(
    ("shape", "claim", "answer"),
    [
        (M * STAIRS, "n", "fine"),  # a cache is outgrown within one doubling
        (M * np.log2(M) * STAIRS, "n log n", "fine"),
        (3e5 + M, "n", "fine"),
        (3e5 + M * np.log2(M) / 16, "n", "cannot tell"),  # start-up does not hide the logarithm
        (M * (1 + (M / 2**21) ** 2), "n", "cannot tell"),
        (1 + 0.4 * np.log2(M), "1", "cannot tell"),
    ],
)
def test_the_machine_may_explain_a_small_factor(shape: np.ndarray, claim: str, answer: str) -> None:
    assert checked(1e-9 * shape, claim, M).answer == answer


@pytest.mark.parametrize("shape", [M * np.log2(M) * STAIRS, M * (12 + np.log2(M)) * STAIRS])
def test_what_caches_may_explain_is_not_to_be_fixed(shape: np.ndarray) -> None:
    assert checked(1e-9 * shape, "n", M).answer != "fix"


def test_a_narrow_range_does_not_confirm_a_slower_growth() -> None:
    narrow = np.arange(24, 37)
    assert checked(1e-7 * (1 + narrow), "n", narrow).answer == "fine"
    assert checked(1e-7 * (1 + narrow**2.0), "n", narrow).answer == "cannot tell"


@pytest.mark.parametrize("foreign", [0.5, 1.0])
def test_a_function_that_waits_is_not_measured_by_the_processors_clock(foreign: float) -> None:
    waits = Probe(lambda n: time.sleep(1e-4 * n), None, 0.1, 0.01, 0.25)
    assert waits.waiting > 0.9
    assert _clock("auto", foreign, waits)[0] == "wall"
    computes = Probe(pairs, None, 0.1, 0.01, 0.25)
    computes.wall_s = 10 * computes.cpu_s  # others take the cores
    assert computes.waiting < 0.5
    assert _clock("auto", 1.0, computes)[0] == "cpu"


@pytest.mark.parametrize(
    ("least", "most", "found"),
    [
        (5, 3e5, [2**k for k in range(9, 19)]),
        (5000, 300_000, [49_152, 65_536, 98_304, 131_072, 196_608, 262_144]),
        (40, 1100, [48, 64, 96, 128, 192, 256, 384, 512, 768, 1024]),
        (9e5, 2**21, [2**k for k in range(12, 22)]),
        (1, 20, list(range(8, 21))),
    ],
)
def test_sizes_double(least: float, most: float, found: list[int]) -> None:
    assert sizes(least, most)[-len(found) :] == found
    assert len(sizes(least, most)) <= 13
    assert sizes(5, 3e5, True)[-2:] == [299_999, 300_000]


def test_an_exponential_outgrows_a_power() -> None:
    n = np.arange(10, 23)
    found = checked(1e-7 * 2.0**n, "n^2", n)
    assert found.answer != "fine"
    assert found.along_one[0].too_fast > 0.95


@pytest.mark.parametrize(("base", "n", "claim"), [(1.5, np.arange(10, 18), "1"), (2.0, np.arange(10, 23), "n^3")])
def test_a_low_time_at_the_largest_size_confirms_nothing(base: float, n: np.ndarray, claim: str) -> None:
    seconds = 1e-7 * base**n
    seconds[-1] /= 800
    assert checked(seconds, claim, n).answer != "fine"


def test_a_script_prints_the_answer_where_it_is_asked_to() -> None:
    check = "import scalkit as sk; r = sk.check(len, '1', lambda n: range(n), budget=0.2, clock='cpu')"
    quiet = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert quiet.stdout == ""
    code = f"{check}; print(r)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert re.search("^(fine|fix|cannot tell): ", done.stdout, re.MULTILINE)
    assert done.stdout.count("sizes, n = ") == 1


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"budget": 0}, UsageError, "the budget is 0; a positive number is needed."),
        ({"clock": "sun"}, UsageError, "the clock 'sun' is unknown; choose auto, wall or cpu."),
        ({"seed": "x"}, UsageError, "the seed cannot be 'x'; give a whole number."),
        ({"n": 5}, UsageError, r"n cannot be 5; give sizes such as \[1000, 2000"),
        ({"n": []}, UsageError, "there is no value of 'n' to measure at"),
        ({"n": [-1, 2]}, UsageError, "a value of 'n' is -1; a positive number is needed"),
        ({"strictnes": "paper"}, UsageError, "did you mean 'strictness'"),
    ],
)
def test_a_wrong_option_is_named(checked_by, options: dict[str, object], error: type[Exception], text: str) -> None:
    called = checked_by.costs(lambda n: 1000 * n)
    with pytest.raises(error, match=text):
        sk.check(called, "n", **{"n": [1, 2, 3, 4, 5], "budget": 0.1, **options})  # type: ignore[arg-type]


def test_what_cannot_be_called_with_a_size_says_how() -> None:
    with pytest.raises(UsageError, match=r"sum\(4\) failed: .*not iterable.* as in setup=lambda n: list\(range\(n\)\)"):
        sk.check(sum, "n")
    with pytest.raises(UsageError, match=r"^3 cannot be called; give the function itself"):
        sk.check(3, "n")  # type: ignore[arg-type]


@pytest.mark.filterwarnings("error")
def test_a_coroutine_is_not_called() -> None:
    async def later(n: int) -> int:
        return n

    with pytest.raises(UsageError, match=r"'.*later' is a coroutine function, whose call runs nothing"):
        sk.check(later, "n")


def test_a_wrong_expectation_is_named() -> None:
    with pytest.raises(ExpectationError, match="factorial"):
        sk.check(pairs, "factorial(n)")
