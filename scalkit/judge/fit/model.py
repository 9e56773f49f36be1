"""A model: a constant plus a coefficient times a growth, as it came out of a fit."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError, UsageError
from scalkit.growth import Growth
from scalkit.support.arrays import EqualIfMissingAlike, Floats
from scalkit.support.units import format_quantity


def at_points(points: ArrayLike | Mapping[str, ArrayLike], parameters: Sequence[str]) -> dict[str, Floats]:
    """Return the values of each parameter from points of shape (..., parameters) or from a mapping.

    Raises DataError if a parameter is missing or unknown, or the last axis does not have one entry for each.
    """
    if isinstance(points, Mapping):
        wanted = ", ".join(parameters)
        if unknown := [name for name in points if name not in parameters]:
            raise DataError(f"there is no parameter '{unknown[0]}'; give a value of {wanted}.")
        if missing := [name for name in parameters if name not in points]:
            raise DataError(f"a value of '{missing[0]}' is missing; give values of {wanted}.")
        return {name: np.asarray(points[name], dtype=np.float64) for name in parameters}
    at = np.asarray(points, dtype=np.float64)
    if at.ndim == 0 or at.shape[-1] != len(parameters):
        raise DataError(
            f"the points have shape {at.shape}; the last axis must have one entry for each of {', '.join(parameters)}."
        )
    return {name: at[..., i] for i, name in enumerate(parameters)}


def checked_settings(x: ArrayLike, parameter: str) -> Floats:
    """Return settings of a parameter as floats. Raises UsageError if they are no numbers, or one is not positive and finite."""
    try:
        if np.iscomplexobj(x):
            raise TypeError
        at = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(f"{_shown(x)} is no setting of {parameter}; give a number, or an array of them.") from error
    wrong = ~(np.isfinite(at) & (at > 0))
    if wrong.any():
        raise UsageError(f"the setting {parameter} = {at[wrong].flat[0]:g} is not positive and finite; ask for others.")
    return at


def _shown(given: object) -> str:
    shown = repr(given)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


_SMALLEST, _LARGEST = 1e-16, 1e18
_SHOWN = 60  # characters of a wrong value in a message


class Curve(Protocol):
    """Anything that has values at points."""

    def predict(self, at: Floats) -> Floats:
        """Return values at points of shape (m,)."""


@dataclass(frozen=True, eq=False)
class Model(EqualIfMissingAlike):
    """``constant + coefficient * growth(x)``, in `unit`.

    Attributes
    ----------
    constant, coefficient : float, in `unit`
        The coefficient is positive, or 0 in a constant model. The constant of a verdict's model may be negative as far as no
        measured value is (levels of a tree below the root, p - 1 partners); that of a fit by adjusted R^2 never is.
    growth : Growth
        The leading term; 1 for a constant model.
    adjusted_r2 : float
        Adjusted coefficient of determination of the weighted fit; NaN for a constant model.
    rss : float
        Residual sum of squares, relative to the measured values, dimensionless.
    log2_coefficient : float
        log2 of the coefficient, which exists where the coefficient itself is too small or too large for a float.
    weight : float
        Posterior probability of its growth; NaN where none was computed.
    lower : Growth, optional
        Of a second, slower term.
    lower_coefficient : float, in `unit`
    average : Curve, optional
        What gives the values in place of the formula: the average over everything that the
        measurements leave possible, of which the formula is the most probable part.
    """

    constant: float
    coefficient: float
    growth: Growth
    parameter: str
    unit: str
    adjusted_r2: float
    rss: float
    log2_coefficient: float
    weight: float = math.nan
    lower: Growth | None = None
    lower_coefficient: float = 0.0
    average: Curve | None = field(default=None, repr=False, compare=False)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters: the only one."""
        return (self.parameter,)

    def leading(self, parameter: str) -> Growth:
        """Return the growth along a parameter; 1 if it has no effect."""
        return self.growth if parameter == self.parameter else Growth()

    def __call__(self, x: ArrayLike | Mapping[str, ArrayLike] | None = None, /, **values: ArrayLike) -> Floats:
        """Return the model at `x`, in `unit`; same shape as `x`. By name, ``model(p=64)`` is the same as ``model(64)``.

        Raises DataError if a value is given for another parameter, UsageError if a verdict's model is
        asked for a point that is not positive, or where a growth that competes has no value.
        """
        if x is None or isinstance(x, Mapping):
            points = values if x is None else x
            (x,) = at_points(points, self.parameters).values()
        if self.average is not None:
            at = checked_settings(x, self.parameter)
            return self.average.predict(at.ravel()).reshape(at.shape)
        return self.by_formula(np.asarray(x, dtype=np.float64))

    def by_formula(self, at: Floats) -> Floats:
        """Return the values of the formula, without regard to `average`."""
        found = np.full(at.shape, self.constant)
        with np.errstate(over="ignore"):
            if self.lower is not None:
                found = found + self.lower_coefficient * self.lower(at)
            if not self.growth.is_constant:
                found = found + np.exp2(self.log2_coefficient + self.growth.log2_value(at))
        return np.asarray(np.maximum(found, 0.0))

    def log2_value(self, x: ArrayLike) -> Floats:
        """Return log2 of the model at `x`; without `average` it does not overflow."""
        at = np.asarray(x, dtype=np.float64)
        if self.average is not None:
            with np.errstate(divide="ignore"):
                return np.asarray(np.log2(self(at)))
        parts = [(self.constant < 0, np.full(at.shape, _log2_size(self.constant)))]
        if self.lower is not None:
            size = _log2_size(self.lower_coefficient)
            parts.append((self.lower_coefficient < 0, size + self.lower.log2_value(at)))
        if not self.growth.is_constant:
            parts.append((False, self.log2_coefficient + self.growth.log2_value(at)))
        return log2_of_sum(parts)

    def _parts(self) -> list[tuple[float, str, Growth]]:
        """Return sign, quantity and growth of each part, the leading term last."""
        found = [(self.constant, _quantity(abs(self.constant), self.unit), Growth())]
        if self.lower is not None:
            quantity = _quantity(abs(self.lower_coefficient), self.unit)
            found.append((self.lower_coefficient, quantity, self.lower))
        if not self.growth.is_constant:
            text = coefficient_text(self.coefficient, self.log2_coefficient, self.unit)
            found.append((1.0, text, self.growth))
        kept = [part for part in found if part[0]] or found[:1]
        # A positive part comes first, so that the formula does not begin with a sign.
        return sorted(kept, key=lambda part: part[0] < 0) if kept[0][0] < 0 else kept

    def __str__(self) -> str:
        def term(quantity: str, growth: Growth) -> str:
            return quantity if growth.is_constant else f"{quantity} * {growth}"

        return _sum([(sign, term(quantity, growth)) for sign, quantity, growth in self._parts()], " + ", " - ")

    def to_sympy(self) -> Any:
        """Return a sympy expression, in `unit`."""
        found = Growth().to_sympy() * self.constant
        if self.lower is not None:
            found = found + self.lower_coefficient * self.lower.to_sympy()
        if self.growth.is_constant:
            return found
        return found + self.coefficient * self.growth.to_sympy()

    def to_latex(self) -> str:
        """Return LaTeX with prefixed units, for example ``8856\\,\\mathrm{B} + 8\\,\\mathrm{B} \\cdot p``."""

        def term(quantity: str, growth: Growth) -> str:
            shown = latex_of(quantity)
            return shown if growth.is_constant else f"{shown} \\cdot {growth.to_latex()}"

        return _sum([(sign, term(quantity, growth)) for sign, quantity, growth in self._parts()], " + ", " - ")

    def to_mathml(self) -> str:
        """Return presentation MathML without the enclosing ``<math>``."""

        def term(quantity: str, growth: Growth) -> str:
            shown = mathml_of(quantity)
            return shown if growth.is_constant else f"{shown}<mo>&#x22C5;</mo>{growth.to_mathml()}"

        parts = [(sign, term(quantity, growth)) for sign, quantity, growth in self._parts()]
        return f"<mrow>{_sum(parts, '<mo>+</mo>', '<mo>-</mo>')}</mrow>"

    def __repr__(self) -> str:
        return f"Model({str(self)!r})"

    def _repr_latex_(self) -> str:
        return f"${self.to_latex()}$"

    def _repr_html_(self) -> str:
        return f"<math>{self.to_mathml()}</math>"


