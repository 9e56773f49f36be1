"""Performance models of communication: from asymptotic to exact, composed, fitted, and written for simulators."""

from scalkit.support.lazy import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
