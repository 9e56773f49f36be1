"""What is no number where numbers belong is refused in our words, not in those of Python."""

from __future__ import annotations

import pytest

from scalkit.errors import DataError
from scalkit.perfmodels.fits.bisection import fit_bisection


def test_words_are_refused_in_words() -> None:
    for times in ({2: "slow"}, 5):
        with pytest.raises(DataError, match=r"^the times( of 2 processes)? are .*; give"):
            fit_bisection(8.0, times)  # type: ignore[arg-type]
