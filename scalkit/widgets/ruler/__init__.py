"""The ruler of ticks, and its link to a session."""
