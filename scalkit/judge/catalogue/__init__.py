"""Sets of expectations, from TOML files, mappings and the bundled catalogues."""

from scalkit.judge.catalogue.catalogue import CATALOGUES, expectation_set, load_expectations
from scalkit.judge.catalogue.entries import ExpectationSet, Expected

__all__ = ["CATALOGUES", "ExpectationSet", "Expected", "expectation_set", "load_expectations"]
