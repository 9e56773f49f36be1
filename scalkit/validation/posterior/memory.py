"""What is kept of series that are judged again and again: about other expectations, or with other ticks."""

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from scalkit.measure import Series
from scalkit.validation.posterior.likelihoods import Seen
from scalkit.validation.posterior.noise import Summary, summarise

_AGREE = 1e-12
_BATCHES = 16
_SERIES = 4000


class Memory:
    """Keeps what verdicts on the same series have in common; see `posteriors`."""

    def __init__(self) -> None:
        self._batches: OrderedDict[tuple[int, ...], tuple[tuple[Series, ...], Summary, Seen]] = OrderedDict()
        self._is_exact: OrderedDict[int, tuple[Series, bool]] = OrderedDict()

    def of(self, batch: Sequence[Series]) -> tuple[Summary, Seen]:
        """Return location and noise of series of equal settings, and what was found for them."""
        key = tuple(map(id, batch))
        if key not in self._batches:
            summary = summarise(np.stack([one.replicates for one in batch]))
            self._batches[key] = tuple(batch), summary, Seen()
            if len(self._batches) > _BATCHES:
                self._batches.popitem(last=False)
        self._batches.move_to_end(key)
        _, summary, seen = self._batches[key]
        return summary, seen

    def is_exact(self, series: Series) -> bool:
        """Return whether the values have no noise: by their metric, where replicates agree, or where a logarithm fails."""
        key = id(series)
        if key not in self._is_exact:
            self._is_exact[key] = series, _is_exact(series)
            if len(self._is_exact) > _SERIES:
                self._is_exact.popitem(last=False)
        return self._is_exact[key][1]


def _is_exact(series: Series) -> bool:
    values = series.replicates
    there = np.isfinite(values)
    if series.exact or (series.y <= 0).any() or (values[there] <= 0).any():
        return True
    repeated = there.sum(axis=1) > 1
    if not repeated.any():
        return False
    rows = values[repeated]
    most, least = np.nanmax(rows, axis=1), np.nanmin(rows, axis=1)
    return bool((most - least <= _AGREE * most).all())
