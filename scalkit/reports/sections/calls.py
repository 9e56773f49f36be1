"""The sections of the page on a profile of MPI calls."""

from typing import Any

from scalkit.reports.content import made_with
from scalkit.reports.pages.calls import CallsPage
from scalkit.trace.calls.profile import FUNCTIONS, PLACES, function_rows, place_rows

_MOST_ROWS = 500  # of a table that a browser still lays out at once; `calls.json` has all


def headline(page: CallsPage) -> dict[str, Any]:
    """Return the circumstances of the profile."""
    known = page.profile.facts
    facts = [("processes", known["locations"]), ("library", known.get("library", "")), ("report", page.made)]
    return {"facts": facts}


def functions(page: CallsPage) -> dict[str, Any]:
    """Return the sums of each function."""
    return {"head": FUNCTIONS, "rows": function_rows(page.profile)}


def places(page: CallsPage) -> dict[str, Any]:
    """Return the longest sums of each place."""
    rows = place_rows(page.profile)
    return {"head": PLACES, "rows": rows[:_MOST_ROWS], "total": len(rows)}


def left_out(page: CallsPage) -> dict[str, Any] | None:
    """Return what the profile lacks."""
    return {"problems": page.profile.problems} if page.profile.problems else None


def versions(page: CallsPage) -> dict[str, Any]:
    """Return the versions of the programs."""
    return {"facts": made_with("jinja2").items()}
