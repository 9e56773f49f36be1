"""Options that several commands have: how it is judged, which numbers of processes count, and whose clock is read."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any

from scalkit.errors import DataError, UsageError
from scalkit.options import OPTIONS

if TYPE_CHECKING:
    import xarray as xr

_RANGE = re.compile(r"(\d{1,9})\.\.(\d{1,9})")
_LIST = re.compile(r"\d{1,9}(?:,\d{1,9})*")


def judging_of(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of judging that were given."""
    return {name: value for name in OPTIONS if (value := getattr(args, name)) is not None}


def only_processes(data: xr.Dataset, text: str | None) -> xr.Dataset:
    """Return the measurements at the numbers of processes that a text names.

    `text`: numbers between commas, or ``"4..1024"`` for all measured ones between two; None for all.
    Raises UsageError if the text says something else; DataError if the measurements are not over processes, or not at
    one of the numbers.
    """
    if text is None:
        return data
    plain = text.replace(" ", "")
    if not (_RANGE.fullmatch(plain) or _LIST.fullmatch(plain)):
        raise UsageError(f"-n {text!r:.60}: numbers of processes are needed, as in -n 4,8,16 or -n 4..1024.")
    from scalkit.measure import parameters_of

    parameters = parameters_of(data)
    if "p" not in parameters or "p" not in data.dims:
        raise DataError(
            f"-n chooses numbers of processes, and these measurements are over {', '.join(parameters)}; leave it out."
        )
    measured = [int(p) for p in data["p"].values.tolist()]
    if ends := _RANGE.fullmatch(plain):
        least, most = (int(end) for end in ends.groups())
        wanted = [p for p in measured if least <= p <= most]
    else:
        wanted = sorted({int(part) for part in plain.split(",")})
    absent = [p for p in wanted if p not in measured]
    if absent or not wanted:
        which = ", ".join(map(str, absent)) or plain
        raise DataError(f"nothing was measured with {which} processes; it was with {', '.join(map(str, measured))}.")
    return data.sel(p=wanted)
