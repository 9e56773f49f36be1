"""Growth terms: exact exponents of 2^x, x and log2 x, their order, and the text that names them."""

from scalkit.growth.growth import Exponents, Growth
from scalkit.growth.parse import parse_growth

__all__ = ["Exponents", "Growth", "parse_growth"]
