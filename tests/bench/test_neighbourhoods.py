"""Neighbourhoods: counts, orders, borders, sources opposite of destinations, and the generator beside the C one."""

from __future__ import annotations

import subprocess
from collections import Counter
from itertools import pairwise

import pytest
from neighbourhoods import NO_PROCESS, Generator, Neighbourhood

from scalkit.errors import UsageError
from scalkit.support.native import sources

GRIDS = [
    Neighbourhood(kind, dims, tuple(k >= finite for k in range(len(dims))), radius, order, seed=3)
    for kind, radius, orders in [
        ("cart", 1, ("none",)),
        ("moore", 1, ("fmaj", "lmaj", "rand")),
        ("moore", 2, ("fmaj", "rand")),
        ("vonneumann", 1, ("fmaj", "lmaj", "rand")),
        ("vonneumann", 2, ("lmaj", "rand")),
        ("full", 1, ("linear", "rand")),
    ]
    for order in orders
    for dims in [(5,), (4, 3), (3, 2, 2)]
    for finite in range(len(dims) + 1)
]


def name(one: Neighbourhood) -> str:
    return f"{one.kind}-{one.radius}-{one.order}-{'x'.join(map(str, one.dims))}-{one.periodic.count(False)}"


@pytest.mark.parametrize("grid", GRIDS, ids=name)
def test_every_message_that_is_sent_is_received(grid: Neighbourhood) -> None:
    sent = Counter((u, v) for u in range(grid.p) for v in grid.destinations(u) if v != NO_PROCESS)
    received = Counter((u, v) for v in range(grid.p) for u in grid.sources(v) if u != NO_PROCESS)
    assert sent == received
    assert sent


@pytest.mark.parametrize(
    ("kind", "n", "radius", "count"),
    [("moore", n, r, (2 * r + 1) ** n - 1) for n in (1, 2, 3, 4) for r in (1, 2)]
    + [("vonneumann", n, 1, 2 * n) for n in (1, 2, 3, 4)]
    + [("vonneumann", 2, 2, 12), ("vonneumann", 2, 3, 24), ("vonneumann", 3, 2, 24), ("vonneumann", 4, 2, 40)]
    + [("cart", 3, 1, 6)],
)
def test_number_of_neighbours(kind, n, radius, count) -> None:
    grid = Neighbourhood(kind, (2 * radius + 1,) * n, radius=radius, order="none" if kind == "cart" else "fmaj")
    assert len(set(grid.destinations(0))) == len(grid.destinations(0)) == count
    assert 0 not in grid.destinations(0)


def test_orders_of_relative_coordinates() -> None:
    first = Neighbourhood("vonneumann", (3, 3), order="fmaj").offsets
    last = Neighbourhood("vonneumann", (3, 3), order="lmaj").offsets
    assert first == ((-1, 0), (0, -1), (0, 1), (1, 0))
    assert last == ((0, -1), (-1, 0), (1, 0), (0, 1))
    moore = Neighbourhood("moore", (5, 5, 5), order="fmaj", radius=2).offsets
    assert all(a < b for a, b in pairwise(moore))
    assert Neighbourhood("moore", (5, 5, 5), order="lmaj", radius=2).offsets == tuple(tuple(reversed(c)) for c in moore)


def test_lists_of_one_process_by_hand() -> None:
    # ranks of a 3 x 4 grid: 0 1 2 3 / 4 5 6 7 / 8 9 10 11
    ring = Neighbourhood("vonneumann", (3, 4), order="fmaj")
    assert ring.destinations(5) == (1, 4, 6, 9)
    assert ring.sources(5) == (9, 6, 4, 1)
    assert ring.destinations(0) == (8, 3, 1, 4)
    finite = Neighbourhood("vonneumann", (3, 4), (False, True), order="fmaj")
    assert finite.destinations(0) == (3, 1, 4)
    assert finite.sources(0) == (4, 1, 3)
    cart = Neighbourhood("cart", (3, 4), (False, True))
    assert cart.destinations(0) == cart.sources(0) == (NO_PROCESS, 4, 3, 1)
    assert Neighbourhood("vonneumann", (2,), order="fmaj").destinations(0) == (1, 1)


