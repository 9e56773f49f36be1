"""Assesses a campaign of 3360 experiments, 30 runs and 50 repetitions, beside a loop of scipy.stats.mannwhitneyu.

The times are simulated, as is what they violate; the program measures how long the assessment takes. Both ways start from
the same table of repetitions, and both answers are compared. `--error-rate SEEDS` instead plants violations of known size
into as many campaigns and counts how many are found, and how many others are.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from scalkit.guidelines import Guideline, assess

sys.path.append(str(Path(__file__).resolve().parents[1] / "notebooks"))
from lessons.campaigns import neighbourhood_design, simulated_campaign

GUIDELINE = "MPI_Neighbor_allgather <= MPI_Neighbor_alltoall"
PLANTED = (({"operation": "MPI_Neighbor_allgather", "topology": "moore", "n_dim": 2}, 1.1),)


def fenced_median(values: np.ndarray) -> float:
    q1, q3 = np.quantile(values, [0.25, 0.75])
    reach = 1.5 * (q3 - q1)
    return float(np.median(values[(values >= q1 - reach) & (values <= q3 + reach)]))


def by_loop(campaign: pd.DataFrame) -> dict[tuple[Any, ...], tuple[float, float]]:
    """The same as text books write it: a median for each run, a test for each group."""
    names = [name for name in campaign if name not in ("operation", "run", "time")]
    columns = [list(campaign[name]) for name in names]
    sides: dict[tuple[Any, ...], dict[str, list[float]]] = {}
    for row, operation in enumerate(campaign["operation"]):
        key = tuple(_text(column[row]) for column in columns)
        sides.setdefault(key, {}).setdefault(operation, []).append(fenced_median(campaign["time"][row]))
    found = {}
    for key, side in sides.items():
        left, right = side["MPI_Neighbor_allgather"], side["MPI_Neighbor_alltoall"]
        test = stats.mannwhitneyu(left, right, alternative="greater", method="exact")
        found[key] = (float(np.median(left) / np.median(right)), float(test.pvalue))
    return found


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--error-rate", type=int, default=0, metavar="SEEDS", help="count what is missed and what is not there")
    args = parser.parse_args()
    if args.error_rate:
        print_error_rate(args)
        return
    design = neighbourhood_design()
    campaign = simulated_campaign(design, PLANTED, seed=args.seed, n_runs=args.runs, n_repetitions=args.repetitions)
    paper: dict[str, Any] = {"strictness": "paper"}
    assess(campaign[:3360], GUIDELINE)  # imports are not measured
    loop_s, wanted = seconds(lambda: by_loop(campaign))
    fast_s, found = seconds(lambda: assess(campaign, GUIDELINE, **paper))
    frame = campaign.explode("time").astype({"time": float})
    long_s, _ = seconds(lambda: assess(frame, GUIDELINE, **paper))
    all_s, everything = seconds(lambda: assess(campaign, "neighbourhood"))
    frame = found.to_frame()
    names = [name for name in campaign if name not in ("operation", "run", "time")]
    keys = zip(*(map(_text, frame[name]) for name in names), strict=True)
    answers = zip(frame["violation_ratio"], frame["p_value"], strict=True)
    off = max(abs(np.array(wanted[key]) / np.array(answer) - 1).max() for key, answer in zip(keys, answers, strict=True))
    result = {
        "experiments": len(design),
        "values": len(campaign) * args.repetitions,
        "tests": len(frame),
        "violations": str(found.table().iloc[0, 0]),
        "assess_s": fast_s,
        "assess_long_s": long_s,
        "loop_s": loop_s,
        "ratio": loop_s / fast_s,
        "largest_relative_difference": float(off),
        "all_guidelines_s": all_s,
        "all_guidelines_tests": len(everything),
        "guideline": str(Guideline.parse(GUIDELINE)),
    }
    if args.json:
        print(json.dumps(result))
        return
    print(f"simulated: {len(design)} experiments x {args.runs} runs x {args.repetitions} repetitions; CPU time of one core")
    print(f"assess, {len(frame)} tests of one guideline      {fast_s:8.2f} s")
    print(f"the same, a row for each repetition       {long_s:8.2f} s")
    print(f"assess, {len(everything)} tests of GL1 to GL12        {all_s:8.2f} s")
    print(f"loop of quantile, median, mannwhitneyu   {loop_s:8.2f} s   {result['ratio']:.0f} times as long")
    print(f"largest relative difference of ratios and p-values: {off:.1e}; violations {result['violations']}")


EFFECTS = (1.03, 1.05, 1.08, 1.15)
OPTIONS: dict[str, dict[str, Any]] = {"the default": {}, "as in the paper": {"strictness": "paper"}}


def print_error_rate(args: argparse.Namespace) -> None:
    """Print the share of planted violations that are found, by size, and of tests without one that are called violated."""
    design = neighbourhood_design(sizes=(1, 64, 4096))
    where = {"operation": "MPI_Neighbor_allgather", "topology": "moore", "n_dim": 2}
    rows = []
    for name, options in OPTIONS.items():
        false = clean = 0
        seen = {effect: [0, 0] for effect in EFFECTS}
        for seed in range(args.seed, args.seed + args.error_rate):
            effect = EFFECTS[seed % len(EFFECTS)]
            campaign = simulated_campaign(design, [(where, effect)], seed=seed, n_runs=args.runs, n_repetitions=15)
            found = assess(campaign, [GUIDELINE, "reorder=1 <= reorder=0"], **options)
            frame = found.to_frame()
            planted = (frame["guideline"] == GUIDELINE) & (frame["topology"] == "moore") & (frame["n_dim"] == 2)
            violated = frame["state"] == "violated"
            seen[effect][0] += int((violated & planted).sum())
            seen[effect][1] += int(planted.sum())
            false, clean = false + int((violated & ~planted).sum()), clean + int((~planted).sum())
        rows.append({"how": name, "found": {str(e): a / max(b, 1) for e, (a, b) in seen.items()}, "false": false, "clean": clean})
    if args.json:
        print(json.dumps(rows))
        return
    print(f"simulated: {args.error_rate} campaigns of {args.runs} runs, noise of an experiment in a run 2 %, of runs 5 %")
    for row in rows:
        shares = ", ".join(f"{e}: {100 * share:.0f} %" for e, share in row["found"].items())
        print(f"{row['how']:<26} found of {shares}; false alarms {row['false']} of {row['clean']}")


def _text(level: object) -> str:
    return "" if pd.isna(level) else str(level)


if __name__ == "__main__":
    main()
