"""Readers of foreign benchmark files, one module a format; `read_benchmark_json` finds out which it is."""

from __future__ import annotations

from scalkit.measure.readers.finding import is_json, read_benchmark_json

__all__ = ["is_json", "read_benchmark_json"]
