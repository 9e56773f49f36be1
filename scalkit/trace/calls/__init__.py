"""Profiles of programs: calls, time and bytes of each place that calls a function of MPI, without a trace."""
