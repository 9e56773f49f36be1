"""What tells measurements of an operation apart beside processes and size: data type, synchronisation, root, own parameters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scalkit.store.store import Store

_SAID = ("datatype", "sync", "pattern")
_COLUMNS = (*_SAID, "x_name", "fixed")
_OWN = ("p", "msg_By")
"""Parameters that are looked at by themselves."""

Facts = dict[str, Any]


def condition_columns(store: Store, filters: dict[str, Any]) -> tuple[str, ...]:
    """Return the columns that `conditions_of` needs; none where all measurements of each platform are alike.

    `filters`: columns of the store's ``points``, as `Store.arrays` takes them.
    """
    rows = store.arrays(("platform", *_COLUMNS), filters, distinct=True)
    kinds: dict[str, list[Facts]] = {}
    for platform, *values in zip(*(rows[name].tolist() for name in ("platform", *_COLUMNS)), strict=True):
        kinds.setdefault(platform, []).append(_facts(*values))
        if values[len(_SAID)] not in _OWN:  # a parameter of the user's own has several values
            return (*_COLUMNS, "x")
    return (*_COLUMNS, "x") if any(map(_several, kinds.values())) else ()


def conditions_of(rows: dict[str, Any]) -> list[str]:
    """Return the condition of each measurement in words, as ``"datatype = double"``: what differs on its platform.

    `rows`: arrays of ``platform`` and of what `condition_columns` returned.
    """
    platforms = rows["platform"].tolist()
    columns = [rows[name].tolist() for name in (*_COLUMNS, "x")]
    known: dict[tuple[Any, ...], Facts] = {}
    facts = []
    for values in zip(*columns, strict=True):
        key = values if values[len(_SAID)] not in _OWN else values[:-1]
        if key not in known:
            known[key] = _facts(*key)
        facts.append(known[key])
    by_platform: dict[str, list[Facts]] = {}
    for platform, one in zip(platforms, facts, strict=True):
        by_platform.setdefault(platform, []).append(one)
    several = {platform: _several(own) for platform, own in by_platform.items()}
    return [_words(one, several[platform]) for platform, one in zip(platforms, facts, strict=True)]


def _words(facts: Facts, several: list[str]) -> str:
    return ", ".join(f"{name} = {'none' if facts.get(name, '') == '' else facts[name]}" for name in several)


def _several(facts: list[Facts]) -> list[str]:
    """Return the names that have several values, or that some lack."""
    each = list({id(one): one for one in facts}.values())
    names = {name: None for one in each for name in one}
    return [name for name in names if len({str(one.get(name, "")) for one in each}) > 1]


def _facts(datatype: str, sync: str, pattern: str, x_name: str, fixed: str, x: int | None = None) -> Facts:
    """Return what tells a measurement apart, beside its number of processes and its size."""
    found: Facts = {"datatype": datatype, "sync": sync, "pattern": pattern}
    try:
        said = json.loads(fixed or "{}")
    except ValueError:
        said = {}
    found |= {str(name): value for name, value in said.items() if name not in _OWN} if isinstance(said, dict) else {}
    return found | ({x_name: x} if x is not None and x_name not in _OWN else {})
