"""Several Datasets as one."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from scalkit.errors import DataError
from scalkit.measure import combine, measurements

P = [2, 4, 8]


def test_one_stays_as_it_is() -> None:
    ds = measurements(P, P)
    assert combine([ds]).identical(ds)


def test_functions_side_by_side_share_the_run() -> None:
    ds = combine([measurements(P, P, name="a"), measurements([4, 16], [1, 2], name="b")])
    assert ds["run"].values.tolist() == [0]
    assert ds["p"].values.tolist() == [2, 4, 8, 16]
    np.testing.assert_array_equal(np.asarray(ds["time"])[:, :, 0, 0], [[2, 4, 8, np.nan], [np.nan, 1, np.nan, 2]])


def test_further_points_of_a_function_share_the_run() -> None:
    ds = combine([measurements([2, 4], [2, 4]), measurements([8], [8])])
    assert ds["run"].values.tolist() == [0]
    assert np.asarray(ds["time"]).ravel().tolist() == [2, 4, 8]


def test_the_same_function_again_is_a_further_run() -> None:
    ds = combine([measurements(P, P), measurements(P, [[9, 9]] * 3), measurements(P, P)])
    assert ds["run"].values.tolist() == [0, 1, 2]
    assert ds.sizes["repetition"] == 2


def test_hostile_names_stay() -> None:
    name = "<b>&lt;\n\"'"
    assert combine([measurements(P, P, name=name), measurements(P, P)])["function"].values.tolist() == [name, "f"]


def test_crowded_if_any_is_and_zero_where_processes_per_node_differ() -> None:
    over = {"oversubscribed": ("p", [False, False, True]), "processes_per_node": ("p", [2, 4, 8])}
    other = {"oversubscribed": ("p", [False, True, True]), "processes_per_node": ("p", [2, 2, 8])}
    ds = combine([measurements(P, P).assign_coords(over), measurements(P, P).assign_coords(other)])
    assert ds["oversubscribed"].values.tolist() == [False, True, True]
    assert ds["processes_per_node"].values.tolist() == [2, 0, 8]


def test_a_dataset_without_runs() -> None:
    ds = measurements(P, P).isel(run=0, repetition=0, drop=True)
    assert combine([ds, ds])["run"].values.tolist() == [0, 1]


def _with(**attrs: Any) -> Any:
    return measurements(P, P).assign_attrs(attrs)


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([], "there is nothing to combine; pass at least one Dataset."),
        (
            [measurements(P, P), measurements(P, P, parameter="k")],
            "measurements that differ in their parameter cannot be combined: 'p' and 'k'; judge them apart.",
        ),
        (
            [_with(message_size_B=8), _with(message_size_B=64)],
            "measurements that differ in their message size cannot be combined: '8' and '64'; judge them apart, or make the size "
            "a parameter, as in read(..., parameter=['p', 'S']).",
        ),
        (
            [_with(mpi_library="A 1\nmore"), _with(mpi_library="B 2")],
            "measurements that differ in their MPI library cannot be combined: 'A 1' and 'B 2'; judge them apart.",
        ),
        (
            [measurements(P, P, metric="cost", unit="s"), measurements(P, P, metric="cost", unit="B")],
            "the metric 'cost' is in 's' and in 'B'; convert one of them.",
        ),
    ],
)
def test_what_cannot_be_combined(sets: list[Any], message: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        combine(sets)
