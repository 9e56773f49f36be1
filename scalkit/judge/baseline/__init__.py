"""The status quo: what a library did before, its file, and what changed since."""

from scalkit.judge.baseline.baseline import BASELINE_SCHEMA, Baseline, BaselineEntry

__all__ = ["BASELINE_SCHEMA", "Baseline", "BaselineEntry"]
