"""The observers of a session: told of each change, one after the other, whatever one of them does."""

import logging
from collections import deque
from collections.abc import Callable

Observer = Callable[[frozenset[str]], object]

_log = logging.getLogger(__name__)


class Observers:
    """The callbacks of a session, in the order in which they came."""

    def __init__(self) -> None:
        self._callbacks: list[Observer] = []
        self._waiting: deque[frozenset[str]] = deque()
        self._is_telling = False

    def add(self, callback: Observer) -> None:
        """Take in a callback, once."""
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
