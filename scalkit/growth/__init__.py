"""Growth terms: exact exponents of 2^x, x, log2 x and own classes, their order, and the text that names them."""

from scalkit.growth.classes import GrowthClass, all_or_none, forget_growth, register_growth, registered_growths
from scalkit.growth.declared import plain_growths, register_again
from scalkit.growth.growth import Exponents, Growth
from scalkit.growth.parse import parse_growth

__all__ = [
    "Exponents",
    "Growth",
    "GrowthClass",
    "all_or_none",
    "forget_growth",
    "parse_growth",
    "plain_growths",
    "register_again",
    "register_growth",
    "registered_growths",
]
