"""Models with formulas in place of parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scalkit.errors import UsageError
from scalkit.growth.sums import GrowthSum
from scalkit.perfmodels.formulas.quantities import PARAMETER_UNITS, Range
from scalkit.perfmodels.formulas.text import positive
from scalkit.perfmodels.models.exact import ExactModel, names_in, with_processes
from scalkit.perfmodels.models.model import MadeOfModels, Outside, PerformanceModel, ordered, require_model
from scalkit.support.arguments import require_kind
from scalkit.support.arrays import Floats


@dataclass(frozen=True, repr=False, eq=False)
class Substituted(MadeOfModels):
    """A model with formulas in place of some of its parameters; see `substitute`.

    Attributes
    ----------
    model : PerformanceModel
    inner : mapping from parameter of `model` to ExactModel
    """

    model: PerformanceModel
    inner: Mapping[str, ExactModel]
    name: str = ""
    source: str = ""
    valid: Mapping[str, Range] = field(default_factory=dict)

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
            values[name] = one.own_bounds(at, outside)[0]
        shape = np.broadcast_shapes(*(value.shape for value in at.values()))
        low, high = self.model.checked_bounds(values, outside)
        return np.broadcast_to(low, shape), np.broadcast_to(high, shape)

    def to_sympy(self) -> Any:
        """Return the model's expression with the formulas in it."""
        formulas = {positive(name): one.to_sympy() for name, one in self.inner.items()}
        return self.model.to_sympy().subs(formulas, simultaneous=True)


def substitute(model: PerformanceModel, constants: Mapping[str, object] | None = None, **formulas: str) -> Substituted:
    """Return a model with formulas in place of parameters, for example on parts of the data and the processes.

    Parameters
    ----------
    model : PerformanceModel
    constants : mapping from name to quantity, optional
        Of the formulas, for example ``{"b": "16 B"}``.
    **formulas
        For parameters of the model: ``substitute(alltoall, S="b*N^3/P^(3/2)", P="sqrt(P)", constants={"b": "16 B"})``.

    Raises
    ------
    UsageError
        If the model does not depend on a parameter, or a formula cannot be read or has the wrong unit.
    """
    require_model(model, "the model")
    require_kind(constants, Mapping | None, "the constants", "give a dict such as {'b': '16 B'}")
    inner = {}
    for name, formula in formulas.items():
        if name not in model.parameters:
            raise UsageError(f"'{model.name}' does not depend on {name!r}; it depends on {', '.join(model.parameters)}.")
        used = {key: value for key, value in (constants or {}).items() if key in names_in(formula)}
        inner[name] = ExactModel(formula, used)
        wanted = PARAMETER_UNITS.get(name, "1")
        if inner[name].unit != ("B" if wanted == "B" else "1"):
            raise UsageError(f"{name} = {formula!r:.60} is in {inner[name].unit}; it must be in {wanted}.")
    if not inner:
        raise UsageError(f"name a parameter of '{model.name}' and a formula for it, as in P='sqrt(P)'.")
    return Substituted(model, inner)
