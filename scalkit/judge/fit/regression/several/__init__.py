"""The regression over several parameters: sums of products of growths as columns."""
