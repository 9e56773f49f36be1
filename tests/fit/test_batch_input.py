"""Wrong input of the fast path: the text names the series, the point and the way on."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import scalkit as sk
from scalkit.errors import DataError
from scalkit.fit.batch import fit_models

ICS15 = sk.SearchSpace.preset("ics15")
P = np.array([2.0, 4.0, 8.0, 16.0, 32.0])


def bad(place: tuple[int, ...], value: float, repetitions: int = 0) -> np.ndarray:
    Y = np.ones((2000, 5, repetitions)) if repetitions else np.ones((2000, 5))
    Y[place] = value
    return Y


DROP = "Put NaN there to drop the point, or measure it again."
SHAPES = "needed are (points,) and (series, points) or (series, points, repetitions), with at least one point and repetition."


@pytest.mark.parametrize(
    ("x", "Y", "options", "message"),
    [
        (P, bad((1500, 2), np.inf), {}, f"series 1500 at p = 8 is inf s; it must be positive and finite. {DROP}"),
        (P, bad((3, 0), -np.inf), {}, f"series 3 at p = 2 is -inf s; it must be positive and finite. {DROP}"),
        (P[::-1], bad((3, 0), -1), {}, f"series 3 at p = 32 is -1 s; it must be positive and finite. {DROP}"),
        (P, bad((3, 4), 0), {}, f"series 3 at p = 32 is 0 s; it must be positive and finite. {DROP}"),
        (P, bad((3, 4, 1), 0, 3), {}, f"series 3 at p = 32 is 0 s; it must be positive and finite. {DROP}"),
        (
            P,
            bad((3, 4, 1), -1, 3),
            {"positive": False, "unit": "B"},
            f"series 3 at p = 32 is -1 B; it must be zero or positive and finite. {DROP}",
        ),
        (
            P,
            bad((3, 4), np.inf),
            {"positive": False, "nonnegative": False, "unit": ""},
            f"series 3 at p = 32 is inf; it must be finite. {DROP}",
        ),
        (
            P,
            bad((1999, slice(1, 3)), np.nan),
            {},
            "series 1999: fitting needs 5 values of 'p', got 3 (2, 16, 32); measure more or set min_points=3.",
        ),
        (P, bad((0, slice(None)), np.nan), {}, "series 0: fitting needs 5 values of 'p', got 0 (); measure more."),
        (P[:4], np.ones((1, 4)), {}, "fitting needs 5 values of 'p', got 4 (2, 4, 8, 16); measure more or set min_points=4."),
        (P, np.ones((1, 5)), {"min_points": 2}, "min_points is 2; a model of two coefficients needs at least 3 settings."),
        (
            [8.0] * 5,
            np.ones((1, 5)),
            {"parameter": "n"},
            "'n' has the one value 8; a growth shows along several, measure at 5 or more.",
        ),
        ([1, 2, 0, 3, 4], np.ones((1, 5)), {}, "x[2] is 0; every value of 'p' must be positive and finite."),
        ([1, 2, np.nan, 3, 4], np.ones((1, 5)), {}, "x[2] is nan; every value of 'p' must be positive and finite."),
        (P, np.ones(5), {}, f"x has shape (5,) and Y (5,); {SHAPES}"),
        (P, np.ones((2, 4)), {}, f"x has shape (5,) and Y (2, 4); {SHAPES}"),
        (P, np.ones((2, 5, 0)), {}, f"x has shape (5,) and Y (2, 5, 0); {SHAPES}"),
        (P, [["a"] * 5], {}, "Y is no array of numbers (its type is <U1); pass numbers, NaN where missing."),
        (
            P,
            np.ones((1, 5)),
            {"statistic": "mode"},
            "the statistic 'mode' is unknown; choose one of q1, median, mean, min, cut_mean, cut_mean_1, cut_mean_4, "
            "cut_mean_12, cut_mean_34.",
        ),
        (P, np.ones((1, 5)), {"weights": "all"}, "the weights 'all' are unknown; choose one of relative, none."),
        (
            P,
            np.ones((1, 5)),
            {"criterion": "bic"},
            "the criterion 'bic' is unknown; choose one of adjusted_r2, aicc, loo, smape.",
        ),
        (
            P,
            np.ones((1, 5)),
            {"criterion": "aicc", "min_points": 4},
            "the criterion 'aicc' needs 5 points, min_points is 4; choose 'adjusted_r2', 'loo' or 'smape' for fewer.",
        ),
    ],
)
def test_wrong_input_is_named(x: Any, Y: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        fit_models(x, Y, ICS15, **options)


def test_rows_of_different_lengths() -> None:
    with pytest.raises(DataError, match=r"^Y is no array of numbers \(.*inhomogeneous.*\); pass numbers, all rows of one"):
        fit_models(P, [[1.0, 2.0], [1.0]], ICS15)
