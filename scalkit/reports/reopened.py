"""The session inside a report: what `Session.load` needs to open the page again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit.errors import DataError
from scalkit.session import Session
from scalkit.session.file import session_from_dict
from scalkit.session.in_page import dataset_to_text, sessions_in

if TYPE_CHECKING:
    from scalkit.reports.page import Page


_ROOM = 908_000
_OF_A_VERDICT = {False: 28_000, True: 4_000}
"""A page has 1.6 MB, less the plotting library, and less this for each verdict, alone or beside others; the rest may hold
measurements."""


def room_for(n_verdicts: int, n_sets: int = 1) -> int:
    """Return how many letters the measurements of each of several data sets may take in a page."""
    return max(0, _ROOM - _OF_A_VERDICT[n_sets > 1] * n_verdicts * n_sets) // n_sets


def session_values(page: Page) -> dict[str, Any]:
    """Return the session of a page as JSON values; the measurements are in it if no file holds them, or if there is room."""
    if page.session is not None:
        plain = page.session.to_dict(with_data=False)
        plain["data"]["netcdf"] = dataset_to_text(page.session.data)
    else:
        bare = page.data.assign_attrs(source="")  # read already, and the paths are those of another working folder
        session = Session(bare, page.expected, page.rules, **page.judging.as_options())
        plain = session.to_dict(with_data=True)
        plain["data"]["paths"] = [] if page.is_in_memory else list(page.named)
        plain["expectations"]["source"] = None if page.judged_by_baseline else page.expectations_name or None
    if plain["data"]["paths"] and len(plain["data"]["netcdf"]) > page.room:
        plain["data"]["netcdf"] = None
    return plain


def sessions_of(path: str | Path) -> list[Session]:
    """Return all sessions in a report: one of each data set that it compares.

    `path`: of a report in HTML.
    Raises DataError if it cannot be read or has none.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read the report '{path}': {error!s:.100}; name a page that scalkit report wrote.") from error
    return [session_from_dict(Session, json.loads(one), None, Path(path).parent) for one in sessions_in(text, path)]
