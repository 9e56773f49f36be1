"""Congestion factors are those of counting every message on every link."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

from scalkit.errors import UsageError
from scalkit.perfmodels import Dragonfly, FatTree, Torus, alltoall_on


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


@pytest.mark.parametrize("dims", [(3, 3, 3), (4, 4, 4), (4, 6), (2, 3, 4), (7,)])
def test_torus_is_counted_exactly(dims):
    assert Torus(dims).alltoall == max(loads_of_torus(dims).values())


@pytest.mark.parametrize(("k", "exact", "paper"), [(8, 512, 1000), (16, 8192, 11664), (32, 131072, 157216)])
def test_bound_of_the_paper_is_above_the_exact_congestion(k, exact, paper):
    torus = Torus.cube(k**3)
    assert torus.alltoall == exact == Fraction(k**4, 8)
    assert torus.paper_bound == paper


@pytest.mark.parametrize(("k", "bound", "exact"), [(3, 16, 9), (9, 1000, 810)])
def test_step_of_the_paper_for_odd_grids_is_above_the_exact_congestion(k, bound, exact):
    torus = Torus.cube(k**3)
    assert torus.paper_bound_odd == bound
    assert torus.alltoall == exact == Fraction(k * k * (k * k - 1), 8)


@pytest.mark.parametrize("k", range(3, 10))
def test_farthest_partners_share_links_as_in_equation_2(k):
    assert Torus.cube(k**3).streams == 3 * (k // 2)
    if k % 2 == 0:
        assert Torus.cube(k**3).streams == Fraction(3, 2) * k


def test_fat_tree_is_counted_exactly():
    down, up = (3, 2, 2), (1, 2, 1)
    tree = FatTree(down, up, (1, 1, 1))
    loads = Counter()
    for source, target in product(range(12), range(12)):
        for level, (leaves, links) in enumerate([(1, 1), (3, 2), (6, 2)]):
            if source // leaves != target // leaves:
                loads[level, source // leaves] += Fraction(1, links)
    assert tree.alltoall == max(loads.values())
    assert FatTree((16, 64), (1, 16), (1, 1)).cut == 1  # full bisection
    assert FatTree((16, 64), (1, 8), (1, 1)).cut == 2


def loads_of_dragonfly(groups, routers, nodes):
    """Return the messages on every link with one link between any two groups, evenly spread over the routers."""
    others = {g: [h for h in range(groups) if h != g] for g in range(groups)}
    gate = {(g, h): others[g].index(h) % routers for g in range(groups) for h in others[g]}
    loads = Counter()
    everyone = list(product(range(groups), range(routers), range(nodes)))
    for (g, r, _), (h, s, _) in product(everyone, everyone):
        if g == h:
            loads["local", g, r, s] += r != s
            continue
        out, into = gate[g, h], gate[h, g]
        loads["local", g, r, out] += r != out
        loads["global", g, h] += 1
        loads["local", h, into, s] += into != s
    return loads


@pytest.mark.parametrize(("groups", "routers", "nodes", "links"), [(5, 4, 2, 1), (5, 2, 2, 2), (9, 4, 2, 2)])
def test_dragonfly_is_counted_exactly(groups, routers, nodes, links):
    assert Dragonfly(groups, routers, nodes, links).alltoall == max(loads_of_dragonfly(groups, routers, nodes).values())


def test_one_group_has_no_links_between_groups():
    assert Dragonfly(1, 4, 2, 1).alltoall == 4


def test_alltoall_on_a_torus_is_the_exact_bound():
    model = alltoall_on(Torus.cube(512), "0.84 us", "2.67 ns/B")
    assert model(S=1024) == pytest.approx(0.84e-6 * 511 + 1024 * 2.67e-9 * 512, rel=1e-12)
    assert str(model.growth) == "S"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: Torus.cube(500), "a cubic torus has k^3 nodes, not 500; the nearest cubes are 343 and 512."),
        (lambda: Torus((4, 0)), "the dimensions of a torus are (4, 0); they must be positive whole numbers."),
        (lambda: Torus((4, 4)).paper_bound, "the paper's bound is for cubes of three dimensions, not 4x4."),
        (lambda: FatTree((4, 4), (1,), (1, 1)), "a fat tree of 2 levels needs as many parents, got 1."),
        (lambda: Dragonfly(4, 2, 2, 1), "2 links of a group cannot be spread evenly over 3 other groups; choose a multiple."),
    ],
)
def test_networks_that_make_no_sense_are_refused(made, said):
    with pytest.raises(UsageError) as error:
        made()
    assert str(error.value) == said
