"""What is no number where numbers belong is refused in our words, not in those of Python."""

from __future__ import annotations

import pytest

from scalkit.errors import DataError, UsageError
from scalkit.perfmodels import fit_bisection, fit_reducing


def test_words_and_levels_are_refused_in_words() -> None:
    for made in (
        lambda: fit_bisection(8.0, {2: "slow"}),
        lambda: fit_bisection(8.0, 5),  # type: ignore[arg-type]
    ):
        with pytest.raises(DataError, match=r"^the times( of 2 processes)? are .*; give"):
            made()
    for level in (2, 0, "high", True):
        with pytest.raises(UsageError, match=r"^the level of the intervals is .*; choose a number between 0 and 1, such"):
            fit_reducing([1, 2, 3], [1.0, 2.0, 3.0], level=level)  # type: ignore[arg-type]
