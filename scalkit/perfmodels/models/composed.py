"""Models made of models: sums, multiples, products with plain numbers, and formulas in place of parameters."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Literal

import numpy as np

from scalkit.arrays import Floats
from scalkit.errors import UsageError
from scalkit.fit.several.model import GrowthSum
from scalkit.perfmodels.formulas.quantities import PARAMETER_UNITS, Dimension, Range, parse_quantity
from scalkit.perfmodels.formulas.text import dimension_of, evaluate, parse_formula, positive
from scalkit.perfmodels.models.exact import ExactModel, MadeOfModels, names_in, ordered, with_processes
from scalkit.perfmodels.models.model import Kind, Legend, Outside, PerformanceModel, merged, over_bounds, pair_of


@dataclass(frozen=True, repr=False, eq=False)
class Composite(MadeOfModels):
    """A sum of multiples of models, as ``2 * alltoall + fft`` makes it; it holds where all of them do.

    Attributes
    ----------
    terms : tuple of (float, PerformanceModel)
        Positive coefficients.
    """

    terms: tuple[tuple[float, PerformanceModel], ...]
    name: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        units = {model.unit for _, model in self.terms}
        if len(units) > 1:
            first, other = (next(m for _, m in self.terms if m.unit == unit) for unit in sorted(units)[:2])
            raise UsageError(f"'{first.name}' is in {first.unit}, '{other.name}' in {other.unit}; add models of one unit.")
        shown = " + ".join(model.name if c == 1 else f"{c:g} * ({model.name})" for c, model in self.terms)
        self._settle(shown, self.sources)
        self.valid  # noqa: B018 - models that never hold together shall fail here

    @property
    def parts(self) -> tuple[PerformanceModel, ...]:
        """The models that are added up."""
        return tuple(model for _, model in self.terms)

    @property
    def kind(self) -> Kind:
        """That of the part which says least; a growth beside exact terms makes a dominant-term model."""
        kinds = {model.kind for model in self.parts}
        return "dominant term" if "asymptotic" in kinds and len(kinds) > 1 else super().kind

    def inner_bounds(self, at: Mapping[str, Floats], outside: Outside) -> tuple[Floats, Floats]:
        """Return the sums of the bounds."""
        low, high = np.zeros(()), np.zeros(())
        for coefficient, model in self.terms:
            own = model.own_bounds(at, outside)
            low, high = low + coefficient * own[0], high + coefficient * own[1]
        return low, high

    def symbolic(self) -> tuple[Any, Legend]:
        """Return the sum, and the constants of all parts."""
        import sympy

        factors = [sympy.Integer(int(c)) if float(c).is_integer() else sympy.Float(c) for c, _ in self.terms]
        return over_bounds(self.parts, lambda found: sympy.Add(*(f * one for f, one in zip(factors, found, strict=True))))


@dataclass(frozen=True, repr=False, eq=False)
class Product(MadeOfModels):
    """A model times a model of a plain number, such as a congestion factor.

    Attributes
    ----------
    left, right : PerformanceModel
        At least one of them without a unit; both exact or bounded.
    """

    left: PerformanceModel
    right: PerformanceModel
    name: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if self.left.unit != "1" and self.right.unit != "1":
            raise UsageError(
                f"'{self.left.name}' in {self.left.unit} times '{self.right.name}' in {self.right.unit} is no quantity of a "
                "model; one of them must be a plain number."
            )
        self._settle(f"({self.left.name}) * ({self.right.name})", self.sources)

    @property
    def parts(self) -> tuple[PerformanceModel, ...]:
        """Both factors."""
        return self.left, self.right

    @property
    def unit(self) -> str:
        """Unit of its values."""
        return self.left.unit if self.right.unit == "1" else self.right.unit

    @property
    def growth_sum(self) -> GrowthSum:
        """Product of the growths."""
        return GrowthSum.of(a * b for a in self.left.growth_sum.terms for b in self.right.growth_sum.terms)

    def inner_bounds(self, at: Mapping[str, Floats], outside: Outside) -> tuple[Floats, Floats]:
        """Return the products of the bounds."""
        sides = [model.own_bounds(at, outside) for model in self.parts]
        return sides[0][0] * sides[1][0], sides[0][1] * sides[1][1]

    def symbolic(self) -> tuple[Any, Legend]:
        """Return the product, and the constants of both."""
        return over_bounds(self.parts, math.prod)


@dataclass(frozen=True, repr=False, eq=False)
class Substituted(MadeOfModels):
    """A model with formulas in place of some of its parameters; see `PerformanceModel.of`.

    Attributes
    ----------
    model : PerformanceModel
    inner : mapping from parameter of `model` to ExactModel
    whole : bool
        Whether the formulas must give whole numbers.
    """

    model: PerformanceModel
    inner: Mapping[str, ExactModel]
    name: str = ""
    source: str = ""
    valid: Mapping[str, Range] = field(default_factory=dict)
    whole: bool = False

    def __post_init__(self) -> None:
        shown = ", ".join(f"{name} = {one.formula}" for name, one in self.inner.items())
        kept = {name: limits for name, limits in self.model.valid.items() if name not in self.inner}
        valid = with_processes({**kept, **self.valid}, self.parameters)
        self._settle(f"{self.model.name} at {shown}", self.model.source, valid=valid)

    @property
    def parts(self) -> tuple[PerformanceModel, ...]:
        """The model."""
        return (self.model,)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of what it depends on now."""
        kept = {name for name in self.model.parameters if name not in self.inner}
        return ordered(kept | {name for one in self.inner.values() for name in one.parameters})

    @property
    def growth_sum(self) -> GrowthSum:
        """Growth of the model with the formulas in it."""
        return PerformanceModel.growth_sum.fget(self)  # type: ignore[attr-defined, no-any-return]

    def inner_bounds(self, at: Mapping[str, Floats], outside: Outside) -> tuple[Floats, Floats]:
        """Return the bounds of the model at the values of the formulas."""
        values = {name: value for name, value in at.items() if name in self.model.parameters and name not in self.inner}
        for name, one in self.inner.items():
            value = one.own_bounds(at, outside)[0]
            values[name] = self._whole(one, value, outside) if self.whole else value
        shape = np.broadcast_shapes(*(value.shape for value in at.values()))
        low, high = self.model.checked_bounds(values, outside)
        return np.broadcast_to(low, shape), np.broadcast_to(high, shape)

    def _whole(self, inner: ExactModel, value: Floats, outside: Outside) -> Floats:
        broken = value != np.floor(value)
        if outside == "error" and broken.any():
            raise UsageError(
                f"'{self.name}' has {inner.formula} = {value[broken].flat[0]:g}; it must be a whole number, or say outside='nan'."
            )
        return np.where(broken, np.nan, value)

    def symbolic(self) -> tuple[Any, Legend]:
        """Return the model's expression with the formulas in it, and all constants."""
        (found, *formulas), legend = merged((self.model, *self.inner.values()))
        pairs = {positive(name): one for name, one in zip(self.inner, formulas, strict=True)}
        return found.subs(pairs, simultaneous=True), legend


