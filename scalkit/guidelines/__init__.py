"""Guidelines: what must not be slower than what, judged on measurements of several runs."""

from scalkit.support.lazy import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
