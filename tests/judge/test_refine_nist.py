"""NIST's certified reference data: the files hold them without a wrong digit, and `refine` comes out at their values."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from lmfit.model import ModelResult

from scalkit.judge.fit.refine import refine

NIST = Path(__file__).resolve().parents[1] / "data" / "nist"


class Reference:
    """One data set: exact fractions and certified values."""

    def __init__(self, name: str) -> None:
        lines = (NIST / f"{name}.csv").read_text(encoding="utf-8").splitlines()
        pairs = [line.removeprefix("# certified ").split(" = ") for line in lines if line.startswith("# certified ")]
        self.certified = {key: float(value) for key, value in pairs}
        rows = [line.split(",") for line in lines if not line.startswith("#")][1:]
        self.y = [Fraction(row[0]) for row in rows]
        self.x = [Fraction(row[1]) for row in rows]

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array([float(v) for v in self.x]), np.array([float(v) for v in self.y])


def root(value: Fraction) -> float:
    with mpmath.workdps(50):
        return float(mpmath.sqrt(mpmath.mpf(value.numerator) / value.denominator))


def agrees(value: float, certified: float, digits: int) -> None:
    assert value == pytest.approx(certified, rel=0.5 * 10.0 ** (1 - digits), abs=0.0)


def test_norris_file_is_exact() -> None:
    data = Reference("norris")
    n = len(data.x)
    mean_x, mean_y = sum(data.x) / n, sum(data.y) / n
    sxx = sum((x - mean_x) ** 2 for x in data.x)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(data.x, data.y, strict=True)) / sxx
    constant = mean_y - slope * mean_x
    rss = sum((y - constant - slope * x) ** 2 for x, y in zip(data.x, data.y, strict=True))
    variance = rss / (n - 2)
    computed = {
        "B0": float(constant),
        "B0_error": root(variance * (Fraction(1, n) + mean_x**2 / sxx)),
        "B1": float(slope),
        "B1_error": root(variance / sxx),
        "residual_deviation": root(variance),
        "r2": float(1 - rss / sum((y - mean_y) ** 2 for y in data.y)),
    }
    assert n == 36
    assert computed.keys() == data.certified.keys()
    for name, value in computed.items():
        agrees(value, data.certified[name], 14)


def test_noint1_file_is_exact() -> None:
    data = Reference("noint1")
    square = sum(x * x for x in data.x)
    slope = sum(x * y for x, y in zip(data.x, data.y, strict=True)) / square
    rss = sum((y - slope * x) ** 2 for x, y in zip(data.x, data.y, strict=True))
    variance = rss / (len(data.x) - 1)
    computed = {
        "B1": float(slope),
        "B1_error": root(variance / square),
        "residual_deviation": root(variance),
        "r2": float(1 - rss / sum(y * y for y in data.y)),
    }
    assert len(data.x) == 11
    assert computed.keys() == data.certified.keys()
    for name, value in computed.items():
        agrees(value, data.certified[name], 14)


def test_danwood_file_is_exact() -> None:
    data = Reference("danwood")
    with mpmath.workdps(50):
        x = [mpmath.mpf(v.numerator) / v.denominator for v in data.x]
        y = [mpmath.mpf(v.numerator) / v.denominator for v in data.y]

        def best_coefficient(b: mpmath.mpf) -> mpmath.mpf:
            return sum(v * u**b for u, v in zip(x, y, strict=True)) / sum(u ** (2 * b) for u in x)

        def condition(b: mpmath.mpf) -> mpmath.mpf:
            a = best_coefficient(b)
            return sum((v - a * u**b) * u**b * mpmath.log(u) for u, v in zip(x, y, strict=True))

        power = mpmath.findroot(condition, mpmath.mpf("3.86"))
        factor = best_coefficient(power)
        rss = sum((v - factor * u**power) ** 2 for u, v in zip(x, y, strict=True))
        variance = rss / (len(x) - 2)
        slopes = mpmath.matrix([[u**power, factor * u**power * mpmath.log(u)] for u in x])
        covariance = (slopes.T * slopes) ** -1 * variance
        computed = {
            "B1": factor,
            "B1_error": mpmath.sqrt(covariance[0, 0]),
            "B2": power,
            "B2_error": mpmath.sqrt(covariance[1, 1]),
            "rss": rss,
            "residual_deviation": mpmath.sqrt(variance),
        }
    assert len(x) == 6
    assert computed.keys() == data.certified.keys()
    for name, value in computed.items():
        agrees(float(value), data.certified[name], 11)


def test_norris_to_nine_digits() -> None:
    data = Reference("norris")
    fit = refine(*data.arrays, "x", weights="none", nonnegative=False)
    _hold(fit, data, {"constant": "B0", "coefficient": "B1"}, 9)
    agrees(fit.rsquared, data.certified["r2"], 9)


def test_noint1_to_nine_digits() -> None:
    data = Reference("noint1")
    fit = refine(*data.arrays, "x", weights="none", nonnegative=False, constant=False)
    _hold(fit, data, {"coefficient": "B1"}, 9)


def test_danwood_to_six_digits() -> None:
    data = Reference("danwood")
    fit = refine(*data.arrays, "x", weights="none", nonnegative=False, constant=False, free_exponents=True)
    _hold(fit, data, {"coefficient": "B1", "exponent": "B2"}, 6)


def _hold(fit: ModelResult, data: Reference, names: dict[str, str], digits: int) -> None:
    assert list(fit.params) == list(names)
    for ours, theirs in names.items():
        agrees(fit.params[ours].value, data.certified[theirs], digits)
        agrees(fit.params[ours].stderr, data.certified[f"{theirs}_error"], digits)
    agrees(fit.redchi**0.5, data.certified["residual_deviation"], digits)
