"""The plot in text: size, axes, and values that cannot be drawn."""

from __future__ import annotations

import re

import numpy as np
import pytest

from scalkit.bench.text_plot import text_plot
from scalkit.errors import DataError

X = np.array([10.0, 100.0, 1000.0])


def test_a_plot() -> None:
    expected = (
        "    10 us |                   o",
        "          |",
        "   1.0 us |        ..o.........",
        "          |   .....",
        "   100 ns |o..",
        "          +--------------------",
        "           n = 10          1000",
        "           o measured   . expec",
    )
    assert text_plot(X, [1e-7, 1e-6, 1e-5], [1e-7, 1e-6, 1e-6], width=31, height=5).splitlines() == list(expected)


@pytest.mark.parametrize(
    ("y", "curve"),
    [
        ([1e-9, 1.0, 1e12], [1e-9, 1e-9, 1e-9]),
        ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0]),
        ([np.nan, 0.0, 1e-300], [np.nan, np.inf, 1e300]),
        ([3.0, 2.0, 1.0], [np.nan] * 3),
    ],
)
def test_it_fits(y, curve) -> None:
    lines = text_plot(X, y, curve, parameter="a_rather_long_name_of_a_parameter_indeed").splitlines()
    assert max(map(len, lines)) <= 72
    assert len(lines) == 17
    assert "".join(lines).isascii()
    assert sum(line[11:].count("o") for line in lines[:14]) == sum(v > 0 for v in y)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (X, [1.0, 2.0], "x, y and expected have shapes (3,), (2,), (2,); one is needed for all."),
        (X, [np.nan, 0.0, -1.0], "there is no positive value to draw on logarithmic axes; pass some."),
    ],
)
def test_what_cannot_be_drawn(x, y, message) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        text_plot(x, y, y)
