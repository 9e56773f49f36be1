"""Run files and Datasets become runs of a store."""
