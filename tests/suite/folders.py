"""Folders of tests that other programs of the suite have to name."""

CORE = tuple(f"tests/{name}/" for name in ("growth", "measure", "stats", "judge", "session"))
"""Tests of the core, which needs no extra; single tests that do need one are marked `extra`."""
