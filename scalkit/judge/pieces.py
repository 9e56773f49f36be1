"""The piecewise model of a series, and the points where its growth changes."""

import math
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import cast

import xarray as xr

from scalkit.errors import DataError
from scalkit.judge.fit.piecewise import Piecewise, fit_piecewise
from scalkit.judge.space import SearchSpace
from scalkit.measure import Series, series
from scalkit.stats.pure_error import Noise, noise_of
from scalkit.support.arguments import each_of, require_kind, require_positive
from scalkit.support.options import Statistic

_LEAST_OF_EXACT = 1e-3


def piecewise(
    data: object,
    *,
    space: SearchSpace | None = None,
    statistic: str = "q1",
    max_pieces: int | None = None,
    switches: Sequence[float] = (),
) -> Piecewise:
    """Return the piecewise model of a verdict, of a series, or of a Dataset of one function.

    Parameters
    ----------
    data : Verdict, Series, or Dataset of measurements
        As from `scalkit.measurements`.
    space : SearchSpace, optional
        What a piece may grow as, beside a constant; by default the ticks of the verdict, else those of ``"ics15"``.
    statistic : {"q1", "median", "mean", "min", "cut_mean", ...}
        Over repetitions, then over runs; of a verdict or series the one that it was made with.
    max_pieces : int, optional
        At most so many; by default as many as there are settings for, three for each.
    switches : sequence of float
        Change points that are known, for example the largest size of an eager message: no piece reaches across one.

    Returns
    -------
    Piecewise
        ``str`` shows the pieces, ``sentence`` says what changes where; call it for values; `Piecewise.growths`,
        `Piecewise.change_points`, `Piecewise.probability`.

    Raises
    ------
    DataError
        If there are several series, fewer than three settings or more than 200, or a value is not positive.

    Notes
    -----
    See `scalkit.judge.fit.piecewise.fit_piecewise`. Beside the scatter between repetitions, settings may be off by up to 16 % for
    reasons of their own. Values without noise count as equal within 0.1 %.
    """
    require_kind(space, SearchSpace | None, "the space", "give one, as in SearchSpace.preset('ics15')")
    one, ticks = _series_of(data, cast(Statistic, statistic))
    ruler = space or ticks or SearchSpace.preset("ics15", one.parameter)
    if max_pieces is not None:
        require_positive(max_pieces, "max_pieces", whole=True)
    return fit_piecewise(
        one.x,
        one.y,
        ruler.ticks,
        _noise(one, statistic),
        max_segments=max_pieces,
        switches=each_of(switches, Real, "the switches", "give a list of numbers"),
        parameter=one.parameter,
        unit=one.unit,
    )


def _series_of(data: object, statistic: Statistic) -> tuple[Series, SearchSpace | None]:
    if isinstance(data, Series):
        return data, None
    if isinstance(data, xr.Dataset):
        found = series(data, statistic)
        if len(found) > 1:
            names = ", ".join(f"{one.function} ({one.metric})" for one in found[:8])
            raise DataError(f"a piecewise model is of one series, the Dataset has {len(found)}: {names}; select one.")
        return found[0], None
    if isinstance(inner := getattr(data, "series", None), Series):
        return inner, getattr(data, "space", None)
    raise DataError(
        f"a piecewise model needs a verdict, a series or a Dataset, as of scalkit.measurements; got {type(data).__name__}."
    )


def _noise(one: Series, statistic: str = "q1") -> Noise:
    """Return the noise of a series: that of its repetitions or runs, and what settings may be off by beside it."""
    noise = noise_of(one, statistic)
    if one.exact:
        return replace(noise, error=math.hypot(noise.error, _LEAST_OF_EXACT))
    return replace(noise, is_all=False)
