"""When did it change? Measurements of many commits, what changed between them, and the first bad one."""

from scalkit.history.commits import History, Segment, Step, Track, history

__all__ = ["History", "Segment", "Step", "Track", "history"]
