"""Measurements: the run-file format, the Dataset that they live in, and the statistic that makes a series of them."""

from scalkit.lazy import names_of
from scalkit.measure.process_times import process_times as process_times  # else the name is that of the module
from scalkit.moved import moved_names

_MOVED = {"holds_experiments", "read_experiments"}
__getattr__, __dir__, __all__ = names_of(__name__, __file__, moved_names(__name__, "scalkit.formats.experiments", _MOVED))
