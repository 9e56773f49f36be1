"""A store with what the paper's example needs: rivals of MPI_Gather at several sizes and numbers of processes, by process."""

from pathlib import Path

import numpy as np

import scalkit as sk
from scalkit.store.filed.rows import Rows
from scalkit.store.runs.content import RunContent, encoded

FACTORS = {"MPI_Gather": 1.0, "Gather_send_recv": 1.5, "Gather_isend_irecv_waitall": 1.2}


def gathers(path: Path, runs: int = 5) -> sk.store.Store:
    """Return a store of generated runs; root needs half of what all need, and the last process is the slowest."""
    store = sk.store.open(path)
    for number in range(runs):
        rng, rows = np.random.default_rng([3, number]), Rows()
        for op, factor in FACTORS.items():
            for p in (2, 4, 8):
                for size in (64, 256, 1024):
                    raw = np.rint(factor * (20_000 + 10 * size) * p * rng.lognormal(0, 0.004, 9)).astype(np.int64)
                    medians = np.rint(np.median(raw) * np.linspace(0.5, 1, p)).astype(np.int64)
                    each = {"root_raw": (raw // 2).tolist(), "process_med": medians.tolist()}
                    facts = {"op": op, "pattern": "collective", "metric": "time", "unit": "ns", "program": "sk_time"}
                    rows.add("med", **facts, x=p, p=p, msg_By=size, seq=len(rows), passes=[9], raw=raw, **each)
        rows.add(
            "med",
            op="MPI_Barrier",
            pattern="collective",
            metric="time",
            unit="ns",
            program="sk_time",
            x=2,
            p=2,
            msg_By=0,
            seq=len(rows),
            passes=[9],
            raw=rng.integers(900, 1000, 9),
        )
        launches = rows.launched("generated")
        rows.over("p")
        measured = {
            "machine": "sp",
            "clock": "real",
            "label": f"r{number}",
            "started": "2026-11-21T00:00:00Z",
            "launches": launches,
        }
        run = RunContent.of(measured, {}, rows.table())
        store.folder.add(run.run_id, encoded(run))
    return store
