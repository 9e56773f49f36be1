"""Campaigns elsewhere: jobs of Slurm, scripts of other batch systems, and collecting what was measured."""
