"""Datasets over several parameters: made from arrays, checked, written, combined, selected, reduced."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from scalkit.errors import DataError
from scalkit.formats.read import read
from scalkit.measure import combine, measurements, series, several_series, write_netcdf
from scalkit.measure.schema import as_grid, as_points, check, parameters_of

P, S = [2, 4, 8, 16, 32], [1, 10, 100, 1000, 10000]
POINTS = np.array(list(itertools.product(P, S)), dtype=float)
PRODUCT = POINTS[:, 0] * POINTS[:, 1]
STAR = np.equal(POINTS, POINTS[0]).any(axis=1)
FAR = np.random.default_rng(1).uniform(1, 2, (400, 2))


def made(y: object = PRODUCT, points: object = POINTS, **options: Any) -> xr.Dataset:
    return measurements(points, y, **{"parameter": ["p", "S"], **options})  # type: ignore[arg-type]


def test_a_grid_has_a_dimension_for_each_parameter() -> None:
    ds = made(np.stack([PRODUCT, PRODUCT + 1], axis=1), name="MPI_Bcast")
    assert dict(ds.sizes) == {"function": 1, "p": 5, "S": 5, "run": 1, "repetition": 2}
    assert ds["time"].dims == ("function", "p", "S", "run", "repetition")
    assert ds.attrs["parameter"] == "p,S"
    assert parameters_of(ds) == ("p", "S")
    assert ds["time"].sel(p=8, S=100).values.ravel().tolist() == [800, 801]
    assert ds["p"].dtype == np.int64


def test_a_sparse_design_is_a_grid_with_gaps() -> None:
    ds = made(PRODUCT[STAR], POINTS[STAR])
    assert ds["time"].notnull().sum() == 9
    assert np.isnan(ds["time"].sel(p=8, S=100)).all()


def test_points_all_over_the_place_are_listed() -> None:
    ds = made(FAR[:, 0], FAR)
    assert ds["time"].dims == ("function", "point", "run", "repetition")
    assert ds["S"].dims == ("point",)
    (found,) = several_series(ds)
    np.testing.assert_array_equal(found.points[:, 0], found.y)


def test_a_large_full_grid_stays_one() -> None:
    points = np.array(list(itertools.product(range(1, 300), range(1, 300))), dtype=float)
    assert made(points[:, 0], points).sizes["S"] == 299


def test_repeated_points_are_merged_as_repetitions() -> None:
    (found,) = several_series(made(np.append(PRODUCT, 0.5), np.vstack([POINTS, POINTS[3]])))
    assert found.repetitions is not None
    assert found.repetitions[3].tolist() == [2000, 0.5]
    assert found.n_repetitions.tolist() == [1, 1, 1, 2, *[1] * 21]


def test_a_list_of_one_name_is_one_parameter() -> None:
    assert measurements(POINTS[:5, 1:], P, parameter=["S"]).identical(measurements(S, P, parameter="S"))


@pytest.mark.parametrize("ds", [made(), made(PRODUCT[STAR], POINTS[STAR]), made(FAR[:, 0], FAR), made().sel(S=100)])
def test_netcdf_gives_an_identical_dataset(ds: xr.Dataset, tmp_path: Path) -> None:
    write_netcdf(ds, tmp_path / "several.nc")
    again = read(tmp_path / "several.nc")
    assert set(json.loads(again.attrs["inputs"])) == {f"{tmp_path.name}/several.nc"}
    again.attrs = {key: value for key, value in again.attrs.items() if key in ds.attrs}
    assert again.identical(ds)


def test_both_layouts_hold_the_same() -> None:
    grid = made(PRODUCT[STAR], POINTS[STAR]).assign_coords(oversubscribed=("p", np.array(P) > 4))
    listed, axis = as_points(grid)
    check(listed)
    assert (axis, listed.sizes["point"]) == ("point", 9)
    again = as_grid(listed)
    np.testing.assert_array_equal(again["time"], grid["time"])
    for one, other in zip(several_series(grid), several_series(listed), strict=True):
        np.testing.assert_array_equal(one.points, other.points)
        assert one.caveats == other.caveats
        assert "at p = 8, S = 1; p = 16, S = 1; p = 32, S = 1: the run times" in one.caveats[0]


def test_combined_functions_points_and_runs() -> None:
    few = POINTS[:, 0] < 10
    ds = combine([made(name="f"), made(PRODUCT[few], POINTS[few], name="g"), made(PRODUCT + 1, name="f")])
    assert ds["function"].values.tolist() == ["f", "g"]
    assert ds["time"].dims == ("function", "p", "S", "run", "repetition")
    assert ds["time"].sel(function="f", p=4, S=10).values.ravel().tolist() == [40, 41]
    f, g = several_series(ds)
    assert (f.values.shape, g.points.shape) == ((25, 2), (15, 2))
    assert combine([ds]).identical(ds)


def test_combined_lists() -> None:
    ds = combine([made(FAR[:, 0], FAR, name="f"), made(FAR[:7, 1], FAR[:7], name="g")])
    f, g = several_series(ds)
    np.testing.assert_array_equal(g.points[:, 1], g.y)
    assert len(f.y) == 400


def test_one_value_selected_leaves_one_parameter() -> None:
    one = made().sel(S=100)
    assert parameters_of(one) == ("p",)
    (found,) = series(one)
    assert (found.parameter, found.y.tolist()) == ("p", [100 * p for p in P])
    assert combine([one, one]).sel(run=1)["S"].item() == 100


def test_a_parameter_may_still_be_named_point() -> None:
    (found,) = series(measurements(P, P, parameter="point"))
    assert found.x.tolist() == P


def listed() -> xr.Dataset:
    return as_points(made())[0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: made().assign_attrs(parameter="p,S,n"), "attrs['parameter'] is 'p,S,n', which must name coordinates between "
         "commas (there are 'p', 'S', 'function', 'run'), where 'n' is none"),
        (lambda: made().assign_attrs(parameter="p,S,p"), "attrs['parameter'] is 'p,S,p', which names a parameter twice; each has "
         "a name of its own"),
        (lambda: made().sel(S=1, p=2), "the coordinate 'p' has dims (); it must be a dimension of its own, or all of p, S lie on "
         "the dimension 'point'"),
        (lambda: made().assign_coords(S=[1, 2, 3, 3, 4]), "the values of 'S' are [1, 2, 3, 3, 4]; they must ascend, each once"),
        (lambda: made().assign_coords(S=[-1, 2, 3, 4, 5]), "the values of 'S' are [-1, 2, 3, 4, 5]; they must be positive and "
         "finite"),
        (lambda: made().expand_dims("node", axis=1), "'time' has dims ('function', 'node', 'p', 'S', 'run', 'repetition'); "
         "function, p and S are needed, run and repetition allowed"),
        (lambda: listed().assign_coords(S=("point", [*POINTS[:24, 1], 1000.0])), "the point p = 32, S = 1000 stands there more "
         "than once; its values are repetitions of one point"),
        (lambda: listed().assign_coords(S=("point", ["a"] * 25)), "the values of 'S' are of type <U1; numbers are needed"),
    ],
)  # fmt: skip
def test_check_explains(wrong: Callable[[], xr.Dataset], message: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(f'this is no Dataset of measurements: {message}. See docs/')}"):
        check(wrong())


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: made(points=POINTS[:, 0]), "x has shape (25,) and y (25,); needed are for the parameters p, S (points, 2) and "
         "(points,) or (points, reps), not empty."),
        (lambda: made(points=-POINTS), "the point p = -2, S = -1 is not positive and finite; drop it or correct it."),
        (lambda: made(parameter=["p", "p"]), "the parameters are p, p; each needs a name of its own, other than 'point'."),
        (lambda: made(parameter=["p", "point"]), "the parameters are p, point; each needs a name of its own, "
         "other than 'point'."),
        (lambda: made(parameter=["p", "a b"]), "the parameter 'a b' is no identifier; use up to 64 letters, digits or "
         "underscores, as in 'p'."),
        (lambda: made(parameter=[]), "the parameter '' is no identifier; use up to 64 letters, digits or underscores, as "
         "in 'p'."),
        (lambda: series(made()), "series are along one parameter, the Dataset is over p, S; select one value of the others, as "
         "in ds.sel(S=1), or pass the Dataset as it is to scalkit.validate."),
        (lambda: combine([made(), measurements(P, P)]), "measurements that differ in their parameter cannot be combined: 'p,S' "
         "and 'p'; judge them apart."),
        (lambda: combine([made().sel(S=1), made().sel(S=10)]), "measurements at different S cannot be combined along p: 1 and "
         "10; combine them before a value of S is selected, or judge them apart."),
        (lambda: several_series(made())[0].x, "'f' was measured over p, S, and this is for functions of one parameter; select "
         "one value of the others, as in data.sel(S=1), and validate that."),
    ],
)  # fmt: skip
def test_wrong_use(use: Callable[[], object], message: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        use()
