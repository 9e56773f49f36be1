"""Models in files: catalogues, model cards, and the formats of simulators."""
