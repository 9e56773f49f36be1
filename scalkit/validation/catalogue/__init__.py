"""Sets of expectations, from TOML files, mappings and the bundled catalogues."""

from scalkit.validation.catalogue.catalogue import CATALOGUES, ExpectationSet, Expected, expectation_set, load_expectations

__all__ = ["CATALOGUES", "ExpectationSet", "Expected", "expectation_set", "load_expectations"]
