"""The locations that one process of the analysis holds, and the processes beside it."""
