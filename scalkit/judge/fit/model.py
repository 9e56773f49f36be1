"""A fitted model: a sum of coefficients times growths."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError, UsageError
from scalkit.growth import Growth
from scalkit.growth.sums import GrowthSum
from scalkit.support.arrays import EqualIfMissingAlike, Floats
from scalkit.support.text import brief
from scalkit.support.units import format_quantity

_SMALLEST, _LARGEST = 1e-16, 1e18
_SHOWN = 60  # characters of a wrong value in a message


def at_points(points: ArrayLike | Mapping[str, ArrayLike], parameters: Sequence[str]) -> dict[str, Floats]:
    """Return the values of each parameter, from a mapping or from points.

    `points`: of shape (..., parameters); of any shape for a single parameter.

    Raises DataError if a parameter is missing or unknown, or the last axis does not have one entry
    for each parameter; UsageError if values are not numbers.
    """
    if isinstance(points, Mapping):
        wanted = ", ".join(parameters)
        if unknown := [name for name in points if name not in parameters]:
            raise DataError(f"there is no parameter '{unknown[0]}'; give a value of {wanted}.")
        if missing := [name for name in parameters if name not in points]:
            raise DataError(f"a value of '{missing[0]}' is missing; give values of {wanted}.")
        return {name: _numbers(points[name], name) for name in parameters}
    at = _numbers(points, ", ".join(parameters))
    if len(parameters) == 1:
        return {parameters[0]: at}
    if at.ndim == 0 or at.shape[-1] != len(parameters):
        raise DataError(
            f"{brief(points)} is no point of several parameters; name a value of each, as in "
            f"{', '.join(f'{name}=8' for name in parameters)}."
        )
    return {name: at[..., i] for i, name in enumerate(parameters)}


def stacked(x: Mapping[str, Floats]) -> tuple[Floats, tuple[int, ...]]:
    """Return points of shape (m,), or (m, parameters) of several parameters, and the shape of the values of each."""
    columns = np.broadcast_arrays(*x.values())
    at = np.stack([column.ravel() for column in columns], axis=1)
    return (at if len(columns) > 1 else at[:, 0]), columns[0].shape


def _numbers(x: ArrayLike, parameter: str) -> Floats:
    try:
        if np.iscomplexobj(x):
            raise TypeError
        return np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        shown = repr(x)
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        raise UsageError(f"{shown} is no setting of {parameter}; give a number, or an array of them.") from error


def checked_settings(x: ArrayLike, parameter: str) -> Floats:
    """Return settings of a parameter as floats. Raises UsageError if they are no numbers, or one is not positive and finite."""
    at = _numbers(x, parameter)
    wrong = ~(np.isfinite(at) & (at > 0))
    if wrong.any():
        raise UsageError(f"the setting {parameter} = {at[wrong].flat[0]:g} is not positive and finite; ask for others.")
    return at


class Curve(Protocol):
    """Anything that has values at points."""

    def predict(self, at: Floats) -> Floats:
        """Return values at points of shape (m,), of several parameters (m, parameters)."""


@dataclass(frozen=True)
class Term:
    """A coefficient times a growth; the constant is the growth 1.

    Attributes
    ----------
    growth : Growth
    log2_coefficient : float
        log2 of the size of the coefficient, which exists where the coefficient itself is too small or
        too large for a float.
    is_subtracted : bool
        Whether the coefficient is negative.
    """

    growth: Growth
    log2_coefficient: float
    is_subtracted: bool = False

    @classmethod
    def of(cls, growth: Growth, coefficient: float) -> "Term":
        """Return the term of a coefficient within the range of floats."""
        return cls(growth, math.log2(abs(coefficient)) if coefficient else -math.inf, coefficient < 0)

    @property
    def coefficient(self) -> float:
        """The coefficient, without digits that are noise of its logarithm; 0 or infinite outside the range of floats."""
        size = float(f"{2.0**self.log2_coefficient:.12g}") if self.log2_coefficient < 1024 else math.inf
        return -size if self.is_subtracted else size

    def quantity(self, unit: str) -> str:
        """Return the size of the coefficient with its unit; as a power of two where it is too small or too large for a float."""
        size = abs(self.coefficient)
        if not 0 < size < math.inf and self.log2_coefficient > -math.inf:
            return f"2^({self.log2_coefficient:.0f}) {unit}".strip()
        if size and not _SMALLEST <= size < _LARGEST:
            return f"{size:.3g} {unit}".strip()
        return format_quantity(size, unit)


@dataclass(frozen=True, eq=False)
class Model(EqualIfMissingAlike):
    """A sum of terms over one or several parameters, in `unit`.

    Attributes
    ----------
    parameters : tuple of str
        In the order of the columns of the points.
    terms : tuple of Term
        With one parameter, the leading term is last: positive, or a constant alone. The
        constant of a verdict's model may be negative as far as no measured value is (levels of a tree
        below the root, p - 1 partners); that of a fit by adjusted R^2 never is.
    rss : float
        Residual sum of squares, relative to the measured values, dimensionless.
    adjusted_r2 : float
        Adjusted coefficient of determination of the formula; NaN for a constant model.
    weight : float
        Posterior probability of its growth; NaN where none was computed.
    average : Curve, optional
        Curve that gives the values in place of the formula: the average over all hypotheses
        that the measurements do not exclude. The formula is the most probable of them.
    """

    parameters: tuple[str, ...]
    terms: tuple[Term, ...]
    unit: str
    rss: float
    adjusted_r2: float = math.nan
    weight: float = math.nan
    average: Curve | None = field(default=None, repr=False, compare=False)

    @property
    def growth(self) -> Any:
        """The leading `Growth` of one parameter; of several the `GrowthSum` of the terms that no other one outgrows."""
        if len(self.parameters) == 1:
            return self.terms[-1].growth
        return GrowthSum.of(term.growth for term in self.terms)

    @property
    def constant(self) -> float:
        """The part that depends on no parameter."""
        return sum(term.coefficient for term in self.terms if term.growth.is_constant)

    @property
    def coefficient(self) -> float:
        """Coefficient of the last term, the leading one of one parameter; 0 of a constant model."""
        return 0.0 if self.terms[-1].growth.is_constant else self.terms[-1].coefficient

    def leading(self, parameter: str) -> Growth:
        """Return the growth along one parameter where the others are fixed; 1 if it has no effect."""
        return GrowthSum.parse(self.growth).leading(parameter)

    def __call__(self, points: ArrayLike | Mapping[str, ArrayLike] | None = None, /, **values: ArrayLike) -> Floats:
        """Return the model, in `unit`, at values by parameter, as in ``model(p=64, S=8)``, or at points.

        `points`: of any shape for one parameter, of shape (..., parameters) for several.
        `**values`: values of each parameter, in place of `points`.
        Raises DataError if a parameter is missing or unknown, or the last axis does not have one entry for each; UsageError if
        a verdict's model is asked for a point that is not positive, or where a growth that competes has no value.
        """
        x = at_points(values if points is None else points, self.parameters)
        if self.average is None:
            return self.by_formula(x)
        at, shape = stacked(x)
        return self.average.predict(at).reshape(shape)

    def by_formula(self, points: ArrayLike | Mapping[str, ArrayLike]) -> Floats:
        """Return the values of the formula, without regard to `average`."""
        x = at_points(points, self.parameters)
        total = np.zeros(np.broadcast_shapes(*(value.shape for value in x.values())))
        with np.errstate(over="ignore"):
            for term in self.terms:
                # The coefficient of a constant is exact, so that equal values come back.
                is_constant = term.growth.is_constant
                size = abs(term.coefficient) if is_constant else np.exp2(term.log2_coefficient + term.growth.log2_value(x))
                total = total - size if term.is_subtracted else total + size
        return np.asarray(np.maximum(total, 0.0))

    def log2_value(self, points: ArrayLike | Mapping[str, ArrayLike]) -> Floats:
        """Return log2 of the formula, which neither the sum nor a term of it overflows; minus infinity where it is not positive.

        Of one parameter it is that of `average`, where there is one.
        """
        x = at_points(points, self.parameters)
        if self.average is not None and len(x) == 1:
            with np.errstate(divide="ignore"):
                return np.asarray(np.log2(self(x)))
        added = subtracted = np.full(np.broadcast_shapes(*(value.shape for value in x.values())), -np.inf)
        for term in self.terms:
            size = term.log2_coefficient + term.growth.log2_value(x)
            if term.is_subtracted:
                subtracted = np.logaddexp2(subtracted, size)
            else:
                added = np.logaddexp2(added, size)
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = added + np.log2(-np.expm1((subtracted - added) * math.log(2)))
        return np.asarray(np.where(added > subtracted, rest, -np.inf))

    def effects(self, low: Sequence[float], high: Sequence[float]) -> dict[str, float]:
        """Return the share of the value at `high` that is due to each parameter's step from `low` to `high`.

        Shapley values: the mean over all orders in which the parameters may take the step. What remains to 1 is the share
        of the value at `low`.

        Source: Shapley 1953, "A value for n-person games".
        """
        n = len(self.parameters)
        corner = {
            members: float(self([high[i] if i in members else low[i] for i in range(n)]))
            for size in range(n + 1)
            for members in map(frozenset, combinations(range(n), size))
        }
        top = corner[frozenset(range(n))]
        found = {}
        for i, name in enumerate(self.parameters):
            total = 0.0
            for members, value in corner.items():
                if i not in members:
                    mass = math.factorial(len(members)) * math.factorial(n - len(members) - 1) / math.factorial(n)
                    total += mass * (corner[members | {i}] - value)
            found[name] = total / top
        return found

    def _written(self, written: Callable[[Term], str], plus: str, minus: str) -> str:
        """Return the texts of the terms with their signs between them, a positive one first if there is one."""
        terms = self.terms
        if terms[0].is_subtracted:
            terms = tuple(sorted(terms, key=lambda term: term.is_subtracted))
        first = minus.strip() if terms[0].is_subtracted else ""
        others = ((minus if term.is_subtracted else plus) + written(term) for term in terms[1:])
        return first + written(terms[0]) + "".join(others)

    def __str__(self) -> str:
        def written(term: Term) -> str:
            quantity = term.quantity(self.unit)
            return quantity if term.growth.is_constant else f"{quantity} * {term.growth}"

        return self._written(written, " + ", " - ")

    def to_mathml(self) -> str:
        """Return presentation MathML without the enclosing ``<math>``."""

        def written(term: Term) -> str:
            number, _, unit = term.quantity(self.unit).partition(" ")
            quantity = f"<mn>{escape(number)}</mn>"
            quantity += f"<mspace width='0.2em'/><mtext>{escape(unit)}</mtext>" if unit else ""
            return quantity if term.growth.is_constant else f"{quantity}<mo>&#x22C5;</mo>{term.growth.to_mathml()}"

        return f"<mrow>{self._written(written, '<mo>+</mo>', '<mo>&#x2212;</mo>')}</mrow>"

    def to_sympy(self) -> Any:
        """Return a sympy expression, in `unit`."""
        products = [term.growth.to_sympy() * term.coefficient for term in self.terms]
        return sum(products[1:], products[0])

    def __repr__(self) -> str:
        return f"Model({str(self)!r})"

    def _repr_html_(self) -> str:
        return f"<math>{self.to_mathml()}</math>"
