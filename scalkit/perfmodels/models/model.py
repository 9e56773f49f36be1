"""The base of all performance models: values, bounds, sums, growth, valid range, and how models are printed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from scalkit.errors import UsageError
from scalkit.growth.sums import GrowthSum
from scalkit.perfmodels.formulas.growths import growth_of, renamed
from scalkit.perfmodels.formulas.quantities import COUNTS, PARAMETER_UNITS, Range, format_value, intersection, values_in
from scalkit.perfmodels.models.shown import ShownModel, sum_of_multiples
from scalkit.support.arguments import require_kind, require_positive
from scalkit.support.arrays import Floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scalkit.growth import Growth

Kind = Literal["exact", "ranges", "bounded", "dominant term", "asymptotic"]
Outside = Literal["error", "nan"]
KINDS: tuple[Kind, ...] = ("exact", "ranges", "bounded", "dominant term", "asymptotic")
"""The hierarchy, from the most to the least that a model says."""

_DATA_NAMES = {"P": "p"}


class Bounds(NamedTuple):
    """Lower and upper bound of a model, in its unit; infinite where there is no upper bound."""

    lower: Any
    upper: Any


class PerformanceModel(ShownModel, ABC):
    """A model of a run time, or of another quantity, over the message size S, the number of processes P and the like.

    Subclasses are the levels of the hierarchy: `ExactModel`, `RangeModel`, `BoundedModel`, `AsymptoticModel`, and sums: of
    exact terms and a growth they make dominant-term models. Models are immutable.

    Attributes
    ----------
    name : str
    source : str
        Where the model comes from: a paper, a fit, a measurement.
    valid : mapping from parameter to Range
        Where it holds; parameters without a range may have any value.

    References
    ----------
    Hoefler et al. 2010, section 2 (docs/references.md).
    """

    name: str
    source: str
    valid: Mapping[str, Range]
    kind_of_class: ClassVar[Kind] = "exact"

    @property
    @abstractmethod
    def parameters(self) -> tuple[str, ...]:
        """Names of what it depends on: ``"S"`` in bytes, ``"P"`` processes, ``"R"`` queued receives, or others."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """Unit of its values, ``"s"`` for a time."""

    @property
    def kind(self) -> Kind:
        """Its level in the hierarchy."""
        return self.kind_of_class

    @property
    def is_exact(self) -> bool:
        """Whether it has one value at every setting, rather than bounds."""
        return self.kind in ("exact", "ranges")

    def _settle(self, name: str, source: str = "", **values: object) -> None:
        """Set what follows from the fields of a frozen model; the name and the source of the caller stay."""
        for key, value in (values | {"name": self.name or name, "source": self.source or source}).items():
            object.__setattr__(self, key, value)

    @abstractmethod
    def inner_bounds(self, at: Mapping[str, Floats], outside: Outside) -> tuple[Floats, Floats]:
        """Return both bounds at checked values of all parameters, within and outside of the valid ranges alike."""

    @abstractmethod
    def to_sympy(self) -> Any:
        """Return a sympy expression in positive symbols, in base units; a pair of them for bounds."""

    @property
    def growth_sum(self) -> GrowthSum:
        """Its leading terms for large parameters, in the names of the model; that of the upper bound if there are two."""
        return growth_of(self.to_sympy(), self.parameters)

    @property
    def growth(self) -> Growth | GrowthSum:
        """Its growth as `Expectation` and `validate` take it: in ``p``, as scalkit's Datasets name processes, and ``S``.

        A `GrowthSum` where it is no single product. Raises ExpectationError if it has no growth of powers of 2^x, x and log2 x.
        """
        found = renamed(self.growth_sum, _DATA_NAMES)
        return found.terms[0] if len(found.terms) == 1 else found

    def __call__(self, *, outside: Outside = "error", **at: ArrayLike) -> Any:
        """Return the model at values of its parameters.

        `outside`: what a value outside of the valid range gives.
        `**at`: one for each parameter, broadcast against each other: ``S`` in bytes or as ``"64 KiB"``, ``P``
        processes.
        The result is in `unit`.
        Raises UsageError if a parameter is missing, unknown, in another unit, or outside of the valid range, or the
        model only has bounds.
        """
        if not self.is_exact:
            article = "an" if self.kind[0] in "ae" else "a"
            raise UsageError(
                f"'{self.name}' is {article} {self.kind} model and has no single value; ask for its bounds(...)"
                f"{', or its ratio(...) between two settings' if self.kind == 'asymptotic' else ''}."
            )
        return self.bounds(outside=outside, **at).lower

    def bounds(self, *, outside: Outside = "error", **at: ArrayLike) -> Bounds:
        """Return lower and upper bound at values of the parameters, see `__call__`; both are the value of an exact model."""
        if outside not in ("error", "nan"):
            raise UsageError(f"outside is {outside!r:.40}; choose 'error' or 'nan'.")
        self._require_names(at)
        values = {name: _whole(values_in(at[name], name), name) for name in self.parameters}
        low, high = self.checked_bounds(values, outside)
        return Bounds(low[()], high[()])

    def checked_bounds(self, at: Mapping[str, Floats], outside: Outside) -> tuple[Floats, Floats]:
        """Return both bounds at checked values; what lies outside of the valid ranges raises or is NaN."""
        shape = _shape_of(at)
        inside = np.ones(shape, dtype=bool)
        for name, limits in self.valid.items():
            fits = limits.contains(at[name])
            if outside == "error" and not fits.all():
                wrong = float(at[name][~fits].flat[0])
                raise UsageError(
                    f"'{self.name}' holds for {limits.text(name)}, got {name} = "
                    f"{format_value(wrong, PARAMETER_UNITS.get(name, '1'))}; stay inside, or say outside='nan'."
                )
            inside = inside & fits
        with np.errstate(invalid="ignore"):
            low, high = (np.broadcast_to(one, shape) for one in self.inner_bounds(at, outside))
        return np.where(inside, low, np.nan), np.where(inside, high, np.nan)

    def own_bounds(self, at: Mapping[str, Floats], outside: Outside) -> tuple[Floats, Floats]:
        """Return both bounds at checked values of its parameters, and of others."""
        return self.checked_bounds({name: at[name] for name in self.parameters}, outside)

    def _require_names(self, at: Mapping[str, object]) -> None:
        require_kind(at, Mapping, "the setting", "give a mapping such as {'P': 16}")
        wanted = ", ".join(self.parameters) or "nothing"
        if unknown := [name for name in at if name not in self.parameters]:
            raise UsageError(f"'{self.name}' does not depend on {unknown[0]!r}; it depends on {wanted}.")
        if missing := [name for name in self.parameters if name not in at]:
            raise UsageError(f"'{self.name}' needs {missing[0]}; it depends on {wanted}.")
        # Values are combined by position, so that labels in another order would be ignored in silence.
        named = {", ".join(map(str, getattr(value, "dims", ()))) for value in at.values()}
        dimensions = sorted(named - {""})
        if len(dimensions) > 1:
            raise UsageError(
                f"the values have the dimensions ({dimensions[0]}) and ({dimensions[1]}); "
                "give the arrays that xarray.broadcast returns for them."
            )

    def __add__(self, other: Any) -> Composite:
        if isinstance(other, int | float) and other == 0:  # what `sum` begins with
            return Composite(_terms(self))
        require_model(other, f"what is added to '{self.name}'")
        return Composite((*_terms(self), *_terms(other)))

    __radd__ = __add__

    def __sub__(self, other: object) -> Composite:
        if not isinstance(other, PerformanceModel) or "asymptotic" in (self.kind, other.kind):
            raise UsageError(f"cannot subtract {other!r:.40} from '{self.name}'; subtract models of one unit that have values.")
        return Composite((*_terms(self), *((-c, one) for c, one in _terms(other))))

    def __mul__(self, factor: float) -> Composite:
        require_positive(factor, f"the factor of '{self.name}'")
        return Composite(tuple((factor * c, one) for c, one in _terms(self)))

    __rmul__ = __mul__


class MadeOfModels(PerformanceModel):
    """A model that holds where all of its parts do, and says no more than the one that says least."""

    @property
    @abstractmethod
    def parts(self) -> tuple[PerformanceModel, ...]:
        """The models that it is made of."""

    @cached_property
    def valid(self) -> Mapping[str, Range]:  # type: ignore[override]
        """Where all parts hold."""
        return intersection(model.valid for model in self.parts)

    @property
    def kind(self) -> Kind:
        """That of the part which says least."""
        return max((self.kind_of_class, *(model.kind for model in self.parts)), key=KINDS.index)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of what it depends on."""
        return ordered({name for model in self.parts for name in model.parameters})

    @property
    def unit(self) -> str:
        """Unit of its values."""
        return self.parts[0].unit

    @property
    def growth_sum(self) -> GrowthSum:
        """Growth of all parts."""
        return GrowthSum.of(term for model in self.parts for term in model.growth_sum.terms)

    def _require_one_unit(self) -> None:
        units = {model.unit for model in self.parts}
        if len(units) > 1:
            first, other = (next(m for m in self.parts if m.unit == unit) for unit in sorted(units)[:2])
            raise UsageError(
                f"'{first.name}' is in {first.unit}, '{other.name}' in {other.unit}; add or subtract models of one unit."
            )
        self.valid  # noqa: B018 - models that never hold together shall fail here

    @property
    def sources(self) -> str:
        """Where the parts come from, each source once."""
        return "; ".join(dict.fromkeys(model.source for model in self.parts if model.source))


