"""Simulated campaigns with planted violations, to test the assessment. Nothing is measured."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from scalkit.errors import UsageError
from scalkit.guidelines.guideline import plain_level

Planted = Sequence[tuple[Mapping[str, Any], float]]


_SIZES = tuple(1 << power for power in range(15))


def neighbourhood_design(p: int = 160, sizes: Sequence[int] = _SIZES) -> pd.DataFrame:
    """Return the experiments of the campaign nbhcoll, 3360 with all sizes: one row each.

    Two operations, 15 sizes, 1 to 4 dimensions, none or all of them finite, Cartesian, von Neumann and Moore neighbourhoods of
    radius 1, three orders of the latter two, with and without reordering.

    Source: F. D. Lübbe: *Micro-benchmarking MPI Neighborhood Collective Operations.* Euro-Par, 2017, table 2.
    """
    kinds: list[tuple[str, int | None, str | None]] = [("cart", None, None)]
    kinds += [(kind, 1, order) for kind in ("vonneumann", "moore") for order in ("fmaj", "lmaj", "rand")]
    rows = [
        (operation, p, size, n_dim, n_finite, kind, radius, order, reorder)
        for operation, size, n_dim, (kind, radius, order), reorder in product(
            ("MPI_Neighbor_allgather", "MPI_Neighbor_alltoall"), sizes, (1, 2, 3, 4), kinds, (0, 1)
        )
        for n_finite in (0, n_dim)
    ]
    names = ["operation", "p", "size", "n_dim", "n_finite", "topology", "radius", "order", "reorder"]
    frame = pd.DataFrame(rows, columns=names)
    frame["radius"] = frame["radius"].astype("Int64")
    for name in ("operation", "topology", "order"):
        frame[name] = frame[name].astype("category")
    return frame


def simulated_campaign(
    design: pd.DataFrame,
    planted: Planted = (),
    *,
    seed: int,
    n_runs: int = 30,
    n_repetitions: int = 50,
    run_cv: float = 0.05,
    experiment_cv: float = 0.02,
    noise: float = 0.05,
    outliers: float = 0.01,
) -> pd.DataFrame:
    """Return made-up times in s. Every guideline holds with equality, except for planted effects.

    `design`: one row for each experiment; times grow with ``size`` in B.
    `planted`: levels of experiments and the factor of their times: ``({"order": "rand"}, 0.9)``.
    `run_cv`, `experiment_cv`, `noise`: standard deviations of the logarithm: of a run, of an
    experiment in a run, and of a repetition.
    `outliers`: share of repetitions that take ten times as long.
    Returns: a table for `assess`: a row is one experiment in one run, and ``time`` an array of its
    repetitions. ``attrs`` hold the seed and mark the table as simulated.
    Raises UsageError if no experiment of the design has the levels of a planted effect.
    """
    rng = np.random.default_rng(seed)
    true = 2e-6 + 1e-9 * design["size"].to_numpy(dtype=np.float64)
    for where, factor in planted:
        chosen = np.ones(len(design), dtype=bool)
        for name, level in where.items():
            levels = design.get(name, pd.Series(index=design.index, dtype=object)).astype(object)
            chosen &= (levels.map(plain_level) == plain_level(level)).to_numpy()
        if not chosen.any():
            raise UsageError(f"nothing in the design has {dict(where)!r}, so nothing can be planted there.")
        true = np.where(chosen, factor * true, true)
    shared = rng.normal(0, run_cv, n_runs)
    run = np.repeat(np.arange(n_runs), len(design))
    level = np.log(np.tile(true, n_runs)) + shared[run] + rng.normal(0, experiment_cv, len(run))
    values = np.exp(level[:, None] + rng.normal(0, noise, (len(run), n_repetitions)))
    values[rng.random(values.shape) < outliers] *= 10
    frame = design.iloc[np.tile(np.arange(len(design)), n_runs)].reset_index(drop=True).assign(run=run, time=list(values))
    frame.attrs = {"simulated": True, "seed": seed, "units": "s"}
    return frame
