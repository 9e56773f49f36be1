"""Own growth classes that a file of expectations declares."""

from collections.abc import Mapping
from typing import Any

from scalkit.errors import ExpectationError
from scalkit.growth import all_or_none, register_growth
from scalkit.validation.catalogue.entries import at, known_keys

_TABLE = "growth_classes"
_KEYS = ("expression", "faster_than", "slower_than")
_MOST = 100


@all_or_none()
def declare_growths(table: Mapping[str, Any]) -> None:
    """Register the classes of a file, in its order, so that all texts after it may name them.

    A class that is there already, with the same formula, stays what it is. Where one is refused, none is registered.

    Raises ExpectationError if an entry is of another kind, or `register_growth` refuses it.
    """
    with at(_TABLE):
        if len(table) > _MOST:
            raise ExpectationError(f"'{_TABLE}' has {len(table)} classes; at most {_MOST} are allowed.")
    for name, value in table.items():
        entry = value if isinstance(value, Mapping) else {"expression": value}
        known_keys(entry, _KEYS, f"the growth class '{name}'", (_TABLE, name))
        for key, text in entry.items():
            with at(_TABLE, name, key):
                if not isinstance(text, str):
                    raise ExpectationError(f"'{key}' of the growth class '{name}' is {text!r:.60}; text is needed.")
        with at(_TABLE, name):
            if "expression" not in entry:
                raise ExpectationError(
                    f"the growth class '{name}' has no key 'expression'; add one, for example expression = 'log(log(p))'."
                )
            register_growth(name, entry["expression"], slower_than=entry.get("slower_than"), faster_than=entry.get("faster_than"))
