"""How sure a verdict is: the hypotheses, what the values make of them, and what is asked of the result."""

from scalkit.validation.posterior.posterior import SURE, Posterior, VerdictWord, posteriors, word_of
from scalkit.validation.posterior.predictions import Predictions

__all__ = ["SURE", "Posterior", "Predictions", "VerdictWord", "posteriors", "word_of"]