@dataclass(frozen=True, repr=False, eq=False)
class Composite(MadeOfModels):
    """A sum of multiples of models, as ``2 * alltoall + fft - overlap`` makes it; it holds where all of them do.

    Attributes
    ----------
    terms : tuple of (float, PerformanceModel)
        Coefficients are negative where a model is subtracted: then its upper bound lowers the lower one.
    """

    terms: tuple[tuple[float, PerformanceModel], ...]
    name: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        self._settle(sum_of_multiples((c, model.name) for c, model in self.terms), self.sources)
        self._require_one_unit()

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
            own = model.own_bounds(at, outside)[:: 1 if coefficient > 0 else -1]
            low, high = low + coefficient * own[0], high + coefficient * own[1]
        return low, high

    @property
    def growth_sum(self) -> GrowthSum:
        """Growth of all parts that are not subtracted."""
        return GrowthSum.of(term for c, model in self.terms if c > 0 for term in model.growth_sum.terms)

    def to_sympy(self) -> Any:
        """Return the sum; of a dominant-term model the terms that are known."""
        import sympy

        terms = [(c, one) for c, one in self.terms if self.kind != "dominant term" or one.kind != "asymptotic"]
        factors = [sympy.Integer(int(c)) if float(c).is_integer() else sympy.Float(c) for c, _ in terms]
        pairs = [pair_of(one.to_sympy())[:: 1 if c > 0 else -1] for c, one in terms]
        low, high = (sympy.Add(*(f * one for f, one in zip(factors, side, strict=True))) for side in zip(*pairs, strict=True))
        return low if low == high else sympy.Tuple(low, high)


