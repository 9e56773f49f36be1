"""How to open the page as a session."""

from typing import Any

from scalkit.reports.content import Content
from scalkit.session.code import code_of


def reopen(page: Content) -> dict[str, Any]:
    """Return the code that opens the sessions of the page, and the code that leads to a session that was reported."""
    session = getattr(page, "session", None)
    plain = list(page.sessions.values())
    holds_all = all(one["data"]["netcdf"] is not None for one in plain)
    paths = [path for one in plain if one["data"]["netcdf"] is None for path in one["data"]["paths"]]
    code = code_of(session, "report.html").splitlines() if session is not None else []
    return {"n": len(plain), "holds_all": holds_all, "paths": paths, "code": code}
