"""When did it change? Measurements of many commits, what changed between them, and the first bad one."""

from scalkit.history.commits import history
from scalkit.history.results import History, OddCommit, Segment, Step, Track

__all__ = ["History", "OddCommit", "Segment", "Step", "Track", "history"]
