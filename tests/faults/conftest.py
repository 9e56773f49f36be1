"""The measuring programs and the library of planted bugs, compiled once; launches with few ranks."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_osc": "^ucx",
}


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


def _tool(name: str) -> str:
    beside = Path(sys.executable).parent / name
    found = shutil.which(name) or (str(beside) if beside.exists() else None)
    if found is None:
        pytest.skip(f"no {name} on PATH; install an MPI library, for example: pip install mpich")
    return found


def _make(folder: Path, build: Path, mpicc: str) -> None:
    command = ["make", "-s", "-C", str(folder), f"MPICC={mpicc}", f"BUILD={build}"]
    made = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert made.returncode == 0, made.stderr


@pytest.fixture(scope="session")
def launch(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Launch]:
    mpicc, mpiexec = _tool("mpicc"), _tool("mpiexec")
    build = tmp_path_factory.mktemp("faults")
    _make(ROOT / "microbench", build, mpicc)
    _make(ROOT / "tests" / "faults", build, mpicc)

    numbers = itertools.count()

    def start(
        p: int, program: str, *options: str, fault: str = "", preload: bool = True, message_us: int = 0
    ) -> Launch:
        out = build / f"run{next(numbers)}.jsonl"
        own = [f"LD_PRELOAD={build / 'libskfault.so'}"] if preload else []
        own += [f"SKFAULT={fault}"] if fault else []
        own += [f"SKFAULT_MESSAGE_US={message_us}"] if message_us else []
        words = [mpiexec, "-n", str(p), "env", *own, str(build / program), f"--out={out}", f"--expect-np={p}", *options]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, env={**os.environ, **SETTINGS})
        records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        return Launch(out, done.returncode, done.stderr, records)

    return start
