"""Small measurements of several functions, runs and repetitions, made without a machine."""

from __future__ import annotations

import contextlib
import io
import tempfile
from typing import Any

import numpy as np
import xarray as xr

import scalkit as sk
from scalkit.measure import write_netcdf

EXPECTATIONS = {
    "bcast": "log(p)",
    "gather": {"expectation": "p", "deviation": "log(p)", "space": "paper"},
    "reduce": {"expectation": "log(p)", "ticks": ["1", "log(p)", "p^(1/2)", "p"]},
    "split": "1/p",
}

GROWTHS = {
    "bcast": lambda p: 2 + 3 * np.log2(p),
    "gather": lambda p: 1 + 0.5 * p * np.log2(p),
    "reduce": lambda p: 4 + 2 * p**0.5,
    "split": lambda p: 40 / p,
    "alone": lambda p: 1 + 0 * p,
}


def made(settings=(2, 4, 8, 16, 32, 64), runs=3, repetitions=4, seed=1):
    p = np.array(settings, dtype=np.float64)
    rng = np.random.default_rng(seed)
    noise = rng.lognormal(0, 0.02, (len(GROWTHS), len(p), runs, repetitions))
    values = np.stack([growth(p) for growth in GROWTHS.values()])[:, :, None, None] * 1e-6 * noise
    memory = np.stack([64 * (1 + np.log2(p)) for _ in GROWTHS])[:, :, None]
    return xr.Dataset(
        {
            "time": (("function", "p", "run", "repetition"), values, {"role": "metric", "units": "s"}),
            "object_memory": (
                ("function", "p", "run"),
                np.where(np.arange(len(GROWTHS))[:, None, None] < 2, np.repeat(memory, runs, axis=2), np.nan),
                {"role": "metric", "units": "B", "exact": 1, "resolution": 16.0},
            ),
            "flagged_kept": (("function", "p"), np.arange(len(GROWTHS) * len(p)).reshape(len(GROWTHS), -1) % 7 == 0),
        },
        {"function": list(GROWTHS), "p": np.array(settings), "oversubscribed": ("p", p > 32)},
        {"parameter": "p"},
    )


def executed(code: str, data: xr.Dataset) -> tuple[sk.Session, str]:
    """Return the session of some code and what it prints; data in memory are in the file that the code names."""
    names: dict[str, Any] = {}
    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        write_netcdf(data, "data.nc")
        exec(compile(code, "session", "exec"), names)
    return names["session"], printed.getvalue()
