"""Functions of the user as benchmarks: C and Python, in one process or over ranks."""
