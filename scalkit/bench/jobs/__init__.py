"""Campaigns elsewhere: jobs of Slurm, files for ReFrame and JUBE, and collecting what was measured."""
