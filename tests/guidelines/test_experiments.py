"""Tables of every kind give the same experiments; wrong ones are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from scalkit.errors import DataError, UsageError
from scalkit.guidelines.experiments import measured

TIMES = np.arange(1.0, 25.0).reshape(2, 2, 2, 3)  # operation, size, run, repetition
OPERATIONS, SIZES, RUNS = ["b", "a"], [8, 1], [7, 9]


def long_frame() -> pd.DataFrame:
    rows = [
        (OPERATIONS[i], SIZES[j], RUNS[k], r, TIMES[i, j, k, r])
        for r in range(3) for k in range(2) for j in range(2) for i in range(2)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["operation", "size", "run", "repetition", "time"])


def wide_columns() -> dict:
    index = np.array([(i, j, k) for i in range(2) for j in range(2) for k in range(2)])
    return {
        "operation": np.array(OPERATIONS)[index[:, 0]],
        "size": np.array(SIZES)[index[:, 1]],
        "run": np.array(RUNS)[index[:, 2]],
        "time": TIMES.reshape(8, 3),
    }


def listed() -> pd.DataFrame:
    columns = wide_columns()
    return pd.DataFrame({**columns, "time": [list(row) for row in columns["time"]]})


def dataset() -> xr.Dataset:
    coords = {"function": OPERATIONS, "size": SIZES, "run": RUNS}
    attrs = {"parameter": "size"}
    return xr.Dataset({"time": (("function", "size", "run", "repetition"), TIMES)}, coords=coords, attrs=attrs)


@pytest.mark.parametrize("make", [long_frame, wide_columns, dataset, listed])
def test_tables_of_every_kind(make) -> None:
    data = measured(make())
    assert data.parameters == ("operation", "size")
    assert dict(data.levels) == {"operation": ("a", "b"), "size": (1, 8)}
    assert data.runs == (7, 9)
    for code, median in zip(data.codes, data.medians, strict=True):
        operation, size = data.level("operation", code[0]), data.level("size", code[1])
        wanted = TIMES[OPERATIONS.index(operation), SIZES.index(size)]
        np.testing.assert_array_equal(median, np.median(wanted, axis=1))
    assert repr(data) == "<Measured: 4 experiments in 2 runs over operation, size>"
    assert measured(data) is data


def test_gaps() -> None:
    frame = long_frame()
    frame.loc[(frame["operation"] == "a") & (frame["run"] == 7) & (frame["size"] == 8), "time"] = np.nan
    frame = frame.drop(frame[(frame["operation"] == "b") & (frame["repetition"] == 2)].index)
    data = measured(frame)
    assert np.isnan(data.medians).sum() == 1
    assert data.values.shape == (7, 3)
    assert np.isnan(data.values).sum() == 4


def test_outliers_are_left_out() -> None:
    columns = {"operation": ["a"], "run": [0], "time": np.array([[1.0, 1.1, 1.2, 1.3, 1.4, 99.0]])}
    assert measured(columns).medians[0, 0] == pytest.approx(1.2)


def test_empty_text_is_a_missing_level() -> None:
    table = {"operation": ["a", "b"], "order": ["", "rand"], "radius": [None, 1], "run": [0, 0], "time": [1.0, 2.0]}
    data = measured(table)
    assert data.codes.tolist() == [[0, -1, -1], [1, 0, 0]]
    assert data.level("order", -1) is None


def test_many_parameters_do_not_overflow() -> None:
    rng = np.random.default_rng(1)
    table = {f"x{n}": rng.permutation(300) for n in range(12)}
    data = measured({**table, "run": np.zeros(300), "time": np.ones(300)})
    assert data.codes.shape == (300, 12)
    assert len(np.unique(data.codes[:, 0])) == 300


def test_what_the_table_says_of_itself() -> None:
    frame = long_frame()
    frame.attrs["simulated"] = True
    assert measured(frame).caveats == ("these measurements are simulated",)
    data = dataset().assign(oversubscribed=("size", [True, False]))
    assert measured(data).caveats == (
        "some runs had more processes than cores: their times describe the scheduler and do not decide",
    )
    assert measured(data).parameters == ("operation", "size")


def changed(**columns) -> dict:
    return {"operation": ["a", "b"], "run": [1, 1], "time": [1.0, 2.0], **columns}


@pytest.mark.parametrize(
    ("table", "text"),
    [
        (3, "the measurements cannot be 3; give paths, a pandas DataFrame, a Dataset of sk.read or a mapping"),
        ({"operation": ["a"], "run": [1]}, "there is no column 'time' with the measured values; there are operation, run"),
        ({"operation": ["a"], "time": [1.0]}, "there is no column 'run' with the launch that a value comes from"),
        ({"run": [1], "time": [1.0]}, "the table has no parameter: columns next to 'time' and 'run' distinguish experiments"),
        (changed(run=[1]), "the columns are no table: All arrays must be of the same length"),
        ({"operation": [], "run": [], "time": []}, "the table of measurements is empty"),
        (changed(time=["x", "y"]), "'time' must hold numbers, or a list of numbers in each row"),
        (changed(time=np.ones((2, 2, 2))), "'time' has 3 axes; one of rows and one of repetitions are possible"),
        (changed(time=[1.0, 0.0]), r"'time' is 0 in row 1 \(operation=b, run 1\); values must be positive and finite"),
        (changed(time=[np.inf, 1.0]), r"'time' is inf in row 0 \(operation=a, run 1\)"),
        (changed(run=[None, 1]), "row 0 has no 'run'; number the launches"),
        (changed(operation=["a", "a"], time=np.ones((2, 3))), "the experiment operation=a appears twice in run 1; give a column"),
        (changed(operation=[[1], [2]]), "'operation' has a value that is neither text nor a number; a parameter is one of"),
        (xr.Dataset({"time": ("p", [1.0])}), "the Dataset is none of sk.read; give one, or a pandas DataFrame"),
    ],
)  # fmt: skip
def test_refused(table, text) -> None:
    with pytest.raises((DataError, UsageError), match=text):
        measured(table)
