"""The measuring programs and the library of planted bugs, compiled once; launches with few ranks."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from launching import environment, find

from scalkit.support.native import build, sources

BUDGET_S = 3600
"""The usual one could end before all is measured that a test looks at, on a busy machine."""


@dataclass(frozen=True)
class Launch:
    """What one launch left: its status, its messages, its records."""

    path: Path
    status: int
    messages: str
    records: list[dict[str, Any]]

    def cells(self, op: str) -> list[dict[str, Any]]:
        return [r for r in self.records if r["rec"] == "cell" and r["op"] == op]

    def memory(self, op: str) -> dict[str, Any]:
        (record,) = (r for r in self.records if r["rec"] == "mem" and r["op"] == op)
        return record


@pytest.fixture(scope="session")
def launch(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Launch]:
    mpi = find()
    programs = build(sources("microbench"), mpi.mpicc, library=mpi.library)
    faults = build(Path(__file__).parent, mpi.mpicc, library=mpi.library).program("libskfault.so")
    folder = tmp_path_factory.mktemp("faults")
    numbers = itertools.count()

    def start(p: int, program: str, *options: str, fault: str = "", preload: bool = True) -> Launch:
        out = folder / f"run{next(numbers)}.jsonl"
        own = [f"LD_PRELOAD={faults}"] if preload else []
        own += [f"SKFAULT={fault}"] if fault else []
        own += [str(programs.program(program)), f"--out={out}", f"--expect-np={p}"]
        has_budget = any(one.startswith("--budget=") for one in options)
        own += [] if has_budget else [f"--budget={BUDGET_S}"]
        words = mpi.command(p, "env", *own, *options)
        done = subprocess.run(words, capture_output=True, text=True, env=environment(mpi))
        records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        return Launch(out, done.returncode, done.stderr, records)

    return start
