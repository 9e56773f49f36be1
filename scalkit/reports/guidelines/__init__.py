"""The report about guidelines."""
