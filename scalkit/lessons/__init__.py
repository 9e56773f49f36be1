"""What the notebooks of the learning path call: data for lessons, real, simulated or printed in the paper."""

from scalkit.lazy import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
