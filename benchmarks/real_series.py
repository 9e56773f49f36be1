"""How near predictions of a held-out largest scale come on series of real programs; Extra-P 4.2.5 beside it.

The series are in ``data/real``: C++ kernels (``real_kernels.cpp``) and Python functions (``real_functions.py``) by the CPU clock,
MPI programs (``real_programs.c``) in virtual time; and collective operations of three libraries in virtual time, and MAFIA. The
largest setting of each is left out, both tools model the others, and each predicts the statistic that it models there: scalkit
the first quartile, Extra-P the mean. scalkit knows no expectation but the class, a power or an exponential: no growth is more
probable than others because it was claimed.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from judging import extrap_answers

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "data" / "real"
LIBRARIES = ("mpich-5.0.2", "openmpi-5.0.11", "intel-2021.16.0")
NEAR = 0.001  # relative errors that differ by less are equal
LEAST = 6  # settings, the held-out one included


def series_of(path: Path) -> dict[str, dict[float, list[float]]]:
    """Return the values of each series of a table ``name,n,repetition,seconds``, setting by setting."""
    found: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    with path.open() as lines:
        for row in csv.reader(line for line in lines if not line.startswith(("#", "name,"))):
            found[row[0]][float(row[1])].append(float(row[3]))
    return found


def held_out(data: Any, name: str, group: str) -> dict[str, Any] | None:
    """Return the series of one function without its largest setting, which is to be predicted; None if too little is left."""
    parameter = data.attrs["parameter"]
    data = data.sel(function=[name]).drop_vars("operations", errors="ignore")
    values = data.time.to_numpy().reshape(data.sizes[parameter], -1)
    data = data.isel({parameter: np.isfinite(values).any(axis=1)})
    values = data.time.to_numpy().reshape(data.sizes[parameter], -1)
    if len(values) < LEAST or np.nanmin(values) <= 0:
        return None
    x = data[parameter].to_numpy().astype(float).tolist()
    y = [row[np.isfinite(row)].tolist() for row in values]
    known = data.isel({parameter: slice(None, -1)})
    return {"group": group, "name": name, "data": known, "x": x[:-1], "y": y[:-1], "at": x[-1], "held": y[-1]}


def cases() -> list[dict[str, Any]]:
    """Return all series with at least five settings to model and one to predict."""
    import scalkit as sk

    found = []
    for path in sorted(DATA.glob("*.csv")):
        for name, values in series_of(path).items():
            y = [values[at] for at in sorted(values)]
            width = max(len(row) for row in y)
            rows = [row + [float("nan")] * (width - len(row)) for row in y]
            found.append(held_out(sk.measurements(sorted(values), rows, name=name, parameter="n"), name, path.stem))
    folders = [ROOT / "data" / size / library for size in ("virtual", "virtual-256") for library in LIBRARIES]
    for folder in [*folders, *(ROOT / "data" / "mafia" / mafia for mafia in ("m1", "m2", "m3"))]:
        data = sk.read(folder)
        found += [held_out(data, name, folder.parent.name) for name in data.function.to_numpy().tolist()]
    return [case for case in found if case]


def by_scalkit(all_cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    import scalkit as sk
    from scalkit.judge.along_one import judge
    from scalkit.measure import series

    found = []
    for case in all_cases:
        growth = "2^" if case["group"] == "mafia" else ""
        expected = sk.Expectation(growth + case["data"].attrs["parameter"])
        one = next(one for one in series(case["data"]) if one.metric == "time")
        (verdict,) = judge([(one, expected, sk.SearchSpace.around(expected))], knows_claim=False)
        low, high = verdict.interval(case["at"])
        found.append(
            {
                "shown": float(verdict.model.by_formula(case["at"])),
                "predicted": float(verdict.model(case["at"])),
                "inside": bool(low <= np.quantile(case["held"], 0.25) <= high),
                "growth": str(verdict.model.growth),
            }
        )
    return found


def errors_of(all_cases: list[dict[str, Any]], beside: bool) -> list[dict[str, Any]]:
    answers = by_scalkit(all_cases)
    others = extrap_answers([{"x": c["x"], "y": c["y"], "at": [c["at"]]} for c in all_cases]) if beside else answers
    found = []
    for case, mine, other in zip(all_cases, answers, others, strict=True):
        quartile, mean = np.quantile(case["held"], 0.25), np.mean(case["held"])
        found.append(
            {
                "group": case["group"],
                "name": case["name"],
                "shown": abs(mine["shown"] / quartile - 1),
                "predicted": abs(mine["predicted"] / quartile - 1),
                "inside": mine["inside"],
                "growth": mine["growth"],
                "extrap": abs(other["later"][0] / mean - 1) if beside else float("nan"),
                "extrap_growth": "p^{} log(p)^{}".format(*other["growth"]) if beside else "",
            }
        )
    return found


def summary(rows: list[dict[str, Any]], key: str = "predicted") -> str:
    mine, other = (np.array([row[k] for row in rows]) for k in (key, "extrap"))
    nearer, farther = (mine < other - NEAR).sum(), (mine > other + NEAR).sum()
    inside = np.mean([row["inside"] for row in rows])
    parts = [f"{len(rows):4d} | {nearer:3d} : {farther:3d}"]
    parts += [f"{100 * np.quantile(e, q):6.1f}" for q in (0.5, 0.9) for e in (mine, other)]
    return " | ".join([*parts, f"{100 * inside:3.0f}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-extrap", action="store_true")
    parser.add_argument("--each", action="store_true", help="one line for each series")
    args = parser.parse_args()
    rows = errors_of(cases(), not args.no_extrap)
    if args.each:
        for row in sorted(rows, key=lambda row: row["extrap"] - row["predicted"]):
            print(
                f"{row['group']:10s} {row['name']:30s} {100 * row['shown']:8.1f} {100 * row['predicted']:8.1f} "
                f"{100 * row['extrap']:8.1f}  {row['growth']:20s} {row['extrap_growth']}"
            )
    print("series of real programs; median and 90 % quantile of the relative error at the held-out setting")
    print("group      key       |    n | nearer   | median | Extra-P | p90 | Extra-P | in 90 % interval")
    for group in (*sorted({row["group"] for row in rows}), "all"):
        chosen = [row for row in rows if group in (row["group"], "all")]
        for key in ("shown", "predicted"):
            print(f"{group:10s} {key:9s} | {summary(chosen, key)}")


if __name__ == "__main__":
    main()