def _log2_size(value: float) -> float:
    return math.log2(abs(value)) if value else -math.inf


def log2_of_sum(parts: Sequence[tuple[bool, Floats]]) -> Floats:
    """Return log2 of a sum, which neither the sum nor a term of it overflows; minus infinity where it is not positive.

    `parts`: whether each term is subtracted, and log2 of its size.
    """
    added = np.asarray(np.logaddexp2.reduce([size for is_subtracted, size in parts if not is_subtracted], axis=0))
    if not any(is_subtracted for is_subtracted, _ in parts):
        return added
    subtracted = np.logaddexp2.reduce([size for is_subtracted, size in parts if is_subtracted], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = added + np.log2(-np.expm1((subtracted - added) * math.log(2)))
    return np.asarray(np.where(added > subtracted, rest, -np.inf))


def _sum(parts: Sequence[tuple[float, str]], plus: str, minus: str) -> str:
    """Return the parts with the sign of each before it; none before the first."""
    first, *others = parts
    return first[1] + "".join((minus if sign < 0 else plus) + text for sign, text in others)


def _quantity(value: float, unit: str) -> str:
    """Return `value` with a prefix where one exists, else with an exponent."""
    if value and not _SMALLEST <= abs(value) < _LARGEST:
        return f"{value:.3g} {unit}".strip()
    return format_quantity(value, unit)


def coefficient_text(value: float, log2_value: float, unit: str) -> str:
    """Return a coefficient with its unit; as a power of two where it is too small or too large for a float."""
    return _quantity(value, unit) if 0 < value < math.inf else f"2^({log2_value:.0f}) {unit}".strip()


def latex_of(shown: str) -> str:
    """Return LaTeX of a quantity, a number and its unit."""
    number, _, prefixed = shown.partition(" ")
    mantissa, e, exponent = number.partition("e")
    if e:
        number = f"{mantissa} \\cdot 10^{{{int(exponent)}}}"
    number = re.sub(r"\((-?\d+)\)", r"{\1}", number)
    return f"{number}\\,\\mathrm{{{prefixed}}}" if prefixed else number


def mathml_of(shown: str) -> str:
    """Return MathML of a quantity, a number and its unit."""
    number, _, prefixed = shown.partition(" ")
    written = f"<mn>{escape(number)}</mn>"
    return f"{written}<mspace width='0.2em'/><mtext>{escape(prefixed)}</mtext>" if prefixed else written
