"""The wait patterns, and what they need to know of calls."""
