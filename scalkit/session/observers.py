"""Callbacks of a session, called once after every step, without a pause of the collector while it is made."""

import gc
import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from scalkit.errors import UsageError

Observer = Callable[[frozenset[str]], object]

_log = logging.getLogger("scalkit.session.observers")


class Observers:
    """The callbacks of a session, in the order in which they came."""

    def __init__(self) -> None:
        self._callbacks: list[Observer] = []
        self._waiting: deque[frozenset[str]] = deque()
        self._is_telling = False

    def add(self, callback: Observer) -> None:
        """Take in a callback, once. Raises UsageError if it cannot be called."""
        if not callable(callback):
            raise UsageError(f"an observer must be a function, got {type(callback).__name__}.")
        if callback not in self._callbacks:
            self._callbacks.append(callback)

    def remove(self, callback: Observer) -> None:
        """Leave out a callback; one that is not there is no error."""
        if callback in self._callbacks:
            self._callbacks.remove(callback)

    def tell(self, changed: frozenset[str]) -> None:
        """Call every callback; changes that a callback makes are told after this one, in their order.

        What a callback raises is logged, as the session is changed by then and the others need to know.
        """
        if changed:
            self._waiting.append(changed)
        if self._is_telling:
            return
        self._is_telling = True
        try:
            while self._waiting:
                self._tell(self._waiting.popleft())
        finally:
            self._is_telling = False
            self._waiting.clear()

    def _tell(self, changed: frozenset[str]) -> None:
        for callback in tuple(self._callbacks):
            try:
                callback(changed)
            except Exception:
                _log.exception("an observer of a session failed on %s", ", ".join(sorted(changed)))


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