def added(model: PerformanceModel, other: object) -> Composite:
    """Return the sum of a model and another, or a quantity such as ``"5 us"``; zero adds nothing, as `sum` needs it."""
    if isinstance(other, PerformanceModel):
        return Composite((*_terms(model), *_terms(other)))
    if isinstance(other, int | float) and other == 0:
        return Composite(_terms(model))
    value, unit = parse_quantity(other, "the summand")
    if unit != model.unit or value < 0:
        raise UsageError(
            f"cannot add {other!r} to '{model.name}' in {model.unit}; add a model or a positive quantity in that unit."
        )
    fixed = ExactModel("c", {"c": other}, name=str(other))
    return Composite((*_terms(model), (1.0, fixed)))


def multiplied(model: PerformanceModel, other: object) -> Composite | Product:
    """Return a multiple of a model by a positive number, or its product with a model of a plain number."""
    if isinstance(other, PerformanceModel):
        return Product(model, other)
    if isinstance(other, bool) or not isinstance(other, int | float | np.number) or not (0 < float(other) < math.inf):
        raise UsageError(f"cannot multiply '{model.name}' by {other!r:.40}; multiply by a positive number or a model of one.")
    return Composite(tuple((float(other) * c, one) for c, one in _terms(model)))


def divided(model: PerformanceModel, other: object) -> Composite | Product:
    """Return a model over a positive number."""
    if isinstance(other, bool) or not isinstance(other, int | float | np.number) or not (0 < float(other) < math.inf):
        raise UsageError(f"cannot divide '{model.name}' by {other!r:.40}; divide by a positive number.")
    return multiplied(model, 1 / float(other))


