"""The growth of the 22 functions of `python_functions.py` as big_O and Google Benchmark's Complexity name it, beside `sk.check`.

    python benchmarks/growth_beside.py --budget 4

Both measure anew: Google Benchmark (oAuto, six classes) at the sizes that `sk.check` chose, big_O (nine classes) at as many that
are evenly spaced between the least and the largest. They always name one: right is the true growth, wrong any other. `sk.check`
is asked about the true growth and answers fine (right), fix (wrong) or cannot tell. Needs big-O and google-benchmark; one that is
absent is left out.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import io
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from python_functions import FUNCTIONS, Function, is_there

import scalkit as sk

BIG_O = {
    "Constant": "1",
    "Logarithmic": "log n",
    "Linear": "n",
    "Linearithmic": "n log n",
    "Quadratic": "n^2",
    "Cubic": "n^3",
    "Exponential": "2^n",
    "Polynomial": "n^k",
}
GOOGLE = {"(1)": "1", "lgN": "log n", "N": "n", "NlgN": "n log n", "N^2": "n^2", "N^3": "n^3"}


def arguments(function: Function, n: int) -> tuple[Any, ...]:
    made = function.setup(int(n))
    return made if isinstance(made, tuple) else (made,)


def by_big_o(function: Function, sizes: list[int]) -> str:
    big_o = importlib.import_module("big_o")
    try:
        best, _ = big_o.big_o(
            lambda args: function.call(*args),
            lambda n: arguments(function, n),
            min_n=sizes[0],
            max_n=sizes[-1],
            n_measures=len(sizes),
            n_repeats=1 if function.fresh else 3,
        )
    except IndexError:  # of its least squares, where two columns are the same number
        return "error"
    return BIG_O.get(type(best).__name__, type(best).__name__)


def registered(google: Any, function: Function, sizes: list[int]) -> None:
    """Register a function with Google Benchmark; those that change their arguments pause for new ones."""

    def run(state: Any) -> None:
        args = arguments(function, state.range(0))
        while state:
            if function.fresh:
                state.pause_timing()
                args = arguments(function, state.range(0))
                state.resume_timing()
            function.call(*args)
        state.complexity_n = state.range(0)

    made: Any = run
    for size in reversed(sizes):
        made = google.option.arg(size)(made)
    google.register(google.option.complexity(google.oAuto)(made), name=function.name)


def by_google(plan: dict[str, list[int]]) -> None:
    """Run all of Google Benchmark in this process, which it may do once, and print its JSON."""
    google = importlib.import_module("google_benchmark")
    for function in FUNCTIONS:
        if function.name in plan:
            registered(google, function, plan[function.name])
    google.initialize(["x", "--benchmark_min_time=0.05s", "--benchmark_format=json"])
    google.run_benchmarks()


def google_names(plan: dict[str, list[int]]) -> dict[str, str]:
    """Return the growth that Google Benchmark names, by function."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        code = f"import runpy, sys; sys.path[:] = {sys.path!r}; sys.argv = ['x', '--google', {folder + '/plan.json'!r}]; "
        code += f"runpy.run_path({__file__!r}, run_name='__main__')"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)["benchmarks"]
    return {row["run_name"]: GOOGLE.get(row["big_o"], row["big_o"]) for row in rows if "big_o" in row}


def main() -> None:
    """Print a line for each function and the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, default=4.0)
    parser.add_argument("--only", default="", help="functions whose name has this in it")
    parser.add_argument("--google", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.google:
        by_google(json.loads(Path(args.google).read_text(encoding="utf-8")))
        return
    chosen = [one for one in FUNCTIONS if args.only in one.name and is_there(one)]
    answers, plan, named = {}, {}, {}
    for function in chosen:
        with contextlib.redirect_stdout(io.StringIO()):
            found = sk.check(function.call, function.truth, function.setup, fresh=function.fresh, budget=args.budget)
        answers[function.name] = found.answer
        plan[function.name] = [int(size) for size in found.along_one[0].series.x]
        if importlib.util.find_spec("big_o"):
            named[function.name] = by_big_o(function, plan[function.name])
    google = google_names(plan) if importlib.util.find_spec("google_benchmark") else {}
    for function in chosen:
        told = named.get(function.name, "-"), google.get(function.name, "-")
        print(f"{function.name:24} {function.truth:8} {answers[function.name]:12} big_O {told[0]:8} Google {told[1]}", flush=True)
    print("sk.check:", dict(Counter(answers.values())))
    for name, theirs in (("big_O", named), ("Google Benchmark", google)):
        right = sum(theirs.get(one.name) == one.truth for one in chosen)
        print(f"{name}: " + (f"{right} right, {len(chosen) - right} wrong" if theirs else "not installed"))


if __name__ == "__main__":
    main()
