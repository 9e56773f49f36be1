"""The benchmark of real series: every series is read, and predictions of a few come near."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import real_functions
import real_series


@pytest.mark.slow
def test_predictions_of_real_programs() -> None:
    cases = real_series.cases()
    assert len(cases) == 217
    wanted = {"sha256", "insertion_sort", "sum of decimals", "bodies forces"}
    rows = real_series.errors_of([case for case in cases if case["name"] in wanted], beside=False)
    assert {row["name"] for row in rows} == wanted
    assert max(row["predicted"] for row in rows) < 0.1
    assert real_series.summary(rows).startswith("   4 |")


def test_functions_are_timed() -> None:
    name, make, call = real_functions.MORE[0]
    assert name == "np.linalg.solve"
    assert 0 < real_functions.once(make, call, 8, False) < 1
