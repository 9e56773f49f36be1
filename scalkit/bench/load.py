"""How much of this machine others use meanwhile, as its kernel counts it."""

from __future__ import annotations

import os
from pathlib import Path


class ForeignLoad:
    """A context; after it, `share` is what others than this process and its ended children used of all cores, or None.

    `share`: from 0 to 1; None where the kernel does not tell, or nothing was counted between.
    """

    share: float | None = None

    def __enter__(self) -> ForeignLoad:
        self._begin = _read()
        return self

    def __exit__(self, *error: object) -> None:
        now, then = _read(), self._begin
        if now is not None and then is not None and now[2] > then[2]:
            others = (now[0] - then[0]) - (now[1] - then[1])
            self.share = min(1.0, max(0.0, others / (now[2] - then[2])))


def _read() -> tuple[float, float, float] | None:
    """Return the time that all cores were busy, that this process and its children used, and that there was, in s."""
    try:
        words = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]
    except OSError:
        return None
    ticks = [int(word) / os.sysconf("SC_CLK_TCK") for word in words]
    return sum(ticks) - ticks[3] - ticks[4], sum(os.times()[:4]), sum(ticks)
