"""The browser of an assessment of guidelines."""
