"""Expectations with constants: measured values over those of a model, at every setting."""
