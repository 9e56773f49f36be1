"""Changes planted in a series of commits: found by scalkit's history, and by asv, Conbench and Otava on the same series.

    python benchmarks/changes_beside.py --series 100 --seed 20261210

The series are those of `changes.py`: 30 commits of a function O(n) at six sizes, five repetitions. The others see a series of
medians for each size, as their users would have it, with what they do by default: asv reports regressions above 5 % where its
steps rise, Conbench a value above five standard deviations of those before it, Otava (Hunter) change points with p < 0.001. A
change counts as found if it is reported at its commit or the next one, at any size. A false alarm is a series without a change
for which a rise is reported. "missed" counts changes that the other finds and scalkit does not. Needs asv, apache-otava and, from
Conbench's wheel, the one file that holds its statistics, and pandas; what is not installed is left out.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Optional

import numpy as np
from changes import CHANGES, COMMITS, TIME, N, measured

import scalkit as sk
from scalkit.history import history

Finder = Callable[["np.ndarray[Any, np.dtype[np.float64]]"], set[int]]


def by_asv(values: Any) -> set[int]:
    from asv.step_detect import detect_regressions, detect_steps

    found = detect_regressions(detect_steps(list(values)), threshold=0.05)[2]
    return {after for _, after, *_ in found or ()}


def by_otava(values: Any) -> set[int]:
    from otava.analysis import compute_change_points

    points, _ = compute_change_points(list(values))
    return {point.index for point in points if point.stats.mean_2 > point.stats.mean_1}


def conbench_statistics() -> Callable[..., Any]:
    """Return Conbench's own function; its module imports a database, which this has no need of."""
    import pandas as pd

    spec = importlib.util.find_spec("conbench")
    assert spec is not None
    assert spec.submodule_search_locations
    source = Path(spec.submodule_search_locations[0], "entities", "history.py").read_text(encoding="utf-8")
    wanted = ("_CommitIndexer", "_add_rolling_stats_columns_to_df", "_detect_shifts_with_trimmed_estimators")
    names: dict[str, Any] = {"pd": pd, "np": np, "copy": copy, "Optional": Optional, "Tuple": tuple}
    names["Config"] = SimpleNamespace(DISTRIBUTION_COMMITS=100)
    for node in ast.parse(source).body:
        if getattr(node, "name", "") in wanted:
            exec(compile(ast.Module([node], []), "conbench", "exec"), names)
    return names["_add_rolling_stats_columns_to_df"]  # type: ignore[no-any-return]


def by_conbench(values: Any) -> set[int]:
    import pandas as pd

    day = pd.date_range("2026-01-01", periods=len(values))
    same = {"case_id": 1, "context_id": 1, "hash": "a", "repository": "r", "change_annotations": None}
    frame = pd.DataFrame({"mean": values, "timestamp": day, "result_timestamp": day, **same})
    frame = conbench_statistics()(frame, include_current_commit_in_rolling_stats=False)
    z = (frame["mean"] - frame["rolling_mean"]) / frame["rolling_stddev"]
    return set(np.flatnonzero(z.to_numpy() > 5.0).tolist())


PLANTED = {**CHANGES, "1.1 times": 1.1 * TIME}
PEERS: dict[str, tuple[str, Finder]] = {
    "asv": ("asv", by_asv),
    "Conbench": ("conbench", by_conbench),
    "Otava": ("otava", by_otava),
}


def commits(rng: Any, noise: float, change: str, first: int) -> list[Any]:
    return [measured(rng, PLANTED[change] if change and k >= first else TIME, noise) for k in range(COMMITS)]


def tried(series: int, seed: int, noise: float, change: str, peers: dict[str, Finder]) -> dict[str, Any]:
    """Return the shares of series whose change is found, or, without a change, for which a rise is reported."""
    rng = np.random.default_rng(seed)
    counts = dict.fromkeys(("scalkit", *peers, *(f"missed beside {name}" for name in peers), "growth said"), 0)
    for _ in range(series):
        first = int(rng.integers(2, COMMITS - 1))
        data = commits(rng, noise, change, first)
        medians = np.stack([np.median(one["time"].values.reshape(len(N), -1), axis=1) for one in data])
        right = {first, first + 1} if change else set(range(COMMITS))
        own = [step for step in history([(str(k), one) for k, one in enumerate(data)]).steps if step.change.is_slower]
        is_found = any(int(step.label) in right for step in own)
        counts["scalkit"] += is_found
        counts["growth said"] += any(int(step.label) in right and step.change.shape == "growing" for step in own)
        for name, finder in peers.items():
            theirs = any(finder(medians[:, k]) & right for k in range(len(N)))
            counts[name] += theirs
            counts[f"missed beside {name}"] += theirs and not is_found
    return {"noise": noise, "change": change or "none", "series": series, **counts}


def main() -> None:
    """Print a line of JSON for each row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=100)
    parser.add_argument("--seed", type=int, default=20261210)
    args = parser.parse_args()
    peers = {name: finder for name, (module, finder) in PEERS.items() if importlib.util.find_spec(module)}
    absent = [name for name in PEERS if name not in peers]
    for noise in (0.01, 0.05):
        for change in ("", *PLANTED):
            print(json.dumps(tried(args.series, args.seed, noise, change, peers)), flush=True)
    print(f"scalkit {sk.__version__}" + (f"; not installed: {', '.join(absent)}" if absent else ""))


if __name__ == "__main__":
    main()
