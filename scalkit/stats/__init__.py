"""Tests and intervals for many small samples at once: a row is a sample, and a value that is missing is NaN."""
