"""Refines a model with lmfit: standard errors, limits, free exponents, correlations, confidence bands, the report as text.

The search of `scalkit.judge.fit` chooses the growths; this is for the model that won, where a person wants to know how well its
numbers are determined.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from scalkit.errors import DataError, UsageError
from scalkit.growth import Growth
from scalkit.growth.sums import GrowthSum
from scalkit.judge.fit.model import Model
from scalkit.judge.fit.several.formula import Formula
from scalkit.judge.fit.several.model import SeveralModel
from scalkit.support.arrays import Floats
from scalkit.support.markup import block, details, paragraph, table

if TYPE_CHECKING:
    import lmfit

Weights = Literal["relative", "none"]
_AT_LIMIT = 1e-9
_TOLERANCE = 1e-14


@dataclass(frozen=True, eq=False)
class Refined:
    """A model whose numbers lmfit has fitted.

    `names`: ``constant``, ``coefficient`` (``coefficient_1``, ... of several terms) and, where free, ``exponent`` of
    the parameter (``exponent_p``, ... of several parameters).
    `values`, `errors`: best value and standard error; the error is NaN for a value that stands at its limit.
    `limits`: what was allowed.
    `at_limit`: names whose best value is the lower limit; they count as fixed.
    `covariance` of shape (names, names): NaN in rows and columns of values at their limits.
    `residual_deviation`: of the weighted residuals: a share of the value with relative weights, else in the unit of the
    values.
    `n_free`: degrees of freedom: points less values that were fitted.
    `r2`: coefficient of determination of the weighted fit; about zero where there is no constant.
    `report`: lmfit's fit report.
    """

    formula: Formula = field(repr=False)
    values: Mapping[str, float]
    errors: Mapping[str, float]
    limits: Mapping[str, tuple[float, float]]
    at_limit: tuple[str, ...]
    covariance: Floats = field(repr=False)
    residual_deviation: float
    n_free: int
    r2: float
    weights: Weights
    report: str = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all values, in the order of the covariance."""
        return self.formula.names

    @property
    def correlations(self) -> dict[tuple[str, str], float]:
        """Correlation of each pair of fitted values; NaN where one of them is at its limit."""
        deviation = np.sqrt(np.diag(self.covariance))
        return {
            (a, b): float(self.covariance[i, j] / (deviation[i] * deviation[j]))
            for i, a in enumerate(self.names)
            for j, b in enumerate(self.names)
            if i < j
        }

    def interval(self, name: str, level: float = 0.9) -> tuple[float, float]:
        """Return the confidence interval of one value, from its standard error and Student's t distribution."""
        if name not in self.values:
            raise UsageError(f"there is no value '{name}'; there are {', '.join(self.names)}.")
        wide = self._quantile(level) * self.errors[name]
        low, high = self.limits[name]
        return max(self.values[name] - wide, low), min(self.values[name] + wide, high)

    def __call__(self, x: ArrayLike | Mapping[str, ArrayLike]) -> Floats:
        """Return the refined model at `x`, in the unit of the values."""
        return self.formula.value(self._vector(), self.formula.at(x))

    def band(
        self, x: ArrayLike | Mapping[str, ArrayLike], level: float = 0.9, *, of: Literal["mean", "value"] = "mean"
    ) -> Floats:
        """Return the confidence band at `x`, of shape (2, *shape of x), in the unit of the values.

        `x` of shape (..., parameters).
        `level`: probability that the band holds at one point.
        `of`: the model itself, or a new measurement, which scatters around it.

        Source: Bates and Watts 1988, "Nonlinear regression analysis and its applications", section 2.3.2.
        """
        if of not in ("mean", "value"):
            raise UsageError(f"a band of {of!r} is unknown; choose 'mean' or 'value'.")
        at = self.formula.at(x)
        value = self.formula.value(self._vector(), at)
        slopes = self.formula.slopes(self._vector(), at)
        variance = np.einsum("i...,ij,j...->...", slopes, np.nan_to_num(self.covariance), slopes)
        if of == "value":
            variance = variance + (self.residual_deviation * (value if self.weights == "relative" else 1.0)) ** 2
        wide = self._quantile(level) * np.sqrt(np.maximum(variance, 0.0))
        return np.stack([value - wide, value + wide])

    def _vector(self) -> Floats:
        return np.array([self.values[name] for name in self.names])

    def _quantile(self, level: float) -> float:
        if not 0 < level < 1:
            raise UsageError(f"the level {level!r} is no probability between 0 and 1; 0.9 is usual.")
        return float(stdtrit(self.n_free, (1 + level) / 2)) if self.n_free else math.inf

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {self.values[name]:.4g} ± {self.errors[name]:.2g}" for name in self.names)
        return f"<Refined {self.formula}: {shown}>"

    def _repr_html_(self) -> str:
        rows = []
        for name in self.names:
            error = "at its limit" if name in self.at_limit else f"± {self.errors[name]:.3g}"
            rows.append((escape(name), f"{self.values[name]:.6g}", error))
        return block(
            paragraph(self.formula),
            table(("", "value", "standard error"), rows),
            details("lmfit's report", f"<pre>{escape(self.report)}</pre>"),
        )

    def __str__(self) -> str:
        rows = [f"{self.formula}"]
        for name in self.names:
            error = "at its limit" if name in self.at_limit else f"+/- {self.errors[name]:.3g}"
            rows.append(f"  {name} = {self.values[name]:.6g} {error}")
        return "\n".join(rows)


