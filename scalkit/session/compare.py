"""What differs between the verdicts of two states, and a session as notebooks show it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from scalkit.judge.answer import ANSWER_SYMBOLS
from scalkit.judge.judge import Outcome
from scalkit.judge.measured import AnyVerdict
from scalkit.judge.told.shown import verdicts_table
from scalkit.support.json_values import json_fields
from scalkit.support.markup import block, counted, details, paragraph

if TYPE_CHECKING:
    from scalkit.session.session import Session


def differences(before: Outcome, after: Outcome) -> pd.DataFrame:
    """Return what differs in the verdicts of two outcomes of the same data, in the order of the data.

    Returns
    -------
    DataFrame
        With the columns ``function``, ``metric``, ``what`` (expectation, model, answer or direction), ``before`` and
        ``after``, which are empty where there is no verdict.
    """
    rows = []
    for function, metric in dict.fromkeys((*before.verdicts, *after.verdicts)):
        one, other = (_told(outcome.verdicts.get((function, metric))) for outcome in (before, after))
        for what in dict.fromkeys((*one, *other)):
            if one.get(what) != other.get(what):
                rows.append((function, metric, what, one.get(what, ""), other.get(what, "")))
    return pd.DataFrame(rows, columns=["function", "metric", "what", "before", "after"])


def _told(verdict: AnyVerdict | None) -> dict[str, str]:
    if verdict is None:
        return {}
    return {"expectation": str(verdict.expectation.growth), **json_fields(verdict, "model answer direction")}


def session_html(session: Session) -> str:
    """Return what is selected in a session and what its steps are; all verdicts are folded."""
    function, metric = session.selected
    verdict, result = session.verdict, session.result
    said = f"{ANSWER_SYMBOLS[verdict.answer]} {verdict.sentence}" if verdict else session.problem
    steps = "".join(f"<li>{escape(name)}</li>" for name in session.history)
    return block(
        f"<p><b>{escape(str(session.source))}</b>: {escape(result.headline)}</p>",
        paragraph(f"{function} ({metric}): {said}"),
        details(counted(len(result), "verdict"), verdicts_table(result.verdicts)),
        details(counted(len(session.history), "step"), f"<ol>{steps}</ol>" if steps else ""),
    )
