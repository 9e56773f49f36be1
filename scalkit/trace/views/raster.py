"""Steps of locations as a raster: which class takes most of each column, and what share of it is waiting."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalkit.support.arrays import Floats, Ints

Bytes = NDArray[np.uint8]

_SHARE = 255


def amounts(begin: Ints, end: Ints, row: Ints, kind: NDArray[Any], shape: tuple[int, int, int], bits: int) -> Floats:
    """Return the time that each class takes in each row and column, in ns.

    `begin`, `end` of shape (n,), in ns: ends of non-empty intervals, counted from the begin of the
    first column. Intervals of a row do not overlap.
    `row`, `kind` of shape (n,): row and class of each interval.
    `shape`: of the result: numbers of classes, of rows, and of columns of 2^`bits` ns.
    """
    base = (kind.astype(np.int64) * shape[1] + row) * shape[2]
    first, last = begin >> bits, (end - 1) >> bits
    length = end - begin
    long = np.flatnonzero(last > first)
    length[long] = ((first[long] + 1) << bits) - begin[long]
    found = np.asarray(np.bincount(base + first, length, minlength=int(np.prod(shape))), dtype=np.float64)
    found[base[long] + last[long]] += end[long] - (last[long] << bits)  # only one can end there that began before
    inner = last[long] - first[long] - 1
    between = np.repeat(base[long] + first[long] + 1 - (np.cumsum(inner) - inner), inner)
    found[between + np.arange(len(between))] += 1 << bits
    return found.reshape(shape)


def halved(amount: Floats) -> Floats:
    """Return the amounts of columns that are twice as wide."""
    found = amount[:, :, 0::2].copy()
    found[:, :, : amount.shape[2] // 2] += amount[:, :, 1::2]
    return found


def largest(amount: NDArray[Any]) -> Bytes:
    """Return the class that takes most of each cell; of equal ones the first, 0 where there is none."""
    found, most = np.zeros(amount.shape[1:], dtype=np.uint8), amount[0].copy()
    for kind in range(1, len(amount)):
        found[amount[kind] > most] = kind
        np.maximum(most, amount[kind], out=most)
    return found


def as_share(waited: Floats, bits: int) -> Bytes:
    """Return the waiting share of columns of 2^`bits` ns, 0 to 255; above 0 it is at least 1."""
    return np.minimum(np.ceil(waited * (_SHARE / (1 << bits))), _SHARE).astype(np.uint8)


def voted(kind: Bytes, wait: Bytes, together: int, n_kinds: int) -> tuple[Bytes, Bytes]:
    """Return rows of several locations: the class that most of them have, and their mean wait."""
    n = -(-len(kind) // together)
    missing = ((0, n * together - len(kind)), (0, 0))
    kinds = np.pad(kind, missing, constant_values=n_kinds).reshape(n, together, -1)
    waits = np.pad(wait, missing).reshape(n, together, -1)
    votes = np.zeros((n_kinds, n, kind.shape[1]), dtype=np.uint16)
    total = np.zeros((n, kind.shape[1]), dtype=np.uint32)
    for member in range(together):
        total += waits[:, member]
        for number, one in enumerate(votes):
            one += kinds[:, member] == number
    sizes = np.minimum(together, len(kind) - together * np.arange(n))[:, None]
    return largest(votes), np.ceil(total / sizes).astype(np.uint8)
