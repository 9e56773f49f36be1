"""Sixty Python functions timed by the CPU clock at eight sizes over a factor of 128: lines of name, n, repetition, seconds.

The largest size of a function is the first one that takes a twentieth of a second, at most 2^20. Those of
``python_functions.py`` are among them.
"""

from __future__ import annotations

import collections
import copy
import csv
import decimal
import difflib
import fractions
import hashlib
import io
import itertools
import json
import math
import pickle
import random
import re
import statistics
import string
import sys
import textwrap
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from python_functions import FUNCTIONS, noise, values, whole

MOST = 2**20
LONGEST = 0.05


def words(n: int) -> str:
    generator = random.Random(n)
    return " ".join("".join(generator.choices(string.ascii_lowercase, k=6)) for _ in range(n))


def square(n: int) -> Any:
    return noise(n * n).reshape(n, n) + n * np.eye(n)


def records(n: int) -> list[dict[str, object]]:
    return [{"id": k, "name": f"item {k}", "price": k / 7} for k in range(n)]


def queens(n: int) -> int:
    return sum(1 for rows in itertools.combinations(range(n), 3) if rows[0] + rows[1] != rows[2])


def pascal(n: int) -> int:
    row = [1]
    for _ in range(n):
        row = [a + b for a, b in itertools.pairwise([0, *row, 0])]
    return row[0]


def primes(n: int) -> int:
    return sum(all(k % d for d in range(2, math.isqrt(k) + 1)) for k in range(2, n))


def written(rows: list[dict[str, object]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, ["id", "name", "price"])
    writer.writerows(rows)
    return out.getvalue()


def rotated(items: list[int]) -> None:
    ring = collections.deque(items)
    ring.rotate(len(items) // 3)


MORE: tuple[tuple[str, Callable[[int], Any], Callable[[Any], object]], ...] = (
    ("np.linalg.solve", square, lambda a: np.linalg.solve(a, a[0])),
    ("np.linalg.svd", square, lambda a: np.linalg.svd(a)),
    ("np.linalg.inv", square, lambda a: np.linalg.inv(a)),
    ("np.unique", noise, np.unique),
    ("np.argsort", noise, np.argsort),
    ("np.fft", noise, np.fft.fft),
    ("np.convolve", noise, lambda a: np.convolve(a, a)),
    ("np.cumsum", noise, np.cumsum),
    ("np.histogram", noise, np.histogram),
    ("np.median", noise, np.median),
    ("np.outer", noise, lambda a: np.outer(a, a)),
    ("np.interp", noise, lambda a: np.interp(a, np.sort(a), a)),
    ("np.exp", noise, np.exp),
    ("json.dumps", records, json.dumps),
    ("json.loads", lambda n: json.dumps(records(n)), json.loads),
    ("csv.writer", records, written),
    ("pickle.dumps", records, pickle.dumps),
    ("copy.deepcopy", records, copy.deepcopy),
    ("split", words, str.split),
    ("join", lambda n: words(n).split(), " ".join),
    ("Counter", words, collections.Counter),
    ("re.findall", words, lambda text: re.findall(r"[aeiou]\w+", text)),
    ("re.sub", words, lambda text: re.sub(r"a(.)", r"\1b", text)),
    ("replace", words, lambda text: text.replace("ab", "c")),
    ("textwrap", words, textwrap.wrap),
    ("sha256", lambda n: bytes(n), lambda b: hashlib.sha256(b).digest()),
    ("difflib", lambda n: words(n).split(), lambda w: difflib.SequenceMatcher(None, w, w[::-1]).ratio()),
    ("set &", whole, lambda a: set(a) & set(a[::2])),
    ("sorted by key", lambda n: words(n).split(), lambda w: sorted(w, key=len)),
    ("sorted sorted", whole, sorted),
    ("statistics.median", values, statistics.median),
    ("statistics.stdev", values, statistics.stdev),
    ("math.fsum", values, math.fsum),
    ("sum of fractions", lambda n: n, lambda n: sum(fractions.Fraction(1, k + 1) for k in range(n))),
    ("sum of decimals", lambda n: n, lambda n: sum(decimal.Decimal(k).sqrt() for k in range(n))),
    ("math.factorial", lambda n: n, math.factorial),
    ("2**n to text", lambda n: 2**n, lambda k: hex(k)),
    ("int product", lambda n: 3**n, lambda k: k * k),
    ("combinations", lambda n: n, queens),
    ("pascal", lambda n: n, pascal),
    ("primes by division", lambda n: n, primes),
    ("deque.rotate", whole, rotated),
    ("random.shuffle", whole, random.Random(1).shuffle),
    ("permuted reads", lambda n: random.Random(1).sample(range(n), n), lambda p: [p[k] for k in p]),
)


def once(make: Callable[[int], Any], call: Callable[[Any], object], n: int, again: bool) -> float:
    """Return the seconds of a call, the mean of as many as take half a millisecond."""
    calls = 1
    while True:
        made = [make(n) for _ in range(calls)] if again else [make(n)] * calls
        start = time.process_time()
        for one in made:
            call(one)
        taken = time.process_time() - start
        if taken > 1e-3 or calls > 10**5 or (again and calls > 200):
            return taken / calls
        calls *= 4


def main() -> None:
    table = csv.writer(sys.stdout, lineterminator="\n")
    functions = [(f.name, f.setup, f.call, f.fresh) for f in FUNCTIONS if "2^n" not in f.name]
    for name, make, call, again in (*functions, *((*one, False) for one in MORE)):

        def applied(made: Any, call: Callable[..., object] = call) -> object:
            return call(*made) if isinstance(made, tuple) else call(made)

        most = 128 if again else 512
        try:
            while most < MOST and once(make, applied, most, again) < LONGEST:
                most *= 2
            for n in (most >> k for k in range(7, -1, -1)):
                for repetition in range(5 if n >= 4 else 0):
                    table.writerow([name, n, repetition, f"{once(make, applied, n, again):.9g}"])
        except ModuleNotFoundError:
            continue


if __name__ == "__main__":
    main()
