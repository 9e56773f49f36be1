"""What every kind of report has in common: its content has a title, an answer, a status, and files beside the page."""

from __future__ import annotations

import datetime as dt
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalkit.reports.writer.outcome import write_outcome

if TYPE_CHECKING:
    from scalkit.junit import Case


class Content(ABC):
    """The content of one page, which a notebook builds and its sections show. Each kind of report has a subclass."""

    title: str
    """Plain text."""

    @property
    @abstractmethod
    def answer(self) -> str:
        """The outcome in a few sentences."""

    @property
    def status(self) -> int:
        """Exit status of the command that writes the page: 0 or 1."""
        return 0

    @property
    def sessions(self) -> Mapping[str, dict[str, Any]]:
        """Label to values of a session; `Session.load` finds the first one in the page."""
        return {}

    def to_json(self) -> str:
        """Return the results as JSON text; empty if no file belongs beside the page."""
        return ""

    def cases(self) -> Mapping[str, list[Case]]:
        """Return the test cases for JUnit XML by the name of their suite."""
        return {}

    def save(self, folder: str) -> None:
        """Write what the process that runs the notebook reads into `folder`; nothing if its name is empty."""
        from scalkit.junit import junit_xml

        if folder:
            found = self.to_json()
            texts = {"verdict.json": found, "junit.xml": junit_xml(self.cases())} if found else {}
            write_outcome(Path(folder), self.title, self.status, self.answer, texts, self.sessions)


def json_text(content: Mapping[str, Any]) -> str:
    """Return JSON text for a file beside a page."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def written_now() -> str:
    """Return the time of a report, UTC; ``SOURCE_DATE_EPOCH`` sets it."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = dt.datetime.fromtimestamp(int(epoch), dt.UTC) if epoch else dt.datetime.now(dt.UTC)
    return now.strftime("%Y-%m-%d %H:%M UTC")
