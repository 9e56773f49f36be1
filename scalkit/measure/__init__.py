"""Measurements: the run-file format, the Dataset that they live in, and the statistic that makes a series of them."""

from scalkit.support.lazy import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
