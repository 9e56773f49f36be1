"""A Dataset from arrays at hand."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import xarray as xr

from scalkit.errors import DataError
from scalkit.formats.read import read
from scalkit.growth import parse
from scalkit.measure import measurements, series, write_netcdf
from scalkit.measure.schema import check

P = [2, 4, 8, 16, 32]


def test_shapes_and_attributes() -> None:
    ds = measurements(P, [[1, 2]] * 5, name="MPI_Bcast")
    assert dict(ds.sizes) == {"function": 1, "p": 5, "run": 1, "repetition": 2}
    assert ds["p"].dtype == np.int64
    assert (ds.attrs["parameter"], ds["time"].attrs["units"], ds["time"].attrs["exact"]) == ("p", "s", 0)


def test_repeated_points_are_merged_as_repetitions() -> None:
    ds = measurements([4, 2, 4, 4], [1, 2, 3, 5])
    assert ds["p"].values.tolist() == [2, 4]
    np.testing.assert_array_equal(np.asarray(ds["time"])[0, :, 0], [[2, np.nan, np.nan], [1, 3, 5]])


@pytest.mark.parametrize(("unit", "factor", "base"), [("us", 1e-6, "s"), ("ms", 1e-3, "s"), ("MB", 1e6, "B"), ("W", 1, "W")])
def test_prefixes_are_taken_off(unit: str, factor: float, base: str) -> None:
    ds = measurements(P, P, metric="cost", unit=unit)
    np.testing.assert_allclose(series(ds)[0].y, np.array(P) * factor)
    assert ds["cost"].attrs["units"] == base


def test_own_parameter_metric_and_exactness() -> None:
    ds = measurements([1.5, 2.5], [3, 4], parameter="k", metric="messages", unit="1", exact=True)
    assert ds.attrs["parameter"] == "k"
    assert series(ds)[0].exact
    assert ds["k"].dtype == np.float64


def test_large_parameters_survive_netcdf(tmp_path: Any) -> None:
    ds = measurements([2**40, 2**41], [1, 2], parameter="n")
    write_netcdf(ds, tmp_path / "n.nc")
    again = read(tmp_path / "n.nc")
    assert again["n"].values.tolist() == [2**40, 2**41]
    assert again.drop_attrs(deep=False).identical(ds.drop_attrs(deep=False))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"parameter": "a b"}, "the parameter 'a b' is no identifier; use up to 64 letters, digits or underscores, as in 'p'."),
        ({"parameter": 3}, "the parameter is 3; a text is needed."),
        ({"metric": None}, "the metric is None; a text is needed."),
        ({"unit": 3}, "the unit is 3; a text is needed."),
        ({"name": 3}, "the name is 3; a text is needed."),
        ({"exact": "x"}, "exact is 'x'; True, False or None is needed."),
        ({"metric": "x-y"}, "the metric 'x-y' is no identifier; use up to 64 letters, digits or underscores, as in 'p'."),
        ({"parameter": "run"}, "the parameter cannot be named 'run', which means something else; use another, as in 'p' or 'n'."),
        ({"metric": "run"}, "the metric cannot be named 'run', which means something else; choose another name."),
        ({"metric": "log"}, "the metric cannot be named 'log', which means something else; choose another name."),
        ({"metric": "p"}, "the metric cannot be named 'p' as the parameter is; choose another name for one of them."),
        ({"y": [1, 2]}, "x has shape (5,) and y (2,); needed are (points,) and (points,) or (points, reps), not empty."),
        ({"x": [1, 2, 3, 4, -5]}, "the point p = -5 is not positive and finite; drop it or correct it."),
        ({"x": [1, 2, 3, 4, np.inf]}, "the point p = inf is not positive and finite; drop it or correct it."),
        ({"unit": "B"}, "the time is in s, with or without a prefix, and 'B' is none of these."),
        (
            {"y": [1, 2, 3, 4, -1]},
            f"this is no Dataset of measurements: 'time' of 'f' at p = {P[4]:g} is -1 s; durations are not negative: write NaN, "
            "or drop that point. See docs/file-formats.md.",
        ),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        measurements(**{"x": P, "y": P, **arguments})


def test_values_that_are_no_numbers() -> None:
    with pytest.raises(DataError, match=r"^y is no array of numbers \(.*\); pass numbers, all rows of one length\.$"):
        measurements(P, ["a"] * 5)
    with pytest.raises(DataError, match=r"^y is no array of numbers \(.*\); pass numbers, all rows of one length\.$"):
        measurements([1, 2], [[1, 2], [3]])


@pytest.mark.parametrize("huge", [[10**400], [[10**400]]])
def test_numbers_beyond_floats(huge: Any) -> None:
    with pytest.raises(DataError, match=r"^y is no array of numbers \(.*\); pass numbers, all rows of one length\.$"):
        measurements([1], huge)


def _broken() -> list[tuple[str, Any, str]]:
    good = measurements(P, P)
    time = good["time"]
    return [
        ("no parameter", good.drop_attrs(deep=False), "attrs['parameter'] is None, which must name a coordinate (there are "
         "'function', 'p', 'run')"),
        ("no function", good.drop_vars("function"), "the coordinate 'function', what was measured, is missing (there are 'p', "
         "'run')"),
        ("scalar", good.isel(p=0), "the coordinate 'p' has dims (); it must be a dimension of its own"),
        ("text axis", good.assign_coords(p=list("abcde")), "the values of 'p' are of type <U1; numbers are needed"),
        ("negative", good.assign_coords(p=[-1, 2, 3, 4, 5]), "the values of 'p' are [-1, 2, 3, 4, 5]; they must be positive "
         "and finite"),
        ("descending", good.assign_coords(p=[5, 4, 3, 2, 1]), "the values of 'p' are [5, 4, 3, 2, 1]; they must ascend, each "
         "once"),
        ("NUL", good.assign_coords(function=["a\0b"]), "the function name 'a\\x00b' is not allowed; 1 to 500 characters "
         "without NUL and without half characters (lone surrogates) are"),
        ("no metric", good.drop_vars("time"), "no variable has attrs['role'] = 'metric' (there are none)"),
        ("dims", good.assign(time=time.expand_dims("colour")), "'time' has dims ('colour', 'function', 'p', 'run', "
         "'repetition'); function and p are needed, run and repetition allowed"),
        ("kind", good.assign(time=time.astype(str).assign_attrs(time.attrs)), "'time' is of type <U32; numbers are needed, NaN "
         "where nothing was measured"),
        ("unit", good.assign(time=time.assign_attrs(units=3)), "'time' has the unit 3 in attrs['units']; a text such as 's' or "
         "'B' is needed"),
        ("inputs", good.assign_attrs(inputs="{bad"), "attrs['inputs'] is '{bad'; JSON text of an object of file names and "
         "texts is needed"),
        ("hashes", good.assign_attrs(inputs='{"a": 1}'), "attrs['inputs'] is '{\"a\": 1}'; JSON text of an object of file "
         "names and texts is needed"),
        ("notes", good.assign_attrs(notes="[1]"), "attrs['notes'] is '[1]'; JSON text of a list of texts is needed"),
        ("campaign", good.assign_attrs(campaign="[1]"), "attrs['campaign'] is '[1]'; JSON text of an object whose 'arguments' "
         "and 'settings' are objects is needed"),
        ("arguments", good.assign_attrs(campaign='{"arguments": 1}'), "attrs['campaign'] is '{\"arguments\": 1}'; JSON text of "
         "an object whose 'arguments' and 'settings' are objects is needed"),
        ("simulated", good.assign_attrs(simulated="yes"), "attrs['simulated'] is 'yes'; 0 or 1 is needed"),
        ("size", good.assign_attrs(message_size_B="abc"), "attrs['message_size_B'] is 'abc'; a whole number of bytes is needed"),
        ("infinite", good.assign(time=(time / 0).assign_attrs(time.attrs)), "'time' of 'f' at p = 2 is inf s; write NaN where "
         "nothing was measured, or drop that point"),
    ]  # fmt: skip


@pytest.mark.parametrize(("ds", "problem"), [case[1:] for case in _broken()], ids=[case[0] for case in _broken()])
def test_check_explains(ds: Any, problem: str) -> None:
    message = f"this is no Dataset of measurements: {problem}. See docs/file-formats.md."
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        check(ds)


def test_check_explains_repeated_functions() -> None:
    ds = xr.concat([measurements(P, P), measurements(P, P)], "function")
    message = "the function 'f' stands there more than once; combine() merges repeated measurements"
    with pytest.raises(DataError, match=re.escape(message)):
        check(ds)


def test_masked_values_are_missing() -> None:
    y = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
    values = measurements([2, 4, 8], y)["time"].values.ravel()
    assert np.isnan(values[1])
    assert values[[0, 2]].tolist() == [1.0, 3.0]


def test_no_parameter_is_called_as_something_in_a_formula() -> None:
    for name in (*parse.LOGS, *parse.ROOTS, *parse._NOT_NUMBERS, *map(str.upper, parse._NOT_NUMBERS), "NaN"):
        with pytest.raises(DataError, match=f"^the parameter cannot be named '{name}', which means"):
            measurements([1, 2], [1.0, 2.0], parameter=name)
