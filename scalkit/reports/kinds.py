"""What a path given to a report holds: measurements, a session, or a baseline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from scalkit.session.file import FORMAT

Kind = Literal["measurements", "session", "baseline"]

_LARGEST = 200_000_000


def kind_of(path: str | Path) -> Kind:
    """Return what a path holds, by content; whatever is unknown counts as measurements, whose reader says what is wrong.

    A page in HTML counts as a session: a report has one inside.
    """
    try:
        with Path(path).open("rb") as file:
            head = file.read(64).lstrip()
            if head.startswith(b"<"):
                return "session"
            if not head.startswith(b"{") or head.startswith(b'{"rec":'):
                return "measurements"
            file.seek(0)
            table = json.loads(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return "measurements"
    if table.get("format") == FORMAT:
        return "session"
    return "baseline" if "entries" in table and "statistic" in table else "measurements"
