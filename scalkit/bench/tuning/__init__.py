"""Which algorithm an MPI library should use where: forced, measured, chosen, and written as the library's own file."""
