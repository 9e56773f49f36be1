"""A session as notebooks show it, and as it stands in the place of a widget where nothing runs one."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from scalkit.markup import block, counted, details, paragraph
from scalkit.validation import SYMBOLS
from scalkit.validation.told.shown import verdicts_table

if TYPE_CHECKING:
    from scalkit.session.queries import SessionView


def session_html(session: SessionView) -> str:
    """Return what is selected in a session and what its steps are; all verdicts are folded."""
    function, metric = session.selected
    verdict, result = session.verdict, session.result
    said = f"{SYMBOLS[verdict.verdict]} {verdict.sentence}" if verdict else session.problem
    steps = "".join(f"<li>{escape(name)}</li>" for name in session.history)
    return block(
        f"<p><b>{escape(str(session.source))}</b>: {escape(result.headline)}</p>",
        paragraph(f"{function} ({metric}): {said}"),
        details(counted(len(result), "verdict"), verdicts_table(result.verdicts)),
        details(counted(len(session.history), "step"), f"<ol>{steps}</ol>" if steps else ""),
    )
