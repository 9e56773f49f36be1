"""Scaling limits: the paper's memory wall, intervals, refusals, and budgets as people write them."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import DataError, UsageError
from scalkit.judge.limit import limit, parse_budget

P = 2.0 ** np.arange(4, 11)


def validated(y: object, expectation: str, x: object = P, **options: object) -> sk.judge.Validation:
    options = {"metric": "process_memory", "unit": "B", "name": "MPI_memory"} | options
    return sk.validate(sk.measurements(x, y, **options), {options["name"]: expectation})


def juropa(expectation: str = "p") -> sk.judge.Validation:
    """MPI memory on Juropa, 16 + 0.56 p MB (table 3 of the paper), with 24 GB and 8 processes on a node."""
    return validated((16 + 0.56 * P) * 1e6, expectation)


def test_the_memory_wall_of_the_paper() -> None:
    found = limit(juropa("log(p)")["MPI_memory"], "24 GB", ppn=8)
    assert found.value == math.floor((24e3 / 8 - 16) / 0.56) == 5328
    assert found.value < 8192
    assert found.is_outside
    assert 5200 < found.low < found.value < found.high < 5450
    assert found.sentence == (
        "The process_memory of MPI_memory stays within 24.0 GB shared by 8 processes up to p = 5,328 "
        f"(90 % interval {found.low:,.0f} to {found.high:,.0f}), near the measured range. "
        "The model is outside its deviation limits: explain that first."
    )


def test_a_model_inside_its_limits_has_no_remark() -> None:
    found = limit(juropa()["MPI_memory"], "24 GB", ppn=8)
    assert not found.is_outside
    assert found.sentence.endswith("near the measured range.")


def test_noise_widens_the_interval() -> None:
    rng = np.random.default_rng(1)
    widths = []
    for sigma in (0.01, 0.05):
        y = (16 + 0.56 * P)[:, None] * 1e6 * np.exp(sigma * rng.standard_normal((len(P), 5)))
        found = limit(validated(y, "p")["MPI_memory"], 24e9, ppn=8)
        assert found.low < found.value < found.high
        widths.append(math.log(found.high / found.low))
    assert widths[0] < widths[1]
    assert limit(validated(y, "p")["MPI_memory"], 24e9, ppn=8, level=0.5).low > found.low


def test_the_posterior_serves_as_band() -> None:
    rng = np.random.default_rng(2)
    verdict = validated((16 + 0.56 * P)[:, None] * 1e6 * np.exp(0.02 * rng.standard_normal((7, 5))), "p")["MPI_memory"]
    found = limit(verdict, "24 GB", ppn=8)
    assert 4500 < found.low < found.value < found.high < 6300


@pytest.mark.parametrize(
    ("y", "expectation", "budget", "value"),
    [
        (1e-3 + 2e-6 * P, "p", "10 ms", 4500),
        (1e-3 * np.log2(P), "log(p)", 0.0125, 2**12.5 // 1),
        (1e-3 * np.log2(P), "log(p)", 100, math.inf),
        (np.full(7, 0.5), "1", "1 s", math.inf),
        (np.full(7, 0.5), "1", "0.1 s", 0),
        (1e-6 * P**2, "p^2", "1 s", 1000),
    ],
)
def test_times(y: object, expectation: str, budget: float | str, value: float) -> None:
    verdict = validated(y, expectation, metric="time", unit="s", name="f")["f"]
    found = limit(verdict, budget, ppn=8)
    assert found.value == pytest.approx(value, rel=2e-3)
    assert found.ppn == 1


def test_exponentials_do_not_overflow() -> None:
    k = np.arange(2.0, 12.0)
    found = limit(validated(3e-9 * 2**k, "2^k", k, metric="time", unit="s", name="f", parameter="k")["f"], "1 h")
    assert found.value == math.floor(math.log2(3600 / 3e-9))


def test_a_parameter_that_is_no_count_is_not_rounded() -> None:
    x = np.array([0.5, 1.5, 2.5, 3.5, 4.5])
    found = limit(validated(2 * x, "x", x, metric="time", unit="s", name="f", parameter="x")["f"], 31)
    assert found.value == pytest.approx(15.5, rel=1e-3)


def test_sentences_of_the_ends() -> None:
    flat = validated(np.full(7, 0.5), "1", metric="time", unit="s", name="f")["f"]
    assert limit(flat, "1 s").sentence == "The time of f stays within 1.00 s at every p up to 2^64."
    assert limit(flat, "10 ms").sentence == "The time of f exceeds 10.0 ms at every p."
    assert json.loads(json.dumps(limit(flat, 1.0).to_dict()))["value"] is None


def several() -> sk.judge.Validation:
    x = P
    values = np.stack([(16 + 0.56 * x) * 1e6, (1 + 2 * x) * 1e6, 5e6 * np.log2(x)])
    ds = sk.measurements(x, values[0], metric="process_memory", unit="B", name="a")
    parts = [ds] + [
        sk.measurements(x, y, metric="process_memory", unit="B", name=n) for n, y in zip("bc", values[1:], strict=True)
    ]
    from scalkit.measure import combine

    return sk.validate(combine(parts), {"a": "p", "b": "log(p)", "c": "log(p)"})


def test_the_tightest_limit_comes_first() -> None:
    found = several().limit("process_memory", "24 GB", ppn=8)
    assert [one.function for one in found] == ["b", "a", "c"]
    assert [one.value for one in found[:2]] == [math.floor(2999 / 2), 5328]
    assert [one.is_outside for one in found] == [True, False, False]
    with pytest.raises(DataError, match=r"^there is no verdict on the metric 'time'; there are verdicts on process_memory\.$"):
        several().limit("time", 1)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("24 GB", "B", 24e9),
        ("24GiB", "B", 24 * 2**30),
        ("512 M", "B", 512e6),
        ("1.5 kB", "B", 1500),
        ("4096", "B", 4096),
        (4096, "B", 4096),
        ("10 ms", "s", 0.01),
        ("2.5us", "s", 2.5e-6),
        ("3 µs", "s", 3e-6),
        ("1e3 ns", "s", 1e-6),
        ("2 min", "s", 120),
        ("1 h", "s", 3600),
        ("7", "s", 7),
        ("7 k", "", 7000),
    ],
)
def test_budgets(text: float | str, unit: str, value: float) -> None:
    assert parse_budget(text, unit) == pytest.approx(value)


@pytest.mark.parametrize(
    ("budget", "unit", "message"),
    [
        ("24 GB", "s", "the budget '24 GB' is not in s, or a text such as '10 ms' or '2 min'."),
        ("10 ms", "B", "the budget '10 ms' is not in B, or a text such as '24 GB' or '512 MiB'."),
        ("10 mB", "B", "the budget '10 mB' is not in B, or a text such as '24 GB' or '512 MiB'. Did you mean 'MB'?"),
        ("much", "B", "the budget 'much' cannot be read; write a number in B, or a text such as '24 GB' or '512 MiB'."),
        (None, "J", "the budget 'None' cannot be read; write a number in J."),
        (True, "J", "the budget 'True' cannot be read; write a number in J."),
        ("0", "B", "the budget is 0.0; a positive number is needed."),
        (-3, "B", "the budget is -3.0; a positive number is needed."),
        (math.inf, "B", "the budget 'inf' cannot be read; write a number in B, or a text such as '24 GB' or '512 MiB'."),
        ("1e999 B", "B", "the budget is inf; a positive number is needed."),
    ],
)
def test_budgets_that_cannot_be_read(budget: object, unit: str, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        parse_budget(budget, unit)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ppn": 0}, "ppn is 0; a positive whole number is needed."),
        ({"ppn": 1.5}, "ppn is 1.5; a positive whole number is needed."),
        ({"level": 1}, "the level 1 is no probability between 0 and 1; 0.9 is usual."),
    ],
)
def test_options_out_of_range(options: dict, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        limit(juropa()["MPI_memory"], "24 GB", **options)
