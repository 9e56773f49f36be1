"""Verdicts over several parameters: sums of growths, their ticks, the verdict as a whole and along each parameter."""
