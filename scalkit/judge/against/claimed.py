"""A model with constants as a claim: what it says at the measured settings, and the measured values over that."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from scalkit.errors import ExpectationError, ScalkitError
from scalkit.growth import Growth
from scalkit.growth.sums import GrowthSum
from scalkit.measure import Series, SeveralSeries
from scalkit.support.arrays import Floats

AnySeries = TypeVar("AnySeries", bound=Series | SeveralSeries)


@runtime_checkable
class HasValues(Protocol):
    """Anything that has values by the names of its parameters, such as a performance model or the model of a fit."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of what it depends on."""

    def __call__(self, **at: Any) -> Any:
        """Return its values."""


@dataclass(frozen=True, eq=False)
class Claimed:
    """A model with constants.

    `model`: takes its parameters by name.
    `unit`: empty if it says none.
    `is_vectorised`: whether it takes arrays.
    """

    model: Callable[..., Any]
    name: str
    parameters: tuple[str, ...]
    unit: str = ""
    is_vectorised: bool = True

    def at(self, settings: Mapping[str, Floats]) -> Floats:
        """Return its values at settings, by the names of the data; P and p are the same where there is no other.

        Raises ExpectationError if a parameter is not in the data, or a value cannot be computed or is not positive and
        finite.
        """
        given = {own: settings[self._of(own, settings)] for own in self.parameters}
        shape = np.broadcast_shapes(*(one.shape for one in settings.values()))
        given = {own: np.broadcast_to(one, shape) for own, one in given.items()}
        try:
            if self.is_vectorised:
                values = np.broadcast_to(np.asarray(self.model(**given), dtype=np.float64), shape)
            else:
                rows = zip(*(one.tolist() for one in given.values()), strict=True) if given else [()] * shape[0]
                values = np.array([float(self.model(**dict(zip(given, row, strict=True)))) for row in rows])
        except Exception as error:  # a function of the user's may raise anything
            why = str(error).removesuffix(".") if isinstance(error, ScalkitError) else f"{type(error).__name__}: {error}"
            raise ExpectationError(f"the model '{self.name}' cannot be compared with what was measured: {why}.") from error
        wrong = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
        if wrong.size:
            place = ", ".join(f"{name} = {np.broadcast_to(x, shape)[wrong[0]]:g}" for name, x in settings.items())
            raise ExpectationError(
                f"the model '{self.name}' is {values[wrong[0]]:g} at {place}; a claim needs positive values at all measured "
                "settings, so leave these out, or give its growth alone, as scalkit.Expectation(model)."
            )
        return values

    def _of(self, own: str, settings: Mapping[str, Floats]) -> str:
        near = [name for name in settings if name.lower() == own.lower()]
        if own not in settings and len(near) != 1:
            raise ExpectationError(
                f"the model '{self.name}' depends on {own}, the data on {', '.join(settings)}; give a model of these."
            )
        return own if own in settings else near[0]


def claimed(given: object) -> Claimed | None:
    """Return a model with constants, or None for all else: growths, texts, and models that only have bounds.

    `given`: one that `HasValues`, or a function whose arguments are called as parameters of the data, ``lambda p, S:
    ...``.
    """
    if not callable(given) or isinstance(given, Growth | GrowthSum | type) or hasattr(given, "free_symbols"):
        return None
    if not getattr(given, "is_exact", True):
        return None
    if isinstance(given, HasValues):
        name = getattr(given, "name", "") or str(given)
        return Claimed(given, str(name), tuple(given.parameters), str(getattr(given, "unit", "")))
    if hasattr(given, "growth"):
        return None
    try:
        named = inspect.signature(given).parameters.values()
    except (TypeError, ValueError):
        return None
    own = tuple(one.name for one in named if one.default is one.empty)
    return Claimed(given, str(getattr(given, "__name__", type(given).__name__)), own, is_vectorised=False)


def over_model(series: AnySeries, model: Claimed, fixed: Mapping[str, float]) -> AnySeries:
    """Return measured values over those of a model: the metric is called ``time/model`` and has no unit.

    `fixed`: parameters of which the data have one value.
    Raises ExpectationError, as `Claimed.at`, or if the model is in another unit, or a measured value is not positive.
    """
    if model.unit and model.unit != series.unit:
        raise ExpectationError(
            f"the model '{model.name}' is in {model.unit}, the {series.metric} of '{series.function}' in {series.unit}; name "
            f"the metric that it is about, as in {{'{series.function}': {{'time': model}}}}."
        )
    if (empty := np.flatnonzero(series.y <= 0)).size:
        at_one = ", ".join(f"{name} = {x:g}" for name, x in zip(series.parameters, series.points[empty[0]], strict=True))
        raise ExpectationError(
            f"the {series.metric} is {series.y[empty[0]]:g} at {at_one}, and a model with constants is compared by the ratio to "
            "it, which needs positive values; leave these settings out, or claim a growth, such as '1'."
        )
    at = {name: series.points[:, column] for column, name in enumerate(series.parameters)}
    values = model.at({**at, **{name: np.full(len(series.y), value) for name, value in fixed.items()}})
    return replace(
        series,
        metric=f"{series.metric}/model",
        unit="1",
        values=series.values / values[:, np.newaxis],
        y=series.y / values,
        resolution=series.resolution / float(values.min()),
        repetitions=None if series.repetitions is None else series.repetitions / values[:, np.newaxis],
        lost=None,
    )
