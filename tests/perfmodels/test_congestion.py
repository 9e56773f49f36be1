"""The exact bound of an all-to-all on a cubic torus is that of counting every message on every link."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

from scalkit.perfmodels import bluegene_p

G, GAP, SIZE = 2.67e-9, 0.84e-6, 2.0**40


def loads_of_torus(dims):
    """Return the messages on every link, each spread over both ways round where they are equally long."""
    loads = Counter()
    nodes = list(product(*map(range, dims)))
    for source, target in product(nodes, nodes):
        for d, k in enumerate(dims):
            ahead = (target[d] - source[d]) % k
            ways = [(1, ahead), (-1, k - ahead)]
            shortest = min(length for _, length in ways)
            chosen = [way for way in ways if way[1] == shortest] if ahead else []
            for step, length in chosen:
                at = source[d]
                for _ in range(length):
                    # rows before d are already at the target: dimension order; symmetric, so spread evenly all the same
                    place = (*target[:d], at, *source[d + 1 :])
                    loads[place, d, step] += Fraction(1, len(chosen))
                    at = (at + step) % k
    return loads


def congestion(name, k):
    """Return the messages on the busiest link that a bound of the catalogue counts with."""
    P = k**3
    return (float(bluegene_p()[name].bounds(S=SIZE, P=P).lower) - GAP * (P - 1)) / (SIZE * G)


@pytest.mark.parametrize("k", [3, 4])
def test_a_torus_is_counted_exactly(k):
    assert congestion("alltoall-exact", k) == pytest.approx(float(max(loads_of_torus((k, k, k)).values())), rel=1e-9)


@pytest.mark.parametrize(("k", "exact", "paper"), [(8, 512, 1000), (16, 8192, 11664), (32, 131072, 157216), (9, 810, None)])
def test_bound_of_the_paper_is_above_the_exact_congestion(k, exact, paper):
    assert congestion("alltoall-exact", k) == pytest.approx(exact, rel=1e-9)
    if paper is not None:
        assert congestion("alltoall-paper", k) == pytest.approx(paper, rel=1e-9)
