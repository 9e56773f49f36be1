"""What models that are made of models have in common."""

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property

from scalkit.fit.several.growth import GrowthSum
from scalkit.perfmodels.formulas.ranges import Range, intersection
from scalkit.perfmodels.models.exact import ordered
from scalkit.perfmodels.models.model import KINDS, Kind, PerformanceModel


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

    @property
    def sources(self) -> str:
        """Where the parts come from, each source once."""
        return "; ".join(dict.fromkeys(model.source for model in self.parts if model.source))
