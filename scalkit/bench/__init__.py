"""Measuring: Python callables, and MPI libraries and C functions in campaigns that resume."""

from scalkit.support.lazy import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
