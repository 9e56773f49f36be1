"""Functions in Python and C kernels whose true growth is known, for `real_times.py`."""

from __future__ import annotations

import bisect
import copy
import csv
import decimal
import fractions
import functools
import hashlib
import heapq
import importlib.util
import io
import itertools
import json
import math
import operator
import os
import pickle
import random
import re
import statistics
import sys
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

ROOT_2 = math.sqrt(2.0)


@dataclass(frozen=True)
class Growth:
    """A true growth n^power * log(n)^log, and the text that says it exactly."""

    text: str

    @functools.cached_property
    def exponents(self) -> tuple[float, int]:
        power, log = 0.0, 0
        for factor in self.text.split("*"):
            if found := re.fullmatch(r"n(?:\^\(?([\d./]+)\)?)?", factor):
                power += float(fractions.Fraction(found[1] or "1"))
            elif found := re.fullmatch(r"log\(n\)(?:\^(\d))?", factor):
                log += int(found[1] or "1")
            elif factor not in ("1", "log(log(n))"):
                raise ValueError(f"the growth {self.text!r} cannot be read")
        return power, log

    @property
    def claims(self) -> dict[str, str | None]:
        power, log = self.exponents
        less = (power, log - 1) if log else (power - 0.25, 0)
        return {
            "true": written(power, log),
            "near": written(*less) if less[0] >= 0 else None,
            "wrong": written(power - 0.5, log) if power >= 0.5 else None,
        }


def written(power: float, log: int) -> str:
    """Return n^power * log(n)^log as text."""
    exact = fractions.Fraction(power)
    shown = exact if exact.denominator in (1, 2, 4) else round(power, 4)
    factors = [] if not power else ["n"] if power == 1 else [f"n^({shown})"]
    if log:
        factors.append("log(n)" if log == 1 else f"log(n)^{log}")
    return "*".join(factors).replace("n^(2)", "n^2").replace("n^(3)", "n^3") or "1"


def of_c(_: object) -> Any:
    """Stand for what a C kernel does itself."""


@dataclass(frozen=True)
class Function:
    """A Python function or, without `setup` and `call`, a C kernel.

    `memory`: how its peak of bytes grows; empty if unknown or too small to be measured.
    `fresh`: it changes its argument, so each call gets a copy.
    `first`, `step`, `cap`: the sizes that are tried.
    `only_doubling`: it wants powers of two.
    """

    name: str
    growth: str
    setup: Callable[[int], Any] = of_c
    call: Callable[[Any], object] = of_c
    memory: str = ""
    fresh: bool = False
    first: int = 16
    step: float = 2.0
    cap: int = 2**21
    only_doubling: bool = False
    note: str = ""

    @property
    def language(self) -> str:
        return "C" if self.call is of_c else "Python"

    @property
    def split(self) -> str:
        """`train` or `test`, by a hash of language and name."""
        digest = hashlib.sha256(f"{self.language}: {self.name}".encode()).digest()
        return "train" if digest[0] % 2 else "test"

    def sizes(self) -> Iterator[int]:
        """All sizes that may be tried, ascending."""
        k, before = 0, 0
        while (n := round(self.first * self.step**k)) <= self.cap:
            if n > before:
                yield n
            k, before = k + 1, n


draw = 0
"""Which of the inputs of a size is made; the benchmark counts it up. Parts of a few inputs are the same for all."""


def generator(n: int) -> np.random.Generator:
    return np.random.default_rng((n, draw))


def python_generator(n: int) -> random.Random:
    return random.Random(n + (draw << 64))


def floats(n: int) -> Any:
    return generator(n).random(n).tolist()


def whole(n: int) -> list[int]:
    return list(range(n))


def permuted(n: int) -> Any:
    return generator(n).permutation(n).tolist()


def noise(n: int) -> Any:
    return generator(n).random(n)


def square(n: int) -> Any:
    return noise(n * n).reshape(n, n) + n * np.eye(n)


def int_grid(n: int) -> Any:
    return np.arange(n * n).reshape(n, n)


def symmetric(n: int) -> Any:
    made = noise(n * n).reshape(n, n)
    return made + made.T + 2 * n * np.eye(n)


