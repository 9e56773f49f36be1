"""Performance models of communication: from asymptotic to exact, composed, fitted, and exchanged with simulators."""

from scalkit.perfmodels.composed import Composite, Product, Substituted
from scalkit.perfmodels.exact import ExactModel
from scalkit.perfmodels.hierarchy import AsymptoticModel, BoundedModel, DominantTermModel
from scalkit.perfmodels.model import Bounds, PerformanceModel
from scalkit.perfmodels.range_model import RangeModel
from scalkit.perfmodels.ranges import Range

__all__ = [
    "AsymptoticModel",
    "BoundedModel",
    "Bounds",
    "Composite",
    "DominantTermModel",
    "ExactModel",
    "PerformanceModel",
    "Product",
    "Range",
    "RangeModel",
    "Substituted",
]
