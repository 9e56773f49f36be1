"""Keeps what was computed last, so that what did not change is not computed again."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values by key; beyond `most` the one that was asked for longest ago goes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: OrderedDict[Hashable, Value] = OrderedDict()

    def get(self, key: Hashable) -> Value | None:
        """Return the value of a key, or None."""
        value = self._found.get(key)
        if value is not None:
            self._found.move_to_end(key)
        return value

    def put(self, key: Hashable, value: Value) -> Value:
        """Keep a value; return it."""
        self._found[key] = value
        self._found.move_to_end(key)
        while len(self._found) > self._most:
            self._found.popitem(last=False)
        return value

    def __len__(self) -> int:
        return len(self._found)
