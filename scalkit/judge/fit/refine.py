"""Refines a model with lmfit: standard errors, free exponents, correlations, confidence bands, the report as text.

The search of `scalkit.judge.fit` chooses the growths; this is for the model that won, where a person wants to know how well its
numbers are determined.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import DataError, UsageError
from scalkit.growth import Growth
from scalkit.growth.sums import GrowthSum
from scalkit.judge.fit.model import Model, at_points
from scalkit.support.arrays import Floats

if TYPE_CHECKING:
    from lmfit.model import ModelResult

Weights = Literal["relative", "none"]
_TOLERANCE = 1e-14
_LARGEST = 1000.0
"""Binary logarithm of a growth from which on squares overflow."""


def refine(
    x: ArrayLike | Mapping[str, ArrayLike],
    y: ArrayLike,
    model_or_growth: Model | Growth | GrowthSum | str,
    *,
    free_exponents: bool = False,
    weights: Weights = "relative",
    nonnegative: bool = True,
    constant: bool = True,
) -> ModelResult:
    """Return lmfit's result for the terms of a model, by least squares with exact derivatives.

    Its parameters are ``constant``, ``coefficient`` (``coefficient_1``, ... of several terms) and, where free, ``exponent``
    (``exponent_p``, ... of several parameters). ``eval`` and ``eval_uncertainty`` take the scaling parameters by name.

    Parameters
    ----------
    x : array_like of shape (points,), or of shape (points, parameters), or mapping from parameter to values
        Columns are in the order of the model's parameters, of a growth in alphabetical order.
    y : array_like of shape (points,)
        Finite; positive with relative weights.
    model_or_growth : Model, Growth, GrowthSum or str
        The terms.
    free_exponents : bool
        Whether the power of each parameter is fitted too; exponents of logarithms and of 2^x stay.
    weights : {"relative", "none"}
        Whether relative or absolute residuals count.
    nonnegative : bool
        Whether the constant and the coefficients must not be negative: those that would be are 0 and do not vary.
    constant : bool
        Whether there is a constant.

    Raises
    ------
    DataError
        If shapes do not agree, values cannot be fitted, or there are not more points than values to fit.
    UsageError
        If the weights are unknown, or free exponents find no power to free.
    """
    if weights not in get_args(Weights):
        raise UsageError(f"the weights {weights!r} are unknown; choose one of {', '.join(get_args(Weights))}.")
    growths, parameters = _terms(model_or_growth, x)
    formula = _Formula(growths, parameters, constant or not growths, free_exponents)
    at = at_points(x, parameters)
    values = _checked(at, y, weights)
    formula.require_range(at)
    names = (*formula.linear, *formula.powers)
    if len(values) <= len(names):
        raise DataError(
            f"fitting {len(names)} values ({', '.join(names)}) needs more than {len(values)} points; "
            "measure more or keep the exponents fixed."
        )
    return _fitted(formula, at, values, values if weights == "relative" else np.ones_like(values), nonnegative)


def _terms(given: Model | Growth | GrowthSum | str, x: object) -> tuple[list[Growth], tuple[str, ...]]:
    """Return the growths that are not constant, and the parameters in the order of the columns."""
    if isinstance(given, Model):
        growths, parameters = [term.growth for term in given.terms], given.parameters
    else:
        whole = GrowthSum.parse(given)
        growths, parameters = list(whole.terms), tuple(x) if isinstance(x, Mapping) else whole.parameters or ("p",)
    return [growth for growth in growths if not growth.is_constant], parameters


def _checked(at: dict[str, Floats], y: ArrayLike, weights: Weights) -> Floats:
    values = np.asarray(y, dtype=np.float64)
    shape = np.broadcast_shapes(*(value.shape for value in at.values()))
    if values.ndim != 1 or values.shape != shape:
        raise DataError(f"the points have shape {shape} and y {values.shape}; one value at each point is needed.")
    for index, value in enumerate(values):
        place = ", ".join(f"{name} = {float(x[index]):g}" for name, x in at.items())
        if not math.isfinite(value) or (weights == "relative" and value <= 0):
            needed = "positive and finite; drop that point or set weights='none'" if weights == "relative" else "finite"
            raise DataError(f"the value at {place} is {value:g}; it must be {needed}.")
    return values


class _Formula:
    """A constant and coefficients times growths, as a function of values by name.

    Attributes
    ----------
    linear : dict from str to Growth
        Name of the constant, which is the growth 1, and of each coefficient.
    powers : dict from str to str
        Name of each free power, and its parameter; shared by all growths in which that has a power.
    """

    def __init__(self, growths: Sequence[Growth], parameters: Sequence[str], constant: bool, free: bool) -> None:
        self.linear = {"constant": Growth()} if constant else {}
        for k, growth in enumerate(growths, 1):
            self.linear["coefficient" if len(growths) == 1 else f"coefficient_{k}"] = growth
        self.powers: dict[str, str] = {}
        self.start: dict[str, float] = {}
        for name in parameters if free else ():
            powers = {growth.power(name) for growth in growths if growth.power(name)}
            if len(powers) > 1:
                shown = ", ".join(map(str, sorted(powers)))
                raise UsageError(f"'{name}' has several powers ({shown}), so its exponent cannot be free; leave it fixed.")
            for power in powers:
                exponent = "exponent" if len(parameters) == 1 else f"exponent_{name}"
                self.powers[exponent], self.start[exponent] = name, float(power)
        if free and not self.powers:
            shown = " + ".join(map(str, growths)) or "1"
            raise UsageError(f"'{shown}' has no power of a parameter to free; leave the exponents fixed.")

    def require_range(self, at: Mapping[str, Floats]) -> None:
        """Raise a DataError if a growth does not exist at a point or is beyond the range of floating-point numbers."""
        for growth in self.linear.values():
            row = growth.log2_value(at)
            if np.isnan(row).any() or (row > _LARGEST).any():
                raise DataError(f"'{growth}' is not a number or above 2^{_LARGEST:.0f} at a point; leave that point out.")

    def columns(self, given: Mapping[str, Any]) -> dict[str, Floats]:
        """Return the values of the constant and of each growth, by the name of its coefficient."""
        found = {}
        for name, growth in self.linear.items():
            log2 = growth.log2_value(given)
            for exponent, parameter in self.powers.items():
                if power := float(growth.power(parameter)):
                    log2 = log2 + (given[exponent] - power) * np.log2(given[parameter])
            with np.errstate(over="ignore"):
                found[name] = np.exp2(log2)
        return found

    def value(self, given: Mapping[str, Any]) -> Floats:
        """Return the formula from all values and the points."""
        return np.asarray(sum(given[name] * column for name, column in self.columns(given).items()))

    def slopes(self, given: Mapping[str, Any]) -> dict[str, Floats]:
        """Return the derivatives by each value."""
        columns = self.columns(given)
        found = dict(columns)
        for exponent, parameter in self.powers.items():
            having = (given[name] * columns[name] for name, growth in self.linear.items() if growth.power(parameter))
            found[exponent] = sum(having) * np.log(given[parameter])
        return found

    def __str__(self) -> str:
        parts = []
        for name, growth in self.linear.items():
            shown, rest = [name], growth
            for exponent, parameter in self.powers.items():
                if power := growth.power(parameter):
                    shown.append(f"{parameter}^{exponent}")
                    rest = rest / Growth.of(parameter, power=power)
            parts.append(" * ".join([*shown, *([] if rest.is_constant else [str(rest)])]))
        return " + ".join(parts)


def _fitted(formula: _Formula, at: dict[str, Floats], y: Floats, error: Floats, nonnegative: bool) -> ModelResult:
    """Return lmfit's result; of coefficients that would be negative the one that matters most is fixed, and so on."""
    import lmfit

    # Of lmfit's residuals: data less model.
    def slopes(parameters: lmfit.Parameters, _: Floats, weights: Floats, **points: Floats) -> Floats:
        rows = formula.slopes({**parameters.valuesdict(), **points})
        return np.array([-rows[name] * weights for name, each in parameters.items() if each.vary])

    columns = formula.columns({**formula.start, **at})
    matrix = np.array([np.broadcast_to(column, y.shape) for column in columns.values()]) / error
    size = np.sqrt((matrix**2).sum(axis=1))
    linear = np.linalg.lstsq((matrix / size[:, None]).T, y / error, rcond=None)[0] / size

    def value(**given: Any) -> Floats:
        return formula.value(given)

    names = (*at, *formula.linear, *formula.powers)
    # lmfit takes the names of values and of points from the signature.
    value.__signature__ = Signature([Parameter(name, Parameter.KEYWORD_ONLY) for name in names])  # type: ignore[attr-defined]
    model = lmfit.Model(value, independent_vars=list(at), name=str(formula))
    # Without limits: lmfit's transformation for them would lose the digits of small coefficients.
    start = model.make_params(**dict(zip(formula.linear, linear.tolist(), strict=True)), **formula.start)
    options = {"Dfun": slopes, "col_deriv": True, "ftol": _TOLERANCE, "xtol": _TOLERANCE, "gtol": 0.0}
    while True:
        if not any(each.vary for each in start.values()):
            raise DataError(f"every value of '{formula}' would be negative; the data do not follow this model.")
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                result = model.fit(y, start, weights=1 / error, fit_kws=options, max_nfev=20000, **at)
        except ValueError as failure:  # a power that grows without end
            raise DataError(f"'{formula}' cannot be fitted to these values; leave the exponents fixed.") from failure
        share = {name: float(result.params[name].value * size[k]) for k, name in enumerate(formula.linear)}
        lowest = min(share, key=lambda name: share[name])
        if not nonnegative or share[lowest] >= 0:
            return result
        start[lowest].set(value=0.0, vary=False)
