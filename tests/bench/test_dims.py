"""Balanced grids against every descending list of numbers."""

from __future__ import annotations

import pytest
from neighbourhoods import balanced_dims

from scalkit.errors import UsageError

MOST = 4096


def every_list(n: int, most: int, largest: int) -> list[tuple[int, ...]]:
    """Every descending list of `n` numbers up to `largest` whose product is at most `most`; nothing about divisors."""
    if n == 0:
        return [()]
    return [(first, *rest) for first in range(1, min(largest, most) + 1) for rest in every_list(n - 1, most // first, first)]


@pytest.mark.parametrize("n", range(1, 7))
def test_definition_for_all_numbers_of_processes(n: int) -> None:
    best: dict[int, tuple[int, int, tuple[int, ...]]] = {}
    for dims in every_list(n, MOST, MOST):
        product = 1
        for d in dims:
            product *= d
        key = (dims[0] - dims[-1], sum(dims), dims)
        if product not in best or key < best[product]:
            best[product] = key
    assert len(best) == MOST
    assert {p: balanced_dims(p, n) for p in best} == {p: key[2] for p, key in best.items()}


def test_examples() -> None:
    assert balanced_dims(160, 3) == (8, 5, 4)
    assert balanced_dims(1, 3) == (1, 1, 1)
    assert balanced_dims(2**20, 5) == (16, 16, 16, 16, 16)
    assert balanced_dims(720720, 16)[0] == 13


@pytest.mark.parametrize(
    ("p", "n", "text"),
    [
        (0, 2, "the number of processes is 0; a grid needs a whole number from 1"),
        (4.0, 2, r"the number of processes is 4\.0; a grid needs"),
        (4, 0, "the number of dimensions is 0; a grid has 1 to 16"),
        (4, 17, "the number of dimensions is 17; a grid has 1 to 16"),
    ],
)
def test_refused(p, n, text) -> None:
    with pytest.raises(UsageError, match=text):
        balanced_dims(p, n)
