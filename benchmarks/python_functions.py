"""`sk.check` on 22 Python functions, with their true growth and with claims that are too optimistic.

Prints a line for each: the answer, whether it is right, and the seconds that it took. A right claim is judged right by "fine", a
wrong one by "fix"; "cannot tell" is neither. Functions of packages that are not installed are left out, and named.
"""

from __future__ import annotations

import argparse
import bisect
import heapq
import importlib
import json
import os
import random
import textwrap
import time
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import scalkit as sk


@dataclass(frozen=True)
class Function:
    """A function, what makes its arguments, how it grows, and claims that are too optimistic."""

    name: str
    call: Callable[..., object]
    setup: Callable[[int], object]
    truth: str
    wrong: tuple[str, ...] = ()
    fresh: bool = False


GENERATOR, NUMPY_GENERATOR = random.Random(1), np.random.default_rng(1)
"""Inputs of a size differ, as a processor learns the branches of one that is always the same."""


def values(n: int) -> list[float]:
    return [GENERATOR.random() for _ in range(n)]


def whole(n: int) -> list[int]:
    return list(range(n))


def appended(n: int) -> object:
    found: list[int] = []
    for k in range(n):
        found.append(k)
    return found


def list_plus(n: int) -> object:
    found: list[int] = []
    for k in range(n):
        found = found + [k]  # noqa: RUF005
    return found


def text_plus(n: int) -> str:
    text = ""
    for _ in range(n):
        text += "x"
    return text


def text_before(n: int) -> str:
    text = ""
    for _ in range(n):
        text = "x" + text
    return text


def duplicates(items: list[int]) -> bool:
    return any(items[i] == items[k] for i in range(len(items)) for k in range(i))


def emptied(items: list[int]) -> None:
    while items:
        items.pop(0)


def counted(n: int) -> None:
    for _ in range(2**n):
        pass


def table(n: int) -> tuple[dict[int, int], int]:
    return {k: k for k in range(n)}, n // 2


def graph(n: int) -> Any:
    nx = importlib.import_module("networkx")
    return nx.gnm_random_graph(n, 4 * n, seed=GENERATOR)


def of_networkx(name: str) -> Callable[..., object]:
    def call(made: Any) -> object:
        nx = importlib.import_module("networkx")
        if name == "bfs":
            return list(nx.bfs_edges(made, 0))
        return nx.single_source_dijkstra_path_length(made, 0) if name == "dijkstra" else nx.floyd_warshall(made)

    return call


def frame(n: int) -> Any:
    keys = NUMPY_GENERATOR.integers(0, 100, n)
    return importlib.import_module("pandas").DataFrame({"key": keys, "value": np.arange(n, dtype=float)})


def lookup(made: dict[int, int], key: int) -> int:
    return made[key]


def tree(points: Any) -> object:
    return importlib.import_module("scipy.spatial").cKDTree(points)


def transformed(x: Any) -> object:
    return importlib.import_module("scipy.fft").fft(x)


def noise(n: int) -> Any:
    return NUMPY_GENERATOR.random(n)


def two_squares(n: int) -> tuple[Any, Any]:
    return noise(n * n).reshape(n, n), noise(n * n).reshape(n, n)


def random_bytes(n: int) -> bytes:
    return GENERATOR.randbytes(n)


FUNCTIONS = (
    Function("sorted", sorted, values, "n log n", ("n",)),
    Function("np.sort", np.sort, noise, "n log n", ("n",)),
    Function("sum", sum, whole, "n", ("1", "log n")),
    Function("dict lookup", lookup, table, "1"),
    Function("bisect", bisect.bisect, lambda n: (range(n), n // 3), "log n", ("1",)),
    Function("heapify", heapq.heapify, values, "n", ("log n",), fresh=True),
    Function("list.pop(0)", lambda items: items.append(items.pop(0)), whole, "n", ("1",)),
    Function("list.pop(0) to the end", emptied, whole, "n^2", ("n",), fresh=True),
    Function("l = l + [i]", list_plus, lambda n: n, "n^2", ("n",)),
    Function("append", appended, lambda n: n, "n", ("1",)),
    Function("s += 'x'", text_plus, lambda n: n, "n", ("log n",)),
    Function("s = 'x' + s", text_before, lambda n: n, "n^2", ("n",)),
    Function("duplicates, two loops", duplicates, whole, "n^2", ("n", "n log n")),
    Function("networkx dijkstra", of_networkx("dijkstra"), graph, "n log n", ("n",)),
    Function("networkx bfs", of_networkx("bfs"), graph, "n"),
    Function("networkx floyd-warshall", of_networkx("floyd"), graph, "n^3", ("n^2",)),
    Function("pandas groupby.sum", lambda made: made.groupby("key").sum(), frame, "n"),
    Function("np.matmul", np.matmul, two_squares, "n^3", ("n^2",)),
    Function("scipy fft", transformed, noise, "n log n", ("n",)),
    Function("cKDTree", tree, lambda n: noise(3 * n).reshape(n, 3), "n log n", ("n",)),
    Function("zlib", zlib.compress, random_bytes, "n"),
    Function("2^n loop", counted, lambda n: n, "2^n", ("n^2",)),
)


def is_there(function: Function) -> bool:
    needed = function.name.split(" ", 1)[0].split(".", 1)[0].replace("cKDTree", "scipy")
    if needed not in ("networkx", "pandas", "scipy"):
        return True
    try:
        importlib.import_module(needed)
    except ModuleNotFoundError:
        return False
    return True


def tried(function: Function, claim: str, budget: float) -> dict[str, Any]:
    begin = time.monotonic()
    try:
        found = sk.check(function.call, claim, function.setup, fresh=function.fresh, budget=budget)
        answer, text = found.answer, str(found)
    except sk.errors.ScalkitError as error:
        answer, text = "cannot tell", str(error)
    right = {"fine": claim == function.truth, "fix": claim != function.truth}.get(answer)
    outcome = "undecided" if right is None else "right" if right else "WRONG"
    seconds = time.monotonic() - begin
    said = f"{function.name:24} {claim:8} {answer:12} {outcome:10} {seconds:5.1f} s"
    print(said, "" if right else f"\n{textwrap.indent(text, '    ')}", flush=True)
    return {"function": function.name, "claim": claim, "answer": answer, "outcome": outcome, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=float, default=4.0, help="seconds of each (default: %(default)s)")
    parser.add_argument("--only", default="", help="functions whose name has this in it")
    parser.add_argument("--times", type=int, default=1, help="of each (default: %(default)s)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    chosen = [one for one in FUNCTIONS if args.only in one.name]
    absent = [one.name for one in chosen if not is_there(one)]
    claims = [(one, claim) for one in chosen if one.name not in absent for claim in (one.truth, *one.wrong)]
    rows = [tried(one, claim, args.budget) for one, claim in claims for _ in range(args.times)]
    for is_true, words in ((True, "right claims"), (False, "wrong claims")):
        truths = {one.name: one.truth for one in chosen}
        some = [row for row in rows if (truths[row["function"]] == row["claim"]) == is_true]
        counts = Counter(row["outcome"] for row in some)
        print(f"{len(some)} {words}: " + ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    longest = max(row["seconds"] for row in rows)
    print(f"longest {longest:.1f} s; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if absent:
        print(f"not installed: {', '.join(absent)}")
    if args.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
