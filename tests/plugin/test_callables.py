"""`measure_callable`: the Dataset, the arguments, and what cannot be measured."""

from __future__ import annotations

import functools
import json
import re

import numpy as np
import pytest

import scalkit as sk
from scalkit.bench import measure_callable
from scalkit.bench.functions.callables import name_of
from scalkit.errors import DataError, UsageError
from scalkit.measure import combine, write_netcdf
from scalkit.measure.schema import check

N = [100, 200, 400, 800, 1600]


def test_a_measured_function_can_be_judged(clock) -> None:
    ds = measure_callable(clock.costs(lambda n: 50 * n * np.log2(n), 0.02), "n", N, name="f", clock=clock)
    check(ds)
    assert sk.validate(ds, {"f": "n*log(n)"})["f"].match == "total"
    assert ds["status"].values.ravel().tolist() == ["converged"] * 5
    assert ds["n_repetitions"].values.ravel().tolist() == [11] * 5
    assert ds["time"].values.min() == pytest.approx(50e-9 * 100 * np.log2(100), rel=0.03)
    assert ds.attrs["seed"] == 0
    assert "notes" not in ds.attrs


def test_real_calls(tmp_path) -> None:
    enough = {"budget_s": 1e6, "max_samples": 20}  # only the samples end it, however slow the machine is
    ds = measure_callable(sorted, "size", N, setup=lambda n: list(range(n)), **enough)
    assert ds["function"].values.tolist() == ["sorted"]
    assert ds["size"].values.tolist() == N
    assert (np.nanmin(ds["time"].values, axis=-1) > 0).all()
    write_netcdf(ds, tmp_path / "a.nc")
    assert sk.read(tmp_path / "a.nc")["loops"].identical(ds["loops"])
    both = combine([ds, measure_callable(sorted, "size", N, setup=lambda n: list(range(n)), **enough)])
    assert both.sizes["run"] == 2


@pytest.mark.parametrize(
    ("setup", "fresh", "expected"),
    [
        (None, False, (100,)),
        (lambda n: [n], False, ([100],)),
        (lambda n: (n, "b"), False, (100, "b")),
        (lambda n: ((n, "b"),), True, ((100, "b"),)),
        (lambda n: None, False, (None,)),
    ],
)
def test_what_setup_makes_is_what_the_function_gets(clock, setup, fresh, expected) -> None:
    seen = []

    def func(*args: object) -> None:
        seen.append(args)
        clock.now += 1_000_000

    measure_callable(func, "n", [100], setup=setup, fresh=fresh, clock=clock)
    assert set(map(repr, seen)) == {repr(expected)}


def test_left_out_settings_are_noted(clock) -> None:
    ds = measure_callable(clock.costs(lambda n: 1000 * n * n), "n", [*N, 3200, 6400], name="f", budget_s=1, clock=clock)
    assert ds["n"].values.tolist() == N
    assert json.loads(ds.attrs["notes"]) == ["the budget of 1 s did not last for n = 3200, 6400"]


def test_values_are_sorted_and_keep_their_type(clock) -> None:
    seen = set()

    def func(n: object) -> None:
        seen.add((type(n), n))
        clock.now += 1_000_000

    measure_callable(func, "n", [np.int64(4), 2, 2, 8.5], clock=clock)
    assert seen == {(np.int64, 4), (int, 2), (float, 8.5)}


async def coroutine(n: int) -> None: ...
def generator(n: int):
    yield n


async def both(n: int):
    yield n


@pytest.mark.parametrize(
    ("func", "values", "options", "kind", "message"),
    [
        (3, N, {"name": "three"}, UsageError, "'three' cannot be called; pass a function, for example "
         "measure_callable(sorted, ...)."),
        (coroutine, N, {}, UsageError, "'coroutine' is a coroutine function, whose call runs nothing; measure a function "
         "that runs it to its end."),
        (generator, N, {}, UsageError, "'generator' is a generator function, whose call runs nothing; measure a function "
         "that runs it to its end."),
        (both, N, {}, UsageError, "'both' is an asynchronous generator function, whose call runs nothing; measure a function "
         "that runs it to its end."),
        (int, [], {}, UsageError, "there is no value of 'n' to measure at; pass some, for example [100, 1000, 10000]."),
        (int, [0, 1], {}, UsageError, "a value of 'n' is 0; a positive number is needed."),
        (int, ["8"], {}, UsageError, "a value of 'n' is '8'; a positive number is needed."),
        (int, [True], {}, UsageError, "a value of 'n' is True; a positive number is needed."),
        (int, [float("inf")], {}, UsageError, "a value of 'n' is inf; a positive number is needed."),
        (int, N, {"budget": 3}, UsageError, "the option 'budget' is unknown; known are budget_s, max_samples, min_points, "
         "min_sample_s, min_samples, tolerance."),
        (int, N, {"budget_s": -1}, UsageError, "the option 'budget_s' is -1; a positive number is needed."),
        (int, N, {"min_points": "5"}, UsageError, "the option 'min_points' is '5'; a positive number is needed."),
    ],
)  # fmt: skip
def test_what_cannot_be_measured(func, values, options, kind, message) -> None:
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        measure_callable(func, "n", values, **options)


def test_growth_far_beyond_the_budget(clock) -> None:
    message = (
        "measuring 'f' was given up: one call at n = 400 would take about 0.0164 s, far beyond the budget of 0.001 s, and "
        "only 2 settings are measured; choose smaller values of n, or a larger budget."
    )
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        measure_callable(clock.costs(lambda n: n**7 / 1e11), "n", N, name="f", budget_s=1e-3, clock=clock)


def test_errors_of_the_function_say_where(clock) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        measure_callable(lambda n: 1 // (n - 400), "n", N, name="f", clock=clock)
    assert caught.value.__notes__ == ["while measuring 'f' at n = 400"]
    with pytest.raises(KeyError) as missing:
        measure_callable(int, "n", N, setup={}.__getitem__, clock=clock)
    assert missing.value.__notes__ == ["while measuring 'int' at n = 100, in its setup"]


@pytest.mark.parametrize("fresh", [False, True])
def test_errors_of_a_later_input_are_those_of_the_setup(clock, fresh: bool) -> None:
    once = iter([[1]])
    with pytest.raises(StopIteration) as caught:
        measure_callable(len, "n", N, setup=lambda n: next(once), fresh=fresh, clock=clock)
    assert caught.value.__notes__ == ["while measuring 'len' at n = 100, in its setup"]


def test_names() -> None:
    class Callable:
        def __call__(self) -> None: ...

    assert name_of(functools.partial(sorted, reverse=True)) == "sorted"
    assert name_of(Callable()) == "test_names.Callable"
    assert name_of(lambda: 0) == "test_names.<lambda>"
