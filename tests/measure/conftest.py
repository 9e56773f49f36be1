"""Writes run files for the tests of this folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from run_records import Record, Writer


@pytest.fixture
def write(tmp_path: Path) -> Writer:
    def writer(*records: Record, name: str = "time-p0004-r00.jsonl", folder: Path = tmp_path) -> Path:
        path = folder / name
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return path

    return writer
