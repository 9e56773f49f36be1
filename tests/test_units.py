from __future__ import annotations

import math

import pytest

from scalkit.support.units import format_quantity


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.23456e-5, "s", "12.3 us"),
        (0.0, "s", "0 s"),
        (9.996e-7, "s", "1.00 us"),
        (999.4e-9, "s", "999 ns"),
        (8856.0, "B", "8856 B"),
        (8856.5, "B", "8.86 kB"),
        (0.5, "B", "0.500 B"),
        (12_345_678.0, "B", "12.3 MB"),
        (-3.5e-3, "s", "-3.50 ms"),
        (2.5, "", "2.5"),
        (12345.0, "1", "1.23e+04"),
        (math.nan, "s", "-"),
        (math.inf, "s", "inf s"),
        (1e-20, "s", "0.0000100 fs"),
    ],
)
def test_prefix_and_digits(value: float, unit: str, text: str) -> None:
    assert format_quantity(value, unit) == text
