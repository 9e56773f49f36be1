"""Tests of growth against a constant, in closed form: no statistics library needs to be loaded for a verdict."""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, combinations

_MOST_EXACT = 50


def f_tail(statistic: float, freedom: int) -> float:
    """Return the probability that F with 1 and `freedom` degrees of freedom exceeds `statistic`.

    `statistic`: infinity gives 0; what rounding made negative counts as 0.
    `freedom`: at least 1.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4: Student's t, whose square is
    F.
    """
    if math.isinf(statistic):
        return 0.0
    angle = math.atan2(math.sqrt(max(statistic, 0.0)), math.sqrt(freedom))
    cosine, is_odd = math.cos(angle), freedom % 2 == 1
    term = cosine if is_odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(3 if is_odd else 2, freedom - 1, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    inside = 2 / math.pi * (angle + math.sin(angle) * total) if is_odd else math.sin(angle) * total
    return max(0.0, 1.0 - inside)


@lru_cache(maxsize=4096)
def student(level: float, freedom: int) -> float:
    """Return the t that a value of Student's distribution exceeds in magnitude with probability ``1 - level``.

    `freedom`: at least 1.
    """
    low, high = 0.0, 1.0
    while f_tail(high**2, freedom) > 1 - level:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if f_tail(middle**2, freedom) > 1 - level else (low, middle)
    return high


def trend_tail(values: Sequence[float]) -> float:
    """Return the probability that values without a trend rise as consistently as these (Mann-Kendall, one-sided).

    Exact up to 50 values, by the normal distribution beyond.

    `values`: in the order of the parameter; a tie counts as a fall. Five values that all rise give 1/120.

    Source: Kendall, A new measure of rank correlation, Biometrika 30 (1938): the distribution of the number of
    inversions.
    """
    falls = sum(later <= earlier for earlier, later in combinations(values, 2))
    n_values = len(values)
    if n_values > _MOST_EXACT:
        pairs = n_values * (n_values - 1) / 2
        spread = math.sqrt(pairs * (2 * n_values + 5) / 9)
        return 0.5 * math.erfc((pairs - 2 * falls - 1) / spread / math.sqrt(2))
    counts = [1]
    for n in range(2, n_values + 1):
        sums = list(accumulate([*counts, *[0] * (n - 1)]))
        counts = [total - (sums[k - n] if k >= n else 0) for k, total in enumerate(sums)]
    return sum(counts[: falls + 1]) / math.factorial(n_values)
