"""The headless state of an analysis: what is expected, tried and left out, with undo, snapshots, a file, and its code."""

from scalkit.session.session import Session
from scalkit.session.state import State

__all__ = ["Session", "State"]
