"""Formulas of models and their quantities: read, evaluated, shown."""
