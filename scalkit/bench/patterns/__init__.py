"""Patterns of communication that have a plan of their own: messages, neighbourhoods, master and workers."""
