"""Run files made by hand, one record a line, so that each test can spoil one of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Writer = Callable[..., Path]


def env(p: int = 4, run_id: str = "camp-r00", program: str = "sk_time", **more: Any) -> Record:
    base = {"rec": "env", "schema": 1, "run_id": run_id, "program": program, "seed": 1, "p": p, "host": "node1"}
    base |= {"started": "2026-01-02T03:04:05Z", "mpi_library": "Some MPI 1.0", "processes_per_node": p}
    return {**base, "oversubscribed": p > 2, "simulated": False, **more}


def cell(op: str = "MPI_Bcast", p: int = 4, number: int = 0, t_ns: tuple[int, ...] = (10, 20, 30), **more: Any) -> Record:
    base: Record = {"rec": "cell", "op": op, "p": p, "size_B": 8, "datatype": "byte", "sync": "round", "pass": number}
    base |= {"n": len(t_ns), "t_ns": list(t_ns), "late": 0, "overrun": 0, "late_at": [], "overrun_at": []}
    return {**base, "status": "open", "verified": True, "foreign_load": 0.01, **more}


def memory(op: str = "MPI_Comm_dup", p: int = 4, steady: int = 5400, **more: Any) -> Record:
    base = {"rec": "mem", "op": op, "p": p, "shape": "identity", "steady_B": steady, "first_B": 9000, "peak_B": 6000}
    return {**base, "freed_B": 100, "leaked_B": 0, "pss_slope_B": 5500.5, "bypassed": False, "verified": True, **more}


def own_memory(p: int = 4, value: int = 11_000_000, **more: Any) -> Record:
    stage = {"pss": 1000, "private": 500, "rss": 2000}
    stages = {f"{name}_B": stage for name in ("before_init", "after_init", "after_use")}
    return {"rec": "mem", "op": "MPI_memory", "p": p, **stages, "own_buffers_B": 8, "process_memory_B": value, **more}


END: Record = {"rec": "end", "status": "complete", "wall_s": 1.5}
