"""Models fitted to measurements of messages."""