def refine(
    x: ArrayLike | Mapping[str, ArrayLike],
    y: ArrayLike,
    model_or_growth: Model | SeveralModel | Growth | GrowthSum | str,
    *,
    free_exponents: bool = False,
    weights: Weights = "relative",
    nonnegative: bool = True,
    constant: bool = True,
    start: Mapping[str, float] | None = None,
) -> Refined:
    """Return the model refined by lmfit's least squares, with exact derivatives.

    `x` (shape (points,); of several parameters (points, parameters), or a mapping from them to values): columns are in the
    order of the model's parameters, of a growth in alphabetical order.
    `y` (shape (points,)): finite; positive with relative weights.
    `model_or_growth`: the terms; a model is also the start.
    `free_exponents`: whether the power of each parameter is fitted too; exponents of logarithms and of 2^x stay.
    `weights`: whether relative or absolute residuals count.
    `nonnegative`: whether the constant and the coefficients must not be negative.
    `constant`: whether there is a constant.
    `start`: values to start from; others follow by linear least squares.
    Raises DataError if shapes do not agree, values cannot be fitted, or there are not more points than values to fit.
    Raises UsageError if the weights or a name in `start` are unknown, or free exponents find no power to free.
    """
    if weights not in get_args(Weights):
        raise UsageError(f"the weights {weights!r} are unknown; choose one of {', '.join(get_args(Weights))}.")
    formula, known = _formula(model_or_growth, x, constant, free_exponents)
    at, values = _checked(formula.at(x), y, weights)
    unknown = sorted(set(start or {}) - set(formula.names))
    if unknown:
        raise UsageError(f"there is no value '{unknown[0]}' to start from; there are {', '.join(formula.names)}.")
    if len(values) <= len(formula.names):
        raise DataError(
            f"fitting {len(formula.names)} values ({', '.join(formula.names)}) needs more than {len(values)} points; "
            "measure more or keep the exponents fixed."
        )
    error = values if weights == "relative" else np.ones_like(values)
    first = formula.start(at, values, error, {**known, **(start or {})}, nonnegative)
    fitted = _fitted(formula, at, values, error, first, nonnegative)
    return _refined(formula, fitted, values, error, weights)


def _formula(
    given: Model | SeveralModel | Growth | GrowthSum | str, x: object, constant: bool, free: bool
) -> tuple[Formula, dict[str, float]]:
    """Return the formula and the values that a model already has."""
    if isinstance(given, SeveralModel):
        products = [term for term in given.terms if not term.growth.is_constant]
        formula = Formula.of([term.growth for term in products], given.parameters, constant, free)
        known = dict(zip(formula.coefficients, (term.coefficient for term in products), strict=True))
        return formula, known | ({"constant": given.constant} if constant else {})
    if isinstance(given, Model):
        terms = [] if given.growth.is_constant else [given.growth]
        formula = Formula.of(terms, (given.parameter,), constant or not terms, free)
        known = dict.fromkeys(formula.coefficients, given.coefficient)
        return formula, known | ({"constant": given.constant} if "constant" in formula.names else {})
    growth = GrowthSum.parse(given)
    terms = [term for term in growth.terms if not term.is_constant]
    names = tuple(x) if isinstance(x, Mapping) else growth.parameters or ("p",)
    return Formula.of(terms, names, constant or not terms, free), {}