def points(n: int) -> Any:
    return noise(3 * n).reshape(n, 3)


def flat_points(n: int) -> Any:
    return points(n)[:, :2]


def rows(n: int) -> Any:
    return noise(n * n).reshape(n, n).tolist()


def same(n: int) -> int:
    return n


def letters(n: int) -> str:
    return bytes(generator(n).integers(97, 101, n, dtype=np.uint8)).decode()


def words(n: int) -> list[str]:
    """Return n of a thousand words."""
    return [f"word{k}" for k in generator(n).integers(0, 1000, n).tolist()]


def text(n: int) -> str:
    return " ".join(words(n))


def records(n: int) -> list[dict[str, object]]:
    return [{"id": k, "name": f"item {k}", "price": k / 7} for k in range(n)]


def lettered(n: int) -> bytes:
    return letters(n).encode()


def two_texts(n: int) -> tuple[str, str]:
    return letters(n), letters(n + 1)


def looked_up(n: int) -> tuple[list[float], list[float]]:
    """Return n sorted values and a thousand to search."""
    return sorted(floats(n)), floats(1000)


def keyed(n: int) -> tuple[dict[int, int], list[int]]:
    """Return a dict of n keys and ten thousand of them."""
    keys = permuted(n)
    return {k: k for k in keys}, python_generator(n).choices(keys, k=10_000)


def heap_and_more(n: int) -> tuple[list[float], list[float]]:
    heap = floats(n)
    heapq.heapify(heap)
    return heap, floats(1000)


def neighbours(n: int) -> Any:
    """Return the neighbours of each node of a random graph of out-degree four."""
    return generator(n).integers(0, n, (n, 4)).tolist()


def bits(n: int) -> int:
    return python_generator(n).getrandbits(n) | (1 << (n - 1))


def digits(n: int) -> Any:
    return 10**n - 1


def frame(n: int) -> Any:
    """Return a table of n rows with a hundred keys."""
    random_numbers = generator(n)
    columns = {"key": random_numbers.integers(0, 100, n), "id": random_numbers.permutation(n)}
    return importlib.import_module("pandas").DataFrame({**columns, "value": random_numbers.random(n)})


def sparse_graph(n: int) -> Any:
    """Return a sparse matrix of n rows with four weights each, at random places."""
    random_numbers = generator(n)
    ends = (np.repeat(np.arange(n), 4), random_numbers.integers(0, n, 4 * n))
    made = importlib.import_module("scipy.sparse").coo_array((random_numbers.random(4 * n) + 0.1, ends))
    made.resize((n, n))
    return made.tocsr()


def banded(n: int) -> Any:
    module = importlib.import_module("scipy.sparse")
    parts = [np.full(n, value) for value in (-1.0, 2.5, -1.0)]
    return module.dia_array((np.array(parts), [-1, 0, 1]), shape=(n, n)).tocsc()


def graph(n: int) -> Any:
    """Return a random weighted graph of networkx with n nodes and 4 n edges."""
    made = importlib.import_module("networkx").gnm_random_graph(n, 4 * n, seed=n)
    weights = floats(4 * n)
    for (_, _, attributes), weight in zip(made.edges(data=True), weights, strict=False):
        attributes["weight"] = weight + 0.01
    return made


def dense_graph(n: int) -> Any:
    return importlib.import_module("networkx").gnm_random_graph(n, 2 * n, seed=n)


def of(module: str, name: str, *arguments: Any, **options: Any) -> Callable[[Any], object]:
    """Return a function of a package, imported when it is called first."""

    @functools.cache
    def found() -> Any:
        return getattr(importlib.import_module(module), name)

    return lambda made: found()(made, *arguments, **options)


def appended(n: int) -> list[int]:
    found = []
    for k in range(n):
        found.append(k)
    return found


def list_plus(n: int) -> list[int]:
    found: list[int] = []
    for k in range(n):
        found = found + [k]  # noqa: RUF005
    return found


def text_before(n: int) -> str:
    found = ""
    for _ in range(n):
        found = "x" + found
    return found


