"""Expectation against measurement: deviation limits, search space, verdicts, rules, litmus test."""

from scalkit.validation.catalogue import CATALOGUES, ExpectationSet, Expected, load_expectations
from scalkit.validation.expectation import Expectation
from scalkit.validation.judge.choices import AnyVerdict
from scalkit.validation.litmus import Litmus
from scalkit.validation.result import FAIL_ON, Validation
from scalkit.validation.rules import RuleResult
from scalkit.validation.space import SearchSpace
from scalkit.validation.validating import validate
from scalkit.validation.verdict import SYMBOLS, Verdict

__all__ = [
    "CATALOGUES",
    "FAIL_ON",
    "SYMBOLS",
    "AnyVerdict",
    "Expectation",
    "ExpectationSet",
    "Expected",
    "Litmus",
    "RuleResult",
    "SearchSpace",
    "Validation",
    "Verdict",
    "load_expectations",
    "validate",
]
