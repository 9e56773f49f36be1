"""Balanced grids of processes, by a definition that does not depend on the MPI library."""

from functools import lru_cache

from scalkit.errors import UsageError

MOST_DIMENSIONS = 16


def balanced_dims(p: int, n: int) -> tuple[int, ...]:
    """Return d1 >= ... >= dn with product `p`: smallest d1 - dn, then smallest sum, then lexicographically smallest.

    Parameters
    ----------
    p : int
        Number of processes, from 1.
    n : int
        Number of dimensions, from 1 to 16.

    Returns
    -------
    tuple of int, of length `n`

    Raises
    ------
    UsageError
        If `p` or `n` is out of range.

    References
    ----------
    J. L. Träff, F. D. Lübbe: *Specification Guideline Violations by MPI_Dims_create.* EuroMPI, 2015; there it is called
    TUW_Dims_create.

    Examples
    --------
    >>> balanced_dims(160, 4), balanced_dims(7, 2), balanced_dims(48, 2)
    ((5, 4, 4, 2), (7, 1), (8, 6))
    """
    if isinstance(p, bool) or not isinstance(p, int) or p < 1:
        raise UsageError(f"the number of processes is {p!r}; a grid needs a whole number from 1.")
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= MOST_DIMENSIONS:
        raise UsageError(f"the number of dimensions is {n!r}; a grid has 1 to {MOST_DIMENSIONS}.")
    if n == 1:
        return (p,)
    divisors = tuple(d for d in range(1, int(p**0.5) + 2) if p % d == 0)
    divisors = tuple(sorted({*divisors, *(p // d for d in divisors)}))
    for spread in sorted({high - low for low in divisors for high in divisors if high >= low}):
        found = [
            (low + spread, *inner, low)
            for low in divisors
            if p % (low * (low + spread)) == 0
            for inner in _between(p // (low * (low + spread)), n - 2, low, low + spread)
        ]
        if found:
            return min(found, key=lambda dims: (sum(dims), dims))
    raise AssertionError("p, 1, ..., 1 is always possible")


@lru_cache(maxsize=65536)
def _between(product: int, n: int, low: int, high: int) -> tuple[tuple[int, ...], ...]:
    """Return all descending lists of `n` numbers from `low` to `high` with a product."""
    if n == 0:
        return ((),) if product == 1 else ()
    if not low**n <= product <= high**n:
        return ()
    return tuple(
        (first, *rest)
        for first in range(low, min(high, product) + 1)
        if product % first == 0
        for rest in _between(product // first, n - 1, low, first)
    )
