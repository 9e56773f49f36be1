"""Growth terms: exact exponents of 2^x, x and log2 x, their order, and the text that names them."""

from scalkit.support.lazy import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
