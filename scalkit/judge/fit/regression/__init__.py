"""Bayesian linear regression of measured values on growths: one posterior for all that is reported."""
