"""Guidelines: what must not be slower than what, judged on measurements of several runs."""

from scalkit.guidelines.assessment import assess
from scalkit.guidelines.catalogue import CATALOGUES, guidelines, load_guidelines
from scalkit.guidelines.experiments import Measured, measured
from scalkit.guidelines.guideline import Guideline
from scalkit.guidelines.neighbours.dims import balanced_dims
from scalkit.guidelines.neighbours.neighbourhoods import Neighbourhood
from scalkit.guidelines.result import Assessment, Thresholds

__all__ = [
    "CATALOGUES",
    "Assessment",
    "Guideline",
    "Measured",
    "Neighbourhood",
    "Thresholds",
    "assess",
    "balanced_dims",
    "guidelines",
    "load_guidelines",
    "measured",
]
