"""Waiting for a condition, never for a number of seconds."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable

PATIENCE_S = float(os.environ.get("SCALKIT_PATIENCE", "600"))
"""Backstop of every wait: far beyond what a machine with load 15 takes. Set it to 20 where a wait is about to fail anyway."""


def wait_until(
    condition: Callable[[], object], what: str, process: subprocess.Popen[str] | subprocess.Popen[bytes] | None = None
) -> None:
    """Wait until a condition holds.

    Parameters
    ----------
    condition
        Returns something true when the wait is over.
    what
        The thing that is waited for, for the message.
    process
        A process without which the condition will never hold; its end ends the wait.

    Raises
    ------
    TimeoutError
        If nothing happened in `PATIENCE_S`, which is meant for hangs alone.
    RuntimeError
        If the process ended before the condition held.
    """
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if process is not None and process.poll() is not None and not condition():
            raise RuntimeError(f"{process.args} ended with status {process.returncode} before there was {what}")
        if time.monotonic() > end:
            raise TimeoutError(f"waited {PATIENCE_S:.0f} s for {what} in vain")
        time.sleep(0.02)
