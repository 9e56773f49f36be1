"""What was measured: the series of every function and metric, without the settings that are left out."""

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, Generic, TypeVar, cast

import numpy as np
import xarray as xr

from scalkit.errors import DataError
from scalkit.growth import Growth
from scalkit.growth.relation import Relation
from scalkit.judge.expectation import Expectation
from scalkit.judge.names import Name
from scalkit.judge.several.expectation import SeveralExpectation
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.judge.verdict import Verdict
from scalkit.measure import Series, SeveralSeries, series, several_series
from scalkit.measure.schema import check, fixed_parameters, parameters_of
from scalkit.support.options import Judging, Statistic
from scalkit.support.text import brief

AnyExpectation = Expectation | SeveralExpectation
AnySeries = Series | SeveralSeries
AnyVerdict = Verdict | SeveralVerdict

Rulers = Mapping[str, tuple[Growth, ...]]
"""Ticks by parameter, ascending."""

Setting = float | tuple[float, ...]
"""A value of the parameter, or a value of each of several."""


@dataclass(frozen=True)
class Choices:
    """What was chosen, as far as it differs from the set of expectations.

    Two are equal if they lead to the same result from the same measurements. The mappings are never changed in place.

    `rules`: all cross-function rules, those of the set of expectations included.
    `excluded`: ascending; what is left out.
    """

    judging: Judging = field(default_factory=Judging)
    rules: tuple[Relation, ...] = ()
    expectations: Mapping[str, AnyExpectation] = field(default_factory=dict)
    rulers: Mapping[str, Rulers] = field(default_factory=dict)
    excluded: Mapping[str, tuple[Setting, ...]] = field(default_factory=dict)


Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values by key; beyond `most` the one that was asked for longest ago goes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: OrderedDict[Hashable, Value] = OrderedDict()

    def get(self, key: Hashable) -> Value | None:
        """Return the value of a key, or None."""
        value = self._found.get(key)
        if value is not None:
            self._found.move_to_end(key)
        return value

    def put(self, key: Hashable, value: Value) -> Value:
        """Keep a value; return it."""
        self._found[key] = value
        self._found.move_to_end(key)
        while len(self._found) > self._most:
            self._found.popitem(last=False)
        return value


_KEPT = 256


class Measured:
    """The series of a Dataset; each is made once for a statistic and what is left out, so it can be a key.

    `parameters`: those that vary.
    `fixed`: those of which one value was selected.
    """

    def __init__(self, data: xr.Dataset, statistic: str = "q1") -> None:
        check(data)
        self.data = data
        self._first = statistic
        self.parameters = parameters_of(data)
        self.fixed = fixed_parameters(data)
        self._whole = lru_cache(4)(partial(self._series_of, data))
        self._without = lru_cache(_KEPT)(self._series_without)

    def series(self, statistic: str, excluded: Mapping[str, tuple[Setting, ...]]) -> list[AnySeries]:
        """Return the series in the order of the data; a function without any value left has none."""
        found = []
        for one in self._whole(statistic):
            left_out = excluded.get(one.function)
            kept = one if not left_out else self._without(one.function, left_out, statistic).get(one.metric)
            if kept is not None:
                found.append(kept)
        return found

    def names(self) -> tuple[Name, ...]:
        """Return (function, metric) of every series."""
        return tuple((one.function, one.metric) for one in self._whole(self._first))

    def settings(self, function: str) -> tuple[Setting, ...]:
        """Return where a function was measured, ascending."""
        found: set[Setting] = set()
        for one in self._whole(self._first):
            if one.function == function:
                found.update(_settings_of(one))
        return tuple(sorted(found))

    def setting(self, given: object) -> Setting:
        """Return a setting that a person names: a number, or for several parameters a sequence or a mapping of them.

        Raises DataError if it is something else.
        """
        values: Any = given
        if len(self.parameters) > 1:
            values = [given.get(name) for name in self.parameters] if isinstance(given, Mapping) else given
        try:
            if len(self.parameters) == 1:
                return float(values)
            found = tuple(float(value) for value in values)
        except (TypeError, ValueError) as error:
            raise self._wrong(given) from error
        if len(found) != len(self.parameters):
            raise self._wrong(given)
        return found

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of the data: truncated files, and where a value of a parameter was selected."""
        files = str(self.data.attrs.get("truncated", "") or "")
        cut = (f"truncated files, read as far as they go: {files}",) if files else ()
        fixed = self.fixed if len(self.parameters) == 1 else {}
        return (*cut, *(f"judged at {name} = {value:g}" for name, value in fixed.items()))

    def _wrong(self, given: object) -> DataError:
        needed = (
            f"a value of {self.parameters[0]}"
            if len(self.parameters) == 1
            else f"a value of each of {', '.join(self.parameters)}"
        )
        return DataError(f"the setting {brief(given)} cannot be read; {needed} is needed.")

    def _series_without(self, function: str, left_out: tuple[Setting, ...], statistic: str) -> dict[str, AnySeries]:
        part = _masked(self.data.sel(function=[function]), self.parameters, left_out)
        return {one.metric: one for one in self._series_of(part, statistic)}

    def _series_of(self, data: xr.Dataset, statistic: str) -> list[AnySeries]:
        chosen = cast(Statistic, statistic)
        if len(self.parameters) > 1:
            return list(several_series(data, chosen))
        return list(series(data, chosen))


def shown_setting(setting: Setting, parameters: Iterable[str]) -> str:
    """Return a setting in words: ``p = 4``, ``p = 4, S = 64``."""
    values = setting if isinstance(setting, tuple) else (setting,)
    return ", ".join(f"{name} = {value:g}" for name, value in zip(parameters, values, strict=True))


def _settings_of(one: AnySeries) -> list[Setting]:
    if isinstance(one, SeveralSeries):
        return [tuple(row) for row in one.points.tolist()]
    return list(one.x.tolist())


def _masked(data: xr.Dataset, parameters: tuple[str, ...], left_out: tuple[Setting, ...]) -> xr.Dataset:
    """Return measurements with NaN at some settings."""
    gone: Any = False
    for setting in left_out:
        values = setting if isinstance(setting, tuple) else (setting,)
        here: Any = True
        for name, value in zip(parameters, values, strict=True):
            here = here & (data[name].astype(np.float64) == value)
        gone = gone | here
    metrics = {name: one for name, one in data.data_vars.items() if one.attrs.get("role") == "metric"}
    return data.assign({name: one.where(~gone).transpose(*one.dims).assign_attrs(one.attrs) for name, one in metrics.items()})
