"""Run files of sk_neighbours: experiments on neighbourhoods, which are compared with guidelines and hold no series."""

from scalkit.formats.experiments.table import ExperimentTable, holds_experiments, read_experiments

__all__ = ["ExperimentTable", "holds_experiments", "read_experiments"]
