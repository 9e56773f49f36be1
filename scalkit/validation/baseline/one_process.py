"""Which process alone takes longer than before, where the times of each were kept."""

from __future__ import annotations

import numpy as np
import xarray as xr

from scalkit.measure import process_times
from scalkit.measure.schema import FUNCTION, parameters_of

__all__ = ["one_process"]

_OUT = 5.0  # times as far from the others as these scatter
_LEAST = 4  # processes


def one_process(then: xr.Dataset, now: xr.Dataset, function: str, tolerance: float) -> str:
    """Return in words which process alone takes longer at the largest shared setting; empty if none does, or none were kept.

    `then`, `now`: measured with ``--per-process``.
    `tolerance`: relative change that is none.
    """
    if not all("process_time" in one and function in one[FUNCTION].values for one in (then, now)):
        return ""
    if len(parameters_of(now)) > 1:
        return ""
    before, after = ({t.x: t.of_each for t in process_times(one) if t.function == function} for one in (then, now))
    shared = [x for x in before.keys() & after.keys() if len(before[x]) == len(after[x]) >= _LEAST]
    if not shared:
        return ""
    x = max(shared)
    logs = np.log(after[x] / before[x])
    slowest = int(np.argmax(logs))
    others = np.delete(logs, slowest)
    usual = float(np.median(others))
    scatter = 1.4826 * float(np.median(np.abs(others - usual)))
    is_alone = logs[slowest] - usual > max(np.log1p(tolerance), _OUT * scatter) and others.max() <= np.log1p(tolerance)
    return (
        f"process {slowest} alone, {np.exp(logs[slowest]):.3g} times at {parameters_of(now)[0]} = {x:g}"
        if is_alone
        else ""
    )
