"""Tests and intervals for many small samples at once: a row is a sample, and a value that is missing is NaN."""

from scalkit.lazy import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
