"""Which settings of what was found are the parameters."""

import difflib
import math
from collections.abc import Mapping, Sequence

from scalkit.errors import DataError
from scalkit.formats.readers.observed import Found, Observed, Setting

SIZE = "S"
"""The setting that message sizes are called, in bytes."""


def chosen_parameters(files: Sequence[Found], where: str, wanted: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the parameters.

    Those that are asked for; else those that the format says; else the first of the format's favourites that varies; else the
    argument that varies in most functions, of several the one with most values.

    `where`: for messages.
    Raises DataError if no argument varies, or one that is asked for is not there.
    """
    values = _values([one for found in files for one in found.observed if one.role == "metric"])
    if wanted is not None:
        names = (wanted,) if isinstance(wanted, str) else tuple(wanted)
        if not names:
            raise DataError("the parameters are an empty list; name one or more arguments of the benchmarks.")
        for name in names:
            _require(name, values, where)
        return names
    declared = list(dict.fromkeys(found.parameters for found in files))
    if len(declared) > 1:
        shown = " and ".join(repr(",".join(names)) for names in declared)
        raise DataError(f"the files at {where} have different parameters: {shown}; read them apart.")
    return declared[0] or (_varying(files, values, where),)


def point_of(settings: Mapping[str, Setting], parameters: Sequence[str]) -> tuple[float, ...] | None:
    """Return the values of the parameters; None where one is missing or no positive number."""
    values = [settings.get(name) for name in parameters]
    numbers = [value for value in values if isinstance(value, float) and 0 < value < math.inf]
    return tuple(numbers) if len(numbers) == len(values) else None


def constant_size(observed: Sequence[Observed], parameters: Sequence[str]) -> int | None:
    """Return the message size if it is no parameter and all that have one have the same, in bytes; else None."""
    sizes = {one.settings[SIZE] for one in observed if SIZE in one.settings}
    if SIZE in parameters or len(sizes) != 1:
        return None
    (size,) = sizes
    is_whole = isinstance(size, float) and 0 <= size < 2**53 and size.is_integer()
    return int(size) if is_whole and isinstance(size, float) else None


def _values(observed: Sequence[Observed]) -> dict[str, dict[str, set[float]]]:
    """Return the positive numbers of each argument, by function."""
    values: dict[str, dict[str, set[float]]] = {}
    for one in observed:
        for name, value in one.settings.items():
            if isinstance(value, float) and 0 < value < math.inf:
                values.setdefault(name, {}).setdefault(one.function, set()).add(value)
    return values


def _require(name: str, values: Mapping[str, object], where: str) -> None:
    if name in values:
        return
    near = difflib.get_close_matches(str(name), values, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    known = ", ".join(map(repr, values)) or "none"
    raise DataError(f"{where} has no benchmark with a number for {name!r}; arguments with numbers are {known}.{hint}")


def _varying(files: Sequence[Found], values: Mapping[str, Mapping[str, set[float]]], where: str) -> str:
    favourites = [name for name in files[0].first if name in values]
    for name in favourites:
        if len(set().union(*values[name].values())) > 1:
            return name
    rank = {
        name: (sum(len(v) > 1 for v in found.values()), max(len(v) for v in found.values())) for name, found in values.items()
    }
    best = max(rank, key=lambda name: rank[name], default=None)
    if best is not None and rank[best][0] > 0:
        return best
    if favourites:
        return favourites[0]
    raise DataError(f"{where} has no benchmark that ran with several values of one argument; {files[0].advice}.")
