"""Expectation against measurement: deviation limits, search space, verdicts, rules, litmus test."""

from scalkit.support.lazy import names_of

__getattr__, __dir__, __all__ = names_of(__name__, __file__)
