"""Predicts recorded programs: traces played again on models of other networks."""

from scalkit.perfmodels.collectives.cells import FUNCTIONS as OPERATIONS
from scalkit.perfmodels.played import SCHEDULES, WIRES
from scalkit.why.prediction import Prediction, predict

__all__ = ["OPERATIONS", "SCHEDULES", "WIRES", "Prediction", "predict"]
