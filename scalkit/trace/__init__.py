"""Traces of parallel programs: who waits for whom, above all for the progress of one-sided communication.

`analyse` reads a trace and finds the waits, on one process or with others of an MPI program on a part of the locations each.
"""

from scalkit.support.lazy import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
