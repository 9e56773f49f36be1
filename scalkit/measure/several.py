"""The values of each function and metric over several parameters, point by point, as a `SeveralSeries`."""

from dataclasses import dataclass, fields, replace
from typing import Any, NoReturn

import numpy as np
import xarray as xr

from scalkit.errors import DataError
from scalkit.measure.reduce import Series, Values, series_on
from scalkit.measure.schema import as_points, check, parameters_of, points_in
from scalkit.support.arrays import Floats
from scalkit.support.options import Statistic


@dataclass(frozen=True, eq=False)
class SeveralSeries(Values):
    """The values of one function and metric over several parameters.

    `points` (shape (points, parameters)): only those with a value.
    Further attributes: those of `Values`.
    """

    parameters: tuple[str, ...]
    points: Floats

    def __repr__(self) -> str:
        return f"SeveralSeries({self.function!r}, {self.metric}: {len(self.points)} points of {', '.join(self.parameters)})"

    def along(self, parameter: str) -> Floats:
        """Return the different values of one parameter, ascending."""
        return np.unique(self.points[:, self.parameters.index(parameter)])

    def slices(self, parameter: str) -> list[Series]:
        """Return the values along one parameter for each combination of the others, which the names say: ``f [S = 8]``.

        Raises DataError if the values do not depend on it.
        """
        if parameter not in self.parameters:
            known = " and ".join(self.parameters)
            raise DataError(f"'{self.function}' was measured over {known}, not along {parameter!r:.40}.")
        column = self.parameters.index(parameter)
        others = [name for name in self.parameters if name != parameter]
        rest = np.delete(self.points, column, axis=1)
        found = []
        for fixed in np.unique(rest, axis=0):
            these = np.flatnonzero((rest == fixed).all(axis=1))
            these = these[np.argsort(self.points[these, column])]
            said = ", ".join(f"{name} = {value:.12g}" for name, value in zip(others, fixed, strict=True))
            part = replace(self.only(these), function=f"{self.function} [{said}]")
            found.append(Series(parameter=parameter, x=part.points[:, column], **_shared(part)))
        return found

    def shown_along(self, parameter: str) -> Floats:
        """Return the values of one parameter that figures show: all."""
        return self.along(parameter)

    @property
    def x(self) -> NoReturn:
        """What a `Series` along one parameter has; here it is the error of `needs_one`."""
        raise self.needs_one()

    def needs_one(self) -> DataError:
        """Return the error of what is for one parameter only, with the way on."""
        last = self.parameters[-1]
        return DataError(
            f"'{self.function}' was measured over {', '.join(self.parameters)}, and this is for functions of one parameter; "
            f"select one value of the others, as in data.sel({last}={self.points[0, -1]:g}), and validate that."
        )


def several_series(ds: xr.Dataset, statistic: Statistic = "q1") -> list[SeveralSeries]:
    """Return the values of every function and metric that has one, over the parameters of a Dataset.

    `ds`: as `scalkit.measurements` makes it of several parameters, a grid or a list of points.
    `statistic`: first over the repetitions of a run, then over the runs.
    Raises DataError if `ds` does not pass `check` or has no value, or the statistic is unknown.
    """
    check(ds)
    names = parameters_of(ds)
    listed, axis = as_points(ds)
    points = points_in(listed, names)
    return [_over(one, names, points) for one in series_on(listed, axis, statistic)]


def _over(series: Series, names: tuple[str, ...], points: Floats) -> SeveralSeries:
    return SeveralSeries(parameters=names, points=points[series.x.astype(np.int64)], **_shared(series))


def _shared(values: Values) -> dict[str, Any]:
    """Return the attributes that both kinds of series have."""
    return {one.name: getattr(values, one.name) for one in fields(Values)}
