"""Sets of expectations, from TOML files, mappings and the bundled catalogues."""

from scalkit.validation.catalogue.catalogue import CATALOGUES, expectation_set, load_expectations
from scalkit.validation.catalogue.entries import ExpectationSet, Expected

__all__ = ["CATALOGUES", "ExpectationSet", "Expected", "expectation_set", "load_expectations"]
