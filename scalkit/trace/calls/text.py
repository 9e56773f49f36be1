"""The rows of tables on a profile, for the terminal and the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scalkit.text import counted
from scalkit.units import format_quantity

if TYPE_CHECKING:
    from scalkit.trace.calls.profile import Profile

FUNCTIONS = ("function", "calls", "time", "of all time", "bytes", "places")
PLACES = ("function", "called by", "calls", "time", "of all time", "mean", "least", "most", "bytes", "most at location")


def function_rows(profile: Profile) -> list[tuple[str, ...]]:
    """Return the sums of each function, the longest time first."""
    rows = []
    for function in dict.fromkeys(one.function for one in profile.calls):
        here = [one for one in profile.calls if one.function == function]
        time = sum(one.time_s for one in here)
        told = (f"{sum(one.calls for one in here):,}", _s(time), _share(profile, time), _bytes(sum(one.bytes for one in here)))
        rows.append((time, (function, *told, str(len(here)))))
    return [row for _, row in sorted(rows, key=lambda one: -one[0])]


def place_rows(profile: Profile) -> list[tuple[str, ...]]:
    """Return what was spent at each place, the longest time first."""
    return [
        (
            one.function,
            one.where or "–",
            f"{one.calls:,}",
            _s(one.time_s),
            _share(profile, one.time_s),
            _s(one.time_s / one.calls),
            _s(one.least_s),
            _s(one.most_s),
            _bytes(one.bytes),
            f"{one.most_at}: {_s(one.most_at_s)}",
        )
        for one in profile.calls
    ]


def head_line(profile: Profile) -> str:
    """Return how much was spent in MPI, in a sentence."""
    processes = counted(int(profile.facts["locations"]), "process", "processes")
    share = f", {_share(profile, profile.mpi_s)}," if profile.time_s else ""
    return f"{processes}, {_s(profile.time_s)} of all together; {_s(profile.mpi_s)} of it{share} in MPI"


def _share(profile: Profile, time_s: float) -> str:
    return f"{100 * time_s / profile.time_s:.1f} %" if profile.time_s else "–"


def _s(time_s: float) -> str:
    return format_quantity(time_s, "s") if time_s else "0 s"


def _bytes(n: int) -> str:
    return format_quantity(n, "B") if n else "–"
