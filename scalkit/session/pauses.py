"""Keeps Python's collector of cyclic garbage from pausing an edit: with many verdicts it takes longer than the edit itself."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_pauses() -> Iterator[None]:
    """Let the collector wait until the block has ended; one that is switched off stays so."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