def _terms(model: PerformanceModel) -> tuple[tuple[float, PerformanceModel], ...]:
    return model.terms if isinstance(model, Composite) else ((1.0, model),)


def substituted(model: PerformanceModel, formulas: Mapping[str, str], constants: Mapping[str, object]) -> Substituted:
    """Return a model with formulas in place of parameters; `PerformanceModel.of` is what users call."""
    inner = {}
    for name, formula in formulas.items():
        if name not in model.parameters:
            raise UsageError(f"'{model.name}' does not depend on {name!r}; it depends on {', '.join(model.parameters)}.")
        used = {key: value for key, value in constants.items() if key in names_in(formula)}
        inner[name] = ExactModel(formula, used)
        wanted = PARAMETER_UNITS.get(name, "1")
        if inner[name].unit != ("B" if wanted == "B" else "1"):
            raise UsageError(f"{name} = {formula!r:.60} is in {inner[name].unit}; it must be in {wanted}.")
    if not inner:
        raise UsageError(f"name a parameter of '{model.name}' and a formula for it, as in of(P='sqrt(P)').")
    return Substituted(model, inner)


_RELATION = re.compile(r"([^<>=]+)(<=|>=)([^<>=]+)")


@dataclass(frozen=True, repr=False, eq=False)
class Joined(MadeOfModels):
    """The largest of models of one unit, as of a roofline, or the first less the second; it holds where all of them do."""

    how: Literal["max", "difference"]
    models: tuple[PerformanceModel, ...]
    name: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        units = {model.unit for model in self.models}
        if len(units) != 1 or len(self.models) < 2 or any(model.kind == "asymptotic" for model in self.models):
            shown = ", ".join(f"'{model.name}' in {model.unit}" for model in self.models)
            raise UsageError(f"cannot join {shown}; two models of one unit that have values or bounds are needed.")
        names = [model.name for model in self.models]
        shown = f"max({', '.join(names)})" if self.how == "max" else f"{names[0]} - ({names[1]})"
        self._settle(shown, self.sources)
        self.valid  # noqa: B018 - models that never hold together shall fail here

    @property
    def parts(self) -> tuple[PerformanceModel, ...]:
        """The models that are joined."""
        return self.models

    @property
    def growth_sum(self) -> GrowthSum:
        """That of all of them; what is subtracted does not count."""
        counted = self.models if self.how == "max" else self.models[:1]
        return GrowthSum.of(term for model in counted for term in model.growth_sum.terms)

    def inner_bounds(self, at: Mapping[str, Floats], outside: Outside) -> tuple[Floats, Floats]:
        """Return the largest bounds, or the lower less the upper one and the upper less the lower one."""
        own = [model.own_bounds(at, outside) for model in self.models]
        if self.how == "max":
            return reduce(np.maximum, (one[0] for one in own)), reduce(np.maximum, (one[1] for one in own))
        return own[0][0] - own[1][1], own[0][1] - own[1][0]

    def symbolic(self) -> tuple[Any, Legend]:
        """Return the maximum or the difference, and the constants of all."""
        import sympy

        if self.how == "max":
            return over_bounds(self.models, lambda found: sympy.Max(*found))
        found, legend = merged(self.models)
        (low, high), (less, more) = map(pair_of, found)
        is_pair = any(isinstance(one, sympy.Tuple) for one in found)
        return sympy.Tuple(low - more, high - less) if is_pair else low - more, legend