def test_full() -> None:
    linear = Neighbourhood("full", (5,), order="linear")
    assert linear.sources(3) == (3, 4, 0, 1, 2)
    assert linear.destinations(3) == (3, 2, 1, 0, 4)
    rand = Neighbourhood("full", (40,), order="rand", seed=1)
    lists = [rand.sources(0), rand.sources(1), rand.destinations(0), rand.destinations(1)]
    assert len(set(lists)) == 4
    assert all(sorted(one) == list(range(40)) for one in lists)


def test_random_order_is_one_per_process_and_repeats_with_its_seed() -> None:
    grid = Neighbourhood("moore", (5, 5), order="rand", seed=9)
    again = Neighbourhood("moore", (5, 5), order="rand", seed=9)
    other = Neighbourhood("moore", (5, 5), order="rand", seed=10)
    assert [grid.destinations(r) for r in range(25)] == [again.destinations(r) for r in range(25)]
    assert grid.destinations(0) != other.destinations(0)
    shifts = {tuple((v // 5 - r // 5, v % 5 - r % 5) for v in grid.destinations(r)) for r in (6, 7, 8, 11, 12, 13, 16, 17, 18)}
    assert len(shifts) == 9


def test_generator_is_that_of_the_c_programs(tmp_path) -> None:
    program = tmp_path / "shuffle.c"
    program.write_text(
        '#include "base/rng.h"\n#include <inttypes.h>\n#include <stdio.h>\n'
        "int main(void)\n{\n    struct sk_rng rng = sk_rng_seeded(12345678901234567890u, 7);\n    int items[50];\n"
        '    for (int i = 0; i < 50; i++)\n        items[i] = i;\n    printf("%" PRIu64 "\\n", sk_rng_next(&rng));\n'
        '    sk_rng_shuffle(&rng, items, 50);\n    for (int i = 0; i < 50; i++)\n        printf("%d\\n", items[i]);\n'
        "    return 0;\n}\n"
    )
    folder, built = sources("microbench"), tmp_path / "shuffle"
    command = ["cc", "-I", str(folder), str(program), str(folder / "base/rng.c"), "-o", str(built)]
    subprocess.run(command, check=True)
    printed = [int(line) for line in subprocess.run([built], capture_output=True, check=True, text=True).stdout.split()]
    generator = Generator(12345678901234567890, 7)
    assert printed == [generator.next(), *generator.shuffled(range(50))]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("ring", (3,)), "the neighbourhood 'ring' is unknown; choose from cart, moore, vonneumann, full"),
        (("cart", (3, 0)), r"the grid \(3, 0\) is no grid; each dimension has at least one process"),
        (("cart", (3, 3), (True, False, True)), "3 periods do not fit 2 dimensions; give one for each"),
        (("moore", (3, 3), (True,), 1, "linear"), "neighbours of kind 'moore' cannot come in order 'linear'; choose from fmaj"),
        (("moore", (9, 2), (True,), 3, "fmaj"), "the radius 3 is larger than the grid 9 x 2; choose at most 2, more"),
        (("moore", (9, 2), (True,), 0, "fmaj"), "the radius is 0; it must be at least 1"),
        (("moore", (9,) * 9, (True,), 3, "fmaj"), "a radius of 3 in 9 dimensions gives more than 1000000 neighbours"),
    ],
)
def test_refused(arguments, text) -> None:
    with pytest.raises(UsageError, match=text):
        Neighbourhood(*arguments)


def test_refused_ranks() -> None:
    with pytest.raises(UsageError, match="there is no process 9; the grid has 0 to 8"):
        Neighbourhood("cart", (3, 3)).destinations(9)