def _checked(at: dict[str, Floats], y: ArrayLike, weights: Weights) -> tuple[dict[str, Floats], Floats]:
    values = np.asarray(y, dtype=np.float64)
    shape = np.broadcast_shapes(*(value.shape for value in at.values()))
    if values.ndim != 1 or values.shape != shape:
        raise DataError(f"the points have shape {shape} and y {values.shape}; one value at each point is needed.")
    for index, value in enumerate(values):
        place = ", ".join(f"{name} = {float(x[index]):g}" for name, x in at.items())
        if not math.isfinite(value) or (weights == "relative" and value <= 0):
            needed = "positive and finite; drop that point or set weights='none'" if weights == "relative" else "finite"
            raise DataError(f"the value at {place} is {value:g}; it must be {needed}.")
    return at, values


def _fitted(
    formula: Formula, at: dict[str, Floats], y: Floats, error: Floats, first: Mapping[str, float], nonnegative: bool
) -> lmfit.minimizer.MinimizerResult:
    """Return lmfit's result; values that run into their limit are fixed there and the others fitted again."""
    import lmfit

    parameters = lmfit.Parameters()
    for name in formula.names:
        bounded = nonnegative and not name.startswith("exponent")
        parameters.add(name, value=float(first[name]), min=0.0 if bounded else -np.inf)
    terms = formula.values_of(at)

    def vector(p: lmfit.Parameters) -> Floats:
        return np.array([p[name].value for name in formula.names])

    def residual(p: lmfit.Parameters) -> Floats:
        return (formula.value(vector(p), at, terms) - y) / error

    def slopes(p: lmfit.Parameters) -> Floats:
        varied = [i for i, name in enumerate(formula.names) if p[name].vary]
        return (formula.slopes(vector(p), at, terms) / error)[varied]

    while True:
        if not any(p.vary for p in parameters.values()):
            raise DataError(f"every value of '{formula}' stands at its limit; the data do not follow this model.")
        _off_the_limits(parameters)
        with np.errstate(over="ignore", invalid="ignore"):
            result = lmfit.minimize(
                residual,
                parameters,
                method="leastsq",
                Dfun=slopes,
                col_deriv=True,
                ftol=_TOLERANCE,
                xtol=_TOLERANCE,
                gtol=0.0,
                max_nfev=20000,
            )
        size = formula.contributions(vector(result.params), terms, at)
        stuck = [n for n, p in result.params.items() if p.vary and math.isfinite(p.min) and size[n] < _AT_LIMIT]
        if not stuck:
            return result
        parameters = result.params
        for name in stuck:
            parameters[name].set(value=0.0, vary=False)


def _off_the_limits(parameters: lmfit.Parameters) -> None:
    """Move starting values off their limits, where lmfit's transformation has no slope."""
    largest = max(abs(p.value) for p in parameters.values()) or 1.0
    for p in parameters.values():
        if p.vary and p.value <= p.min:
            p.set(value=1e-3 * largest)


def _refined(formula: Formula, result: lmfit.minimizer.MinimizerResult, y: Floats, error: Floats, weights: Weights) -> Refined:
    from lmfit import fit_report

    fixed = tuple(name for name in formula.names if not result.params[name].vary)
    varied = [i for i, name in enumerate(formula.names) if name not in fixed]
    covariance = np.full((len(formula.names),) * 2, np.nan)
    if result.covar is not None:
        covariance[np.ix_(varied, varied)] = result.covar
    rss = float(result.residual @ result.residual)
    target = y / error
    inverse = 1 / error
    middle = (target @ inverse) / (inverse @ inverse) if "constant" in formula.names else 0.0
    total = float(((target - middle * inverse) ** 2).sum())
    n_free = len(y) - len(varied)
    return Refined(
        formula=formula,
        values={name: float(result.params[name].value) for name in formula.names},
        errors={name: float(np.sqrt(covariance[i, i])) for i, name in enumerate(formula.names)},
        limits={name: (float(p.min), float(p.max)) for name, p in result.params.items()},
        at_limit=fixed,
        covariance=covariance,
        residual_deviation=math.sqrt(rss / n_free) if n_free else math.nan,
        n_free=n_free,
        r2=1 - rss / total if total else math.nan,
        weights=weights,
        report=f"[[Model]]\n    {formula}\n{fit_report(result)}",
    )