def _terms(model: PerformanceModel) -> tuple[tuple[float, PerformanceModel], ...]:
    return model.terms if isinstance(model, Composite) else ((1.0, model),)


def pair_of(expression: Any) -> tuple[Any, Any]:
    """Return the two bounds of an expression, which are the same unless it is a pair."""
    import sympy

    return tuple(expression) if isinstance(expression, sympy.Tuple) else (expression, expression)


def require_model(value: object, name: str) -> None:
    """Check that an argument is a performance model. Raises UsageError if it is none."""
    require_kind(value, PerformanceModel, name, "give a model such as an ExactModel")


def ordered(names: Collection[str]) -> tuple[str, ...]:
    """Return names of parameters in the order S, P, R, others."""
    first = [name for name in PARAMETER_UNITS if name in names]
    return (*first, *sorted(name for name in names if name not in PARAMETER_UNITS))


def _shape_of(at: Mapping[str, Floats]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(value.shape for value in at.values()))
    except ValueError:
        shown = ", ".join(f"{name} {value.shape}" for name, value in at.items())
        raise UsageError(f"the shapes do not fit together: {shown}; make them equal, or broadcast them.") from None


def _whole(values: Floats, parameter: str) -> Floats:
    if PARAMETER_UNITS.get(parameter) in COUNTS and (wrong := values != np.floor(values)).any():
        raise UsageError(f"{parameter} = {values[wrong].flat[0]:g}; it must be a whole number.")
    return values
