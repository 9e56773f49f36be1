"""Neighbourhoods on grids of processes, as the C programs make them."""
