"""The memory that was measured here, kept in data/libraries, against the models that are known of these libraries."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MODELS = tomllib.loads((ROOT / "tests" / "data" / "memory_models.toml").read_text(encoding="utf-8"))
CASES = [(library, op) for library, models in MODELS.items() for op in models if op != "at"]


def measured(library: str, op: str) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for path in sorted((ROOT / "data" / "libraries" / library.replace("_", ".")).glob("memory-*.jsonl")):
        for record in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            if record["rec"] == "mem" and record["op"] == op:
                found.setdefault(record["p"], []).append(record)
    return found


@pytest.mark.parametrize(("library", "op"), CASES)
def test_models(library: str, op: str) -> None:
    constant, per_process = MODELS[library][op]
    found = measured(library, op)
    assert len(found) >= 5
    for p, records in found.items():
        for record in records:
            assert abs(record[MODELS[library]["at"]] - (constant + per_process * p)) <= 64, (p, record)


@pytest.mark.parametrize(("library", "op"), CASES)
def test_repeats_are_identical(library: str, op: str) -> None:
    for p, records in measured(library, op).items():
        assert len(records) >= 2, p
        assert len({record[MODELS[library]["at"]] for record in records}) == 1, p
