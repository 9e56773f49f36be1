"""The report about one run of a store."""
