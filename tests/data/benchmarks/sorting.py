"""Sorts and searches: what pytest_benchmark.json has measured."""

import random

import pytest

SIZES = [100, 300, 1000, 3000, 10000]


def numbers(n):
    generator = random.Random(n)
    return [generator.random() for _ in range(n)]


@pytest.mark.parametrize("n", SIZES)
def test_sort(benchmark, n):
    benchmark(sorted, numbers(n))


@pytest.mark.parametrize("kind", ["list", "set"])
@pytest.mark.parametrize("n", SIZES)
def test_find(benchmark, kind, n):
    values = list(range(n)) if kind == "list" else set(range(n))
    benchmark(values.__contains__, -1)


def test_alone(benchmark):
    benchmark(sorted, numbers(10))
