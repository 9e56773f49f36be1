"""P-values of many tests, adjusted so that few of the findings are false."""

import numpy as np
from numpy.typing import ArrayLike

from scalkit.errors import UsageError
from scalkit.stats.samples import Floats

ADJUSTMENTS = ("bh", "by", "none")


def adjusted_p(p: ArrayLike, method: str = "bh") -> Floats:
    """Return p-values adjusted for their number: to call those up to q significant makes a share of q false, on average.

    `p` (shape (tests,)): NaN is no test: it stays NaN and is not counted.
    `method`: Benjamini and Hochberg (independent or positively dependent tests), Benjamini and Yekutieli (any dependence),
    or none.
    Raises UsageError if the method is unknown.

    Source: Y. Benjamini, Y. Hochberg: *Controlling the False Discovery Rate*, 1995; `scipy.stats.false_discovery_control`.
    """
    if method not in ADJUSTMENTS:
        raise UsageError(f"the adjustment {method!r} is unknown; choose from {', '.join(ADJUSTMENTS)}.")
    adjusted: Floats = np.array(p, dtype=np.float64)
    tested = ~np.isnan(adjusted)
    if method != "none" and tested.any():
        from scipy.stats import false_discovery_control

        adjusted[tested] = false_discovery_control(adjusted[tested], method=method)
    return adjusted
