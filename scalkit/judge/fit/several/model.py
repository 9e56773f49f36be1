"""A model of several parameters: a sum of coefficients times growths, as it came out of a fit."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scalkit.growth import Growth
from scalkit.growth.sums import GrowthSum
from scalkit.judge.fit.model import Curve, at_points, coefficient_text, latex_of, log2_of_sum, mathml_of
from scalkit.support.arrays import EqualIfMissingAlike, Floats


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

    @property
    def coefficient(self) -> float:
        """The coefficient; 0 or infinite outside the range of floating-point numbers."""
        size = float(np.exp2(self.log2_coefficient)) if self.log2_coefficient < 1024 else math.inf
        return -size if self.is_subtracted else size

    def __call__(self, x: Mapping[str, ArrayLike]) -> Floats:
        """Return the value of the term at `x`."""
        with np.errstate(over="ignore"):
            size = np.exp2(self.log2_coefficient + self.growth.log2_value(x))
        return np.asarray(-size if self.is_subtracted else size)


@dataclass(frozen=True, eq=False)
class SeveralModel(EqualIfMissingAlike):
    """A sum of terms over several parameters, in `unit`.

    Attributes
    ----------
    parameters : tuple of str
        In the order of the columns of the points.
    terms : tuple of Term
        The constant first, if there is one.
    rss : float
        Residual sum of squares, relative to the measured values, dimensionless.
    weight : float
        Posterior probability of these terms.
    adjusted_r2 : float
        Adjusted coefficient of determination of the formula; NaN for a constant model.
    average : Curve, optional
        What gives the values in place of the formula: the average over everything that the
        measurements leave possible, of which the formula is the most probable part.
    """

    parameters: tuple[str, ...]
    terms: tuple[Term, ...]
    unit: str
    rss: float
    weight: float = math.nan
    adjusted_r2: float = math.nan
    average: Curve | None = field(default=None, repr=False, compare=False)

    @property
    def constant(self) -> float:
        """The part that depends on no parameter."""
        return sum(term.coefficient for term in self.terms if term.growth.is_constant)

    @property
    def growth(self) -> GrowthSum:
        """The sum of the terms that no other one outgrows."""
        return GrowthSum.of(term.growth for term in self.terms)

    def leading(self, parameter: str) -> Growth:
        """Return the growth along one parameter where the others are fixed; 1 if it has no effect."""
        return self.growth.leading(parameter)

    def __call__(self, points: ArrayLike | Mapping[str, ArrayLike] | None = None, /, **values: ArrayLike) -> Floats:
        """Return the model, in `unit`, at points of shape (..., parameters), or at values by parameter: ``model(p=64, S=8)``.

        `**values`: of each parameter, in place of `points`.
        Raises DataError if a parameter is missing or unknown, or the last axis does not have one entry for each.
        """
        x = at_points(values if points is None else points, self.parameters)
        shape = np.broadcast_shapes(*(np.shape(value) for value in x.values()))
        if self.average is None:
            return self.by_formula(x)
        at = np.stack([np.broadcast_to(value, shape).ravel() for value in x.values()], axis=1)
        return self.average.predict(at).reshape(shape)

    def by_formula(self, x: Mapping[str, Floats]) -> Floats:
        """Return the values of the formula, without regard to `average`."""
        shape = np.broadcast_shapes(*(np.shape(value) for value in x.values()))
        total = sum((term(x) for term in self.terms), np.zeros(shape))
        return np.asarray(np.maximum(total, 0.0))

    def log2_value(self, x: Mapping[str, ArrayLike]) -> Floats:
        """Return log2 of the formula at `x`, a mapping from parameter to values, without regard to `average`."""
        sizes = [(term.is_subtracted, term.log2_coefficient + term.growth.log2_value(x)) for term in self.terms]
        shape = np.broadcast_shapes(*(np.shape(value) for value in x.values()))
        return log2_of_sum([(is_subtracted, np.broadcast_to(size, shape)) for is_subtracted, size in sizes])

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

    def __str__(self) -> str:
        return _joined([(_shown(term, self.unit), term.is_subtracted) for term in self.terms])

    def to_latex(self) -> str:
        """Return LaTeX, for example ``12\\,\\mathrm{us} + 3\\,\\mathrm{ns} \\cdot p S``."""
        return _joined([(_latex(term, self.unit), term.is_subtracted) for term in self.terms])

    def to_mathml(self) -> str:
        """Return presentation MathML without the enclosing ``<math>``."""
        signs = {False: "<mo>+</mo>", True: "<mo>&#x2212;</mo>"}
        parts = [(_mathml(term, self.unit), term.is_subtracted) for term in self.terms]
        return f"<mrow>{_joined(parts, signs)}</mrow>"

    def to_sympy(self) -> Any:
        """Return a sympy expression, in `unit`."""
        products = [term.growth.to_sympy() * term.coefficient for term in self.terms]
        return sum(products[1:], products[0])

    def __repr__(self) -> str:
        return f"SeveralModel({str(self)!r})"

    def _repr_latex_(self) -> str:
        return f"${self.to_latex()}$"

    def _repr_html_(self) -> str:
        return f"<math>{self.to_mathml()}</math>"


def _joined(parts: Sequence[tuple[str, bool]], signs: Mapping[bool, str] = MappingProxyType({False: " + ", True: " - "})) -> str:
    """Return the texts of terms with plus or minus between them; a minus before the first one stays."""
    first, is_subtracted = parts[0]
    text = f"{signs[True].strip()}{first}" if is_subtracted else first
    return text + "".join(signs[is_subtracted] + part for part, is_subtracted in parts[1:])


def _written(term: Term, unit: str) -> str:
    return coefficient_text(abs(term.coefficient), term.log2_coefficient, unit)


def _shown(term: Term, unit: str) -> str:
    quantity = _written(term, unit)
    return quantity if term.growth.is_constant else f"{quantity} * {term.growth}"


def _latex(term: Term, unit: str) -> str:
    quantity = latex_of(_written(term, unit))
    return quantity if term.growth.is_constant else f"{quantity} \\cdot {term.growth.to_latex()}"


def _mathml(term: Term, unit: str) -> str:
    quantity = mathml_of(_written(term, unit))
    return quantity if term.growth.is_constant else f"{quantity}<mo>&#x22C5;</mo>{term.growth.to_mathml()}"
