"""Change points of what users have: verdicts, series, Datasets, arrays."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import scalkit as sk
from scalkit.errors import DataError, UsageError
from scalkit.growth import Growth
from scalkit.measure import Series, combine, series

P = 2.0 ** np.arange(1, 11)
KINK = np.where(P <= 64, 2 + np.log2(P), P / 8)
TICKS = sk.SearchSpace.preset("ics15").ticks
LOG, LINEAR = Growth("log(p)"), Growth("p")


def noisy(y: np.ndarray, seed: int, sigma: float = 0.03, repetitions: int = 5) -> np.ndarray:
    return y[:, None] * np.exp(np.random.default_rng(seed).normal(0, sigma, (len(y), repetitions)))


def of(y: np.ndarray, x: np.ndarray = P, **how: object) -> Series:
    (one,) = series(sk.measurements(x, y, **how))
    return one


def test_everything_that_holds_a_series_is_cut_alike() -> None:
    data = sk.measurements(P, noisy(KINK, 1), name="f")
    verdict = sk.validate(data, {"f": "log(p)"})["f"]
    found = sk.piecewise(verdict)
    assert found.growths == (LOG, LINEAR)
    assert [c.at for c in found.change_points] == [64]
    preset = sk.piecewise(data)
    assert sk.piecewise(of(noisy(KINK, 1))) == preset
    assert sk.piecewise(verdict, space=sk.SearchSpace.preset("ics15")) == preset
    assert sk.piecewise(sk.measurements(P, noisy(KINK, 1), unit="us"))(64.0) == pytest.approx(1e-6 * preset(64.0))


def test_options_arrive() -> None:
    y = noisy(KINK, 2)
    assert sk.piecewise(sk.measurements(P, y), max_pieces=1).is_single
    known = sk.piecewise(sk.measurements(P, y), switches=[20], max_pieces=2)
    assert [(c.after, c.before) for c in known.change_points] == [(16, 32)]
    assert sk.piecewise(sk.measurements(P, y, "n")).parameter == "n"
    only = sk.SearchSpace.of([LINEAR], "line", "p")
    assert set(sk.piecewise(sk.measurements(P, y), space=only).growths) <= {LINEAR, Growth()}
    assert sk.piecewise(sk.measurements(P, y), statistic="mean").noise < sk.piecewise(sk.measurements(P, y), statistic="q1").noise


def test_ten_change_points() -> None:
    x = np.arange(1.0, 45.0)
    y = np.where((x - 1) // 4 % 2, 2000.0, 1000.0)
    found = sk.piecewise(sk.measurements(x, y, "n", "events", "1", exact=True))
    assert len(found.change_points) == 10


def test_bytes_below_a_part_in_a_thousand_are_one_piece() -> None:
    y = 100_000 + 8 * P + np.where(P > 64, 16, 0)
    assert sk.piecewise(sk.measurements(P, y, metric="object_memory")).is_single
    assert not sk.piecewise(sk.measurements(P, 100 + 8 * P + np.where(P > 64, 400, 0), metric="object_memory")).is_single


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: sk.piecewise("f"),
            "a piecewise model needs a verdict, a series or a Dataset, as of scalkit.measurements; got str.",
        ),
        (
            lambda: sk.piecewise(combine([sk.measurements(P, P, name=n) for n in ("f", "g")])),
            "a piecewise model is of one series, the Dataset has 2: f (time), g (time); select one.",
        ),
        (lambda: sk.piecewise(sk.measurements(P, P), max_pieces=0), "max_pieces is 0; a positive whole number is needed."),
        (
            lambda: sk.piecewise(sk.measurements(P[:2], P[:2])),
            "a piecewise model needs 3 to 200 values of 'p', got 2; measure more or thin them out.",
        ),
        (
            lambda: sk.piecewise(sk.measurements(P, P - 2, metric="object_memory")),
            "the value at p = 2 is 0; it must be positive and finite. Drop that point or measure it again.",
        ),
    ],
)
def test_bad_input_is_named(make: object, message: str) -> None:
    with pytest.raises((DataError, UsageError), match=f"^{re.escape(message)}$"):
        make()  # type: ignore[operator]


def test_no_dataset_of_several_parameters() -> None:
    grid = np.array([[p, s] for p in P[:5] for s in P[:5]])
    data = sk.measurements(grid, grid[:, 0], parameter=["p", "s"])
    assert isinstance(data, xr.Dataset)
    with pytest.raises(DataError, match=r"^series are along one parameter"):
        sk.piecewise(data)


def test_the_page_says_what_comes_out() -> None:
    page = (Path(__file__).parents[2] / "docs" / "piecewise.md").read_text(encoding="utf-8")
    example = doctest.DocTestParser().get_doctest(page, {}, "piecewise.md", None, 0)
    assert len(example.examples) > 10
    said: list[str] = []
    assert doctest.DocTestRunner().run(example, out=said.append).failed == 0, "".join(said)
