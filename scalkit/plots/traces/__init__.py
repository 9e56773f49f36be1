"""Pictures of traces and of times for each process."""
