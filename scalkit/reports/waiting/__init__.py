"""The report on waiting in traces."""