@dataclass(frozen=True, repr=False, eq=False)
class Conditioned(MadeOfModels):
    """A model that holds where conditions between its parameters do, such as ``P <= N``.

    `conditions`: two formulas of the parameters with ``<=`` or ``>=`` between them.
    """

    model: PerformanceModel
    conditions: tuple[str, ...]
    name: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        self._settle(self.model.name, self.model.source, _differences=tuple(map(self._difference, self.conditions)))

    def _difference(self, condition: str) -> Any:
        """Return what must not be negative."""
        found = _RELATION.fullmatch(condition) if isinstance(condition, str) else None
        if found is None:
            raise UsageError(f"the condition is {condition!r:.60}; write two formulas with <= or >= between, as in 'P <= N'.")
        left, right = (parse_formula(found[k].strip(), frozenset(names_in(found[k]))) for k in (1, 3))
        known = {name: Dimension.of(PARAMETER_UNITS.get(name, "1")) for name in self.parameters}
        if unknown := [name for name in names_in(f"({found[1]}) - ({found[3]})") if name not in known]:
            listed = ", ".join(self.parameters)
            raise UsageError(f"the condition {condition!r:.60} names {unknown[0]!r}; '{self.model.name}' depends on {listed}.")
        difference = right - left if found[2] == "<=" else left - right
        dimension_of(difference, known, condition)
        return difference

    @property
    def parts(self) -> tuple[PerformanceModel, ...]:
        """The model."""
        return (self.model,)

    def inner_bounds(self, at: Mapping[str, Floats], outside: Outside) -> tuple[Floats, Floats]:
        """Return the bounds of the model; where a condition does not hold, an error or NaN."""
        shape = np.broadcast_shapes(*(value.shape for value in at.values()))
        broken = np.zeros(shape, dtype=bool)
        for condition, difference in zip(self.conditions, self.__dict__["_differences"], strict=True):
            fails = np.broadcast_to(~(evaluate(difference, at) >= 0), shape)
            if outside == "error" and fails.any():
                where = ", ".join(f"{n} = {np.broadcast_to(v, shape)[fails].flat[0]:g}" for n, v in at.items())
                raise UsageError(f"'{self.name}' holds for {condition}, got {where}; stay inside, or say outside='nan'.")
            broken = broken | fails
        low, high = self.model.checked_bounds(at, outside)
        return np.where(broken, np.nan, low), np.where(broken, np.nan, high)

    def symbolic(self) -> tuple[Any, Legend]:
        """Return that of the model."""
        return self.model.symbolic()


def largest(*models: PerformanceModel) -> Joined:
    """Return the largest of several models of one unit, for example the roofline of what computing and memory take.

    Raises
    ------
    UsageError
        If there are fewer than two, their units differ, or one is only a growth.
    """
    return Joined("max", models)


def roofline(work: object, traffic: object, peak: object, bandwidth: object, per: str = "N") -> PerformanceModel:
    """Return the time of computing ``work*N`` operations that move ``traffic*N`` bytes: the larger of both.

    Parameters
    ----------
    work, traffic : quantity
        Of one element, such as ``"8 flop"`` and ``"16 B"``.
    peak, bandwidth : quantity
        Such as ``"10 Gflop/s"`` and ``"20 GB/s"``.
    per : str
        A formula of the number of elements, such as ``"N^3/P"``.

    References
    ----------
    Williams, Waterman, Patterson 2009 (docs/references.md).
    """
    from scalkit.perfmodels.models.exact import ExactModel

    computing = ExactModel(f"work*({per})/peak", {"work": work, "peak": peak}, name="computing")
    memory = ExactModel(f"traffic*({per})/bandwidth", {"traffic": traffic, "bandwidth": bandwidth}, name="memory")
    return largest(computing, memory)