def duplicates(items: list[int]) -> bool:
    return any(items[i] == items[k] for i in range(len(items)) for k in range(i))


def emptied(items: list[int]) -> None:
    while items:
        items.pop(0)


def rotated(items: list[int]) -> int:
    ring = deque(items)
    for _ in range(len(items)):
        ring.append(ring.popleft())
    return ring[0]


def searched(made: tuple[list[float], list[float]]) -> int:
    return sum(bisect.bisect(made[0], value) for value in made[1])


def got(made: tuple[dict[int, int], list[int]]) -> int:
    table, keys = made
    return sum(table[k] for k in keys)


def passed_through(made: tuple[list[float], list[float]]) -> float:
    heap, more = made
    return sum(heapq.heappushpop(heap, value) for value in more)


def heap_sorted(items: list[float]) -> list[float]:
    heap: list[float] = []
    for value in items:
        heapq.heappush(heap, value)
    return [heapq.heappop(heap) for _ in range(len(heap))]


def merge_sorted(items: list[float]) -> list[float]:
    if len(items) < 2:
        return items
    left, right = merge_sorted(items[: len(items) // 2]), merge_sorted(items[len(items) // 2 :])
    found, i, k = [], 0, 0
    while i < len(left) and k < len(right):
        if left[i] <= right[k]:
            found.append(left[i])
            i += 1
        else:
            found.append(right[k])
            k += 1
    return found + left[i:] + right[k:]


def insertion_sorted(items: list[float]) -> list[float]:
    found = items.copy()
    for i in range(1, len(found)):
        value, k = found[i], i
        while k and found[k - 1] > value:
            found[k] = found[k - 1]
            k -= 1
        found[k] = value
    return found


def bubble_sorted(items: list[float]) -> list[float]:
    found = items.copy()
    for end in range(len(found) - 1, 0, -1):
        for k in range(end):
            if found[k] > found[k + 1]:
                found[k], found[k + 1] = found[k + 1], found[k]
    return found


def edits(made: tuple[str, str]) -> int:
    """Return the edit distance, of which two rows are kept."""
    first, second = made
    row = list(range(len(second) + 1))
    for i, a in enumerate(first):
        last, row = row, [i + 1]
        for k, b in enumerate(second):
            row.append(min(last[k] + (a != b), last[k + 1] + 1, row[k] + 1))
    return row[-1]


def common(made: tuple[str, str]) -> int:
    """Return the length of the longest common subsequence, of which all rows are kept."""
    first, second = made
    table = [[0] * (len(second) + 1)]
    for a in first:
        last, row = table[-1], [0]
        for k, b in enumerate(second):
            row.append(last[k] + 1 if a == b else max(last[k + 1], row[k]))
        table.append(row)
    return table[-1][-1]


def chained(n: int) -> float:
    """Return the cheapest order of n matrix products."""
    shape = [k % 7 + 3 for k in range(n + 1)]
    cost = [[0] * n for _ in range(n)]
    for width in range(1, n):
        for i in range(n - width):
            end = i + width
            both = shape[i] * shape[end + 1]
            ways = range(i, end)
            cost[i][end] = min(cost[i][k] + cost[k + 1][end] + both * shape[k + 1] for k in ways)
    return cost[0][-1]


def sieved(n: int) -> int:
    is_prime = bytearray([1]) * (n + 1)
    for p in range(2, math.isqrt(n) + 1):
        if is_prime[p]:
            is_prime[p * p :: p] = bytes(len(range(p * p, n + 1, p)))
    return sum(is_prime)


def divided(n: int) -> int:
    """Return by how many numbers up to its root n can be divided."""
    return sum(n % d == 0 for d in range(1, math.isqrt(n) + 1))


def all_divided(n: int) -> int:
    return sum(divided(k) for k in range(1, n + 1))


def multiples(n: int) -> list[int]:
    """Return the number of divisors of each number up to n."""
    found = [0] * (n + 1)
    for d in range(1, n + 1):
        for k in range(d, n + 1, d):
            found[k] += 1
    return found


def triples(n: int) -> int:
    return sum(1 for a, b, c in itertools.combinations(range(n), 3) if a ^ b ^ c == 0)


def pairs(n: int) -> int:
    return sum(1 for a, b in itertools.combinations(range(n), 2) if a ^ b == 1)


def shortest_paths(weights: list[list[float]]) -> list[list[float]]:
    """Return the distances that Floyd and Warshall find."""
    found = [row.copy() for row in weights]
    for k, through in enumerate(found):
        for row in found:
            so_far = row[k]
            for j, value in enumerate(through):
                if so_far + value < row[j]:
                    row[j] = so_far + value
    return found


def multiplied(made: list[list[float]]) -> list[list[float]]:
    columns = list(zip(*made, strict=True))
    return [[sum(map(operator.mul, row, column)) for column in columns] for row in made]


def polynomials(items: list[float]) -> list[float]:
    found = [0.0] * (2 * len(items))
    for i, a in enumerate(items):
        for k, b in enumerate(items):
            found[i + k] += a * b
    return found


def visited(near: list[list[int]]) -> int:
    seen, queue = {0}, deque([0])
    while queue:
        for other in near[queue.popleft()]:
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return len(seen)


def united(items: list[int]) -> int:
    parent = list(range(len(items)))

    def root(k: int) -> int:
        while parent[k] != k:
            parent[k] = k = parent[parent[k]]
        return k

    for k, other in enumerate(items):
        parent[root(k)] = root(other)
    return parent[0]


def zero_sums(items: list[float]) -> int:
    """Count triples near zero with two ends that move towards each other."""
    ordered, found = sorted(value - 0.5 for value in items), 0
    for i in range(len(ordered)):
        low, high = i + 1, len(ordered) - 1
        while low < high:
            total = ordered[i] + ordered[low] + ordered[high]
            found += abs(total) < 1e-9
            low, high = (low + 1, high) if total < 0 else (low, high - 1)
    return found


def subsequence(items: list[float]) -> int:
    """Return the length of the longest ascending subsequence."""
    ends: list[float] = []
    for value in items:
        at = bisect.bisect_left(ends, value)
        ends[at : at + 1] = [value]
    return len(ends)


def fibonacci(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def csv_text(items: list[dict[str, object]]) -> str:
    out = io.StringIO()
    csv.DictWriter(out, ["id", "name", "price"]).writerows(items)
    return out.getvalue()


def fraction_sum(n: int) -> fractions.Fraction:
    return sum((fractions.Fraction(k % 7, 12) for k in range(n)), fractions.Fraction(0))


def decimal_roots(n: int) -> decimal.Decimal:
    return sum((decimal.Decimal(k).sqrt() for k in range(n)), decimal.Decimal(0))


def decimal_digits(value: int) -> str:
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    return str(value)


def tree_and_points(n: int) -> tuple[Any, Any]:
    made = importlib.import_module("scipy.spatial").cKDTree(points(n))
    return made, np.random.default_rng(0).random((n, 3))


def two_frames(n: int) -> tuple[Any, Any]:
    return frame(n), frame(n + 1)


def matrix_and_vector(n: int) -> tuple[Any, Any]:
    return sparse_graph(n), noise(n)


def condensed(n: int) -> Any:
    return importlib.import_module("scipy.spatial.distance").pdist(points(n))


def solved(made: Any) -> object:
    return np.linalg.solve(made, made[0])


def spanning(made: Any) -> object:
    return list(importlib.import_module("networkx").minimum_spanning_edges(made))


def breadth_first(made: Any) -> object:
    return list(importlib.import_module("networkx").bfs_edges(made, 0))


def all_lengths(made: Any) -> object:
    module = importlib.import_module("networkx")
    return sum(len(found) for _, found in module.all_pairs_shortest_path_length(made))


def components(made: Any) -> int:
    return sum(1 for _ in importlib.import_module("networkx").connected_components(made))


LINKAGE = of("scipy.cluster.hierarchy", "linkage")
SPANNING = of("scipy.sparse.csgraph", "minimum_spanning_tree")
SHORTEST = of("scipy.sparse.csgraph", "dijkstra", indices=0)
COMPONENTS = of("scipy.sparse.csgraph", "connected_components")
FILTER = of("scipy.ndimage", "gaussian_filter", 2.0)
LENGTHS = of("networkx", "single_source_dijkstra_path_length", 0)
ALL_PATHS = of("networkx", "floyd_warshall")
LINEAR_BELOW = "a linear part is the larger one at small sizes"
WINDOW = "it searches the last 32768 bytes, so it grows faster below"
RANDOM = "the choice of pivots decides"
CACHES = "no growth but that of memory access"
BLAS = "OpenBLAS, one thread: small matrices use it worse"

PYTHON: tuple[Function, ...] = (
    Function("sorted", "n*log(n)", floats, sorted, memory="n"),
    Function("sorted, already sorted", "n", whole, sorted, memory="n"),
    Function("sorted, reversed", "n", lambda n: whole(n)[::-1], sorted),
    Function("list.sort by key", "n*log(n)", floats, lambda a: a.sort(key=abs), "n", fresh=True),
    Function("sum", "n", floats, sum),
    Function("max", "n", floats, max),
    Function("math.fsum", "n", floats, math.fsum),
    Function("set", "n", permuted, set, memory="n"),
    Function("dict comprehension", "n", permuted, lambda a: {k: k for k in a}, memory="n"),
    Function("set intersection", "n", permuted, lambda a: set(a) & set(a[::2]), memory="n"),
    Function("bisect, 1000 searches", "log(n)", looked_up, searched),
    Function("dict, 10000 lookups", "1", keyed, got, note=CACHES),
    Function("heappushpop, 1000 times", "log(n)", heap_and_more, passed_through),
    Function("heapify", "n", floats, heapq.heapify, fresh=True),
    Function("heap sort", "n*log(n)", floats, heap_sorted, memory="n"),
    Function("list.pop(0) to the end", "n^2", whole, emptied, fresh=True, note=LINEAR_BELOW),
    Function("append", "n", same, appended, memory="n"),
    Function("list + in a loop", "n^2", same, list_plus, memory="n", note=LINEAR_BELOW),
    Function("prefix + text in a loop", "n^2", same, text_before, memory="n", note=LINEAR_BELOW),
    Function("deque rotated", "n", whole, rotated, memory="n"),
    Function("join", "n", words, " ".join, memory="n"),
    Function("split", "n", text, str.split, memory="n"),
    Function("str.replace", "n", text, lambda a: a.replace("word1", "w"), memory="n"),
    Function("str.find, absent", "n", letters, lambda a: a.find("abcx"), cap=2**25),
    Function("re.findall", "n", text, lambda a: re.findall(r"word(\d+)", a), memory="n"),
    Function("re.sub", "n", text, lambda a: re.sub(r"d(\d)", r"\1d", a), memory="n"),
    Function("Counter of words", "n", words, Counter),
    Function("json.dumps", "n", records, json.dumps, memory="n"),
    Function("json.loads", "n", lambda n: json.dumps(records(n)), json.loads, memory="n"),
    Function("pickle.dumps", "n", records, pickle.dumps, memory="n"),
    Function("csv.DictWriter", "n", records, csv_text),
    Function("copy.deepcopy", "n", records, copy.deepcopy, memory="n"),
    Function("zlib.compress, noise", "n", lambda n: python_generator(n).randbytes(n), zlib.compress),
    Function("zlib.compress, letters", "n", lettered, zlib.compress, note=WINDOW),
    Function("sha256", "n", bytes, lambda a: hashlib.sha256(a).digest(), first=1024, cap=2**26),
    Function("crc32", "n", bytes, zlib.crc32, first=1024, cap=2**27),
    Function("random.shuffle", "n", whole, random.Random(1).shuffle, fresh=True),
    Function("reads in random order", "n", permuted, lambda a: sum([a[k] for k in a])),
    Function("statistics.median", "n*log(n)", floats, statistics.median, memory="n"),
    Function("statistics.fmean", "n", floats, statistics.fmean),
    Function("accumulate", "n", floats, lambda a: list(itertools.accumulate(a)), memory="n"),
    Function("sum of fractions", "n", same, fraction_sum),
    Function("sum of decimal roots", "n", same, decimal_roots),
    Function(
        "int product",
        "n^(1.585)",
        bits,
        lambda a: a * (a + 2),
        memory="n",
        first=2**10,
        cap=2**25,
        note="Karatsuba above 2100 bits, squares of digits below; n is the number of bits",
    ),
    Function("int to decimal text", "n^2", digits, decimal_digits, memory="n", first=64),
    Function("Fibonacci by addition", "n^2", same, fibonacci, cap=2**22, note=LINEAR_BELOW),
    Function("combinations of 3", "n^3", same, triples, step=ROOT_2, first=8),
    Function("combinations of 2", "n^2", same, pairs),
    Function("duplicates, two loops", "n^2", whole, duplicates),
    Function("insertion sort", "n^2", floats, insertion_sorted),
    Function("bubble sort", "n^2", floats, bubble_sorted),
    Function("merge sort", "n*log(n)", floats, merge_sorted, memory="n"),
    Function("edit distance", "n^2", two_texts, edits, memory="n", first=8),
    Function("common subsequence", "n^2", two_texts, common, memory="n^2", first=8),
    Function("matrix chain", "n^3", same, chained, memory="n^2", step=ROOT_2, first=5),
    Function("sieve", "n*log(log(n))", same, sieved, memory="n", cap=2**24),
    Function("trial division", "n^(1/2)", same, divided, step=4.0, first=2**12, cap=2**50),
    Function("divisors up to the root", "n^(3/2)", same, all_divided),
    Function("multiples of all", "n*log(n)", same, multiples, memory="n"),
    Function("Floyd-Warshall", "n^3", rows, shortest_paths, "n^2", step=ROOT_2, first=5),
    Function("matrix product", "n^3", rows, multiplied, memory="n^2", step=ROOT_2, first=5),
    Function("transposed", "n^2", rows, lambda a: list(zip(*a, strict=True)), "n^2", cap=2**12),
    Function("polynomial product", "n^2", floats, polynomials, memory="n"),
    Function("breadth-first search", "n", neighbours, visited),
    Function("union-find", "n", permuted, united, memory="n", note="times inverse Ackermann"),
    Function("triples near zero", "n^2", floats, zero_sums),
    Function("ascending subsequence", "n*log(n)", floats, subsequence, note="bisect is quick"),
    Function("list of pairs", "n^2", whole, lambda a: list(itertools.product(a, a)), "n^2"),
    Function("np.sort", "n*log(n)", noise, np.sort, memory="n", cap=2**24),
    Function("np.argsort", "n*log(n)", noise, np.argsort, memory="n"),
    Function("np.sort, stable", "n*log(n)", noise, lambda a: np.sort(a, kind="stable"), "n"),
    Function("np.cumsum", "n", noise, np.cumsum, memory="n", cap=2**24),
    Function("np.median", "n", noise, np.median, memory="n", cap=2**24),
    Function("np.exp", "n", noise, np.exp, memory="n", cap=2**24),
    Function("np.histogram", "n", noise, np.histogram, cap=2**22),
    Function("np.unique", "n*log(n)", noise, np.unique, memory="n"),
    Function("np.searchsorted", "n*log(n)", noise, lambda a: np.searchsorted(np.sort(a), a)),
    Function(
        "np.searchsorted, 10000 values",
        "log(n)",
        lambda n: (np.sort(noise(n)), noise(10_000)),
        lambda a: np.searchsorted(*a),
        cap=2**24,
    ),
    Function(
        "np.take, 10000 places",
        "1",
        lambda n: (noise(n), np.random.default_rng(0).integers(0, n, 10_000)),
        lambda a: np.take(*a),
        cap=2**25,
        note=CACHES,
    ),
    Function(
        "np.take, all places",
        "n",
        lambda n: (noise(n), np.random.default_rng(0).permutation(n)),
        lambda a: np.take(*a),
        memory="n",
        cap=2**24,
    ),
    Function("np.fft", "n*log(n)", noise, np.fft.fft, memory="n", cap=2**22),
    Function("np.convolve", "n^2", noise, lambda a: np.convolve(a, a), memory="n"),
    Function("np.outer", "n^2", noise, lambda a: np.outer(a, a), memory="n^2", cap=2**13),
    Function("np matrix product", "n^3", square, lambda a: a @ a, "n^2", step=ROOT_2, note=BLAS),
    Function("np matrix product, integers", "n^3", int_grid, lambda a: a @ a, "n^2", step=ROOT_2),
    Function("np matrix by vector", "n^2", square, lambda a: a @ a[0], cap=2**13, note=BLAS),
    Function("np.linalg.solve", "n^3", square, solved, step=ROOT_2, note=BLAS),
    Function("np.linalg.svd", "n^3", square, np.linalg.svd, "n^2", step=ROOT_2, note=BLAS),
    Function("np.linalg.inv", "n^3", square, np.linalg.inv, "n^2", step=ROOT_2, note=BLAS),
    Function("np.linalg.cholesky", "n^3", symmetric, np.linalg.cholesky, step=ROOT_2, note=BLAS),
    Function("np.linalg.eigvalsh", "n^3", symmetric, np.linalg.eigvalsh, step=ROOT_2, note=BLAS),
    Function("pandas groupby.sum", "n", frame, lambda a: a.groupby("key").sum(), cap=2**23),
    Function("pandas sort_values", "n*log(n)", frame, lambda a: a.sort_values("value")),
    Function("pandas merge", "n", two_frames, lambda a: a[0].merge(a[1], on="id")),
    Function("pandas rolling.mean", "n", frame, lambda a: a["value"].rolling(20).mean(), cap=2**22),
    Function("scipy cKDTree", "n*log(n)", points, of("scipy.spatial", "cKDTree")),
    Function("scipy cKDTree.query", "n*log(n)", tree_and_points, lambda a: a[0].query(a[1])),
    Function("scipy Delaunay", "n*log(n)", flat_points, of("scipy.spatial", "Delaunay")),
    Function("scipy pdist", "n^2", points, of("scipy.spatial.distance", "pdist"), "n^2", cap=2**13),
    Function("scipy linkage, single", "n^2", condensed, LINKAGE, cap=2**13),
    Function("scipy sparse matrix by vector", "n", matrix_and_vector, lambda a: a[0] @ a[1]),
    Function("scipy sparse band product", "n", banded, lambda a: a @ a),
    Function("scipy spsolve, band", "n", banded, lambda a: of_sparse(a)),
    Function("scipy minimum_spanning_tree", "n*log(n)", sparse_graph, SPANNING),
    Function("scipy dijkstra", "n*log(n)", sparse_graph, SHORTEST, note="a Fibonacci heap"),
    Function("scipy connected_components", "n", sparse_graph, COMPONENTS),
    Function("scipy fftconvolve", "n*log(n)", noise, lambda a: of_signal(a), only_doubling=True),
    Function("scipy gaussian_filter", "n^2", square, FILTER, cap=2**12),
    Function("networkx bfs", "n", graph, breadth_first),
    Function("networkx dijkstra", "n*log(n)", graph, LENGTHS),
    Function("networkx spanning tree", "n*log(n)", graph, spanning),
    Function("networkx components", "n", graph, components),
    Function("networkx core_number", "n", dense_graph, of("networkx", "core_number")),
    Function("networkx all lengths", "n^2", dense_graph, all_lengths, first=8, step=ROOT_2),
    Function("networkx floyd_warshall", "n^3", dense_graph, ALL_PATHS, step=ROOT_2, first=8),
)


def of_sparse(made: Any) -> object:
    solve = importlib.import_module("scipy.sparse.linalg").spsolve
    return solve(made, np.ones(made.shape[0]))


def of_signal(made: Any) -> object:
    return importlib.import_module("scipy.signal").fftconvolve(made, made)


C: tuple[Function, ...] = (
    Function("qsort", "n*log(n)"),
    Function("merge sort", "n*log(n)"),
    Function("heap sort", "n*log(n)"),
    Function("heapify", "n", cap=2**23),
    Function("quick sort", "n*log(n)"),
    Function("quick select", "n", cap=2**23, note=RANDOM),
    Function("insertion sort", "n^2"),
    Function("bubble sort", "n^2"),
    Function("selection sort", "n^2"),
    Function("radix sort", "n", cap=2**23),
    Function("bitonic sort", "n*log(n)^2", only_doubling=True),
    Function("sort of rows", "n^2*log(n)", cap=2**11),
    Function("binary searches", "n*log(n)"),
    Function("binary searches, 1000", "log(n)", cap=2**23),
    Function("jump searches, 300", "n^(1/2)", cap=2**23),
    Function("hash inserts", "n", cap=2**23),
    Function("hash lookups, 10000", "1", cap=2**23, note=CACHES),
    Function("tree inserts", "n*log(n)"),
    Function("list walk", "n"),
    Function("pointer chase, 10000", "1", note=CACHES),
    Function("gather", "n", cap=2**23),
    Function("scatter", "n", cap=2**23),
    Function("sum", "n", cap=2**24),
    Function("strided sum", "n", cap=2**24),
    Function("prefix sum", "n", cap=2**24),
    Function("dot", "n", cap=2**24),
    Function("axpy", "n", cap=2**24),
    Function("memcpy", "n", cap=2**24),
    Function("reverse", "n", cap=2**24),
    Function("strlen", "n", cap=2**24),
    Function("histogram", "n", cap=2**24),
    Function("popcount", "n", cap=2**24),
    Function("crc", "n", cap=2**24),
    Function("shuffle", "n", cap=2**23),
    Function("powers", "n", cap=2**23),
    Function("printed numbers", "n"),
    Function("matrix by vector", "n^2", cap=2**12),
    Function("matrix product", "n^3", step=ROOT_2),
    Function("matrix product by rows", "n^3", step=ROOT_2),
    Function("matrix product by blocks", "n^3", step=ROOT_2),
    Function("transpose", "n^2", cap=2**12),
    Function("stencil", "n^2", cap=2**12),
    Function("stencil in space", "n^3", step=ROOT_2, cap=2**8),
    Function("Gauss-Seidel", "n^2", cap=2**12),
    Function("life", "n^2", cap=2**12),
    Function("Mandelbrot", "n^2"),
    Function("LU", "n^3", step=ROOT_2),
    Function("Cholesky", "n^3", step=ROOT_2),
    Function("triangles", "n^3", step=ROOT_2),
    Function("sparse matrix by vector", "n"),
    Function("tridiagonal", "n", cap=2**23),
    Function("Floyd-Warshall", "n^3", step=ROOT_2),
    Function("breadth-first search", "n"),
    Function("depth-first search", "n"),
    Function("Dijkstra", "n*log(n)"),
    Function("Prim, dense", "n^2", cap=2**12),
    Function("Bellman-Ford", "n^2"),
    Function("union-find", "n", note="times inverse Ackermann"),
    Function("Fenwick tree", "n*log(n)"),
    Function("segment tree", "n*log(n)"),
    Function("sums by blocks", "n^(3/2)"),
    Function("Knuth-Morris-Pratt", "n", cap=2**23),
    Function("substring", "n", cap=2**24),
    Function("substring, worst case", "n^2"),
    Function("edit distance", "n^2"),
    Function("common subsequence", "n^2"),
    Function("palindrome, worst case", "n^2"),
    Function("DFT", "n^2"),
    Function("FFT", "n*log(n)", only_doubling=True),
    Function("convolution", "n^2"),
    Function("Karatsuba", "n^(1.585)", only_doubling=True),
    Function("gcd of all", "n*log(n)"),
    Function("modular powers, 1000", "log(n)", step=16.0, cap=2**60, only_doubling=True),
    Function("trial division", "n^(1/2)", step=4.0, first=2**12, cap=2**50),
    Function("trial division of all", "n^(3/2)"),
    Function("sieve", "n*log(log(n))", cap=2**24),
    Function("multiples of all", "n*log(n)"),
    Function("bodies", "n^2"),
    Function("closest pair", "n^2"),
    Function("ascending subsequence", "n*log(n)"),
    Function("knapsack", "n^2"),
    Function("matrix chain", "n^3", step=ROOT_2),
    Function("Horner", "n", cap=2**24),
    Function("Horner at n points", "n^2"),
)
