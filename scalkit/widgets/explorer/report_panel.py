"""Write a report of the current state of a session."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import scalkit
from scalkit.errors import DataError, UsageError
from scalkit.session import Session
from scalkit.widgets.base.part import Action, Part
from scalkit.widgets.base.templates import drawn

_CHANGED = "The session was changed since the report was written."


class ReportPanel(Part):
    """Writes a report of the session as it is, so that the page opens again with its steps and what is left out.

    The expectations are written next to it, as ``report.expectations.toml``, for ``scalkit validate --expect``.

    Attributes
    ----------
    path : str
        Where the report goes.
    result : ReportResult or None
        The last report that was written.
    """

    shown = frozenset({"history", "data"})

    def __init__(self, session: Session, **traits: Any) -> None:
        self.path = "report.html"
        self.result: Any = None
        self._replaces = False
        self._note = ""
        super().__init__(session, **{"title": "Report", **traits})

    def _drawn(self) -> dict[str, str]:
        return drawn("report_panel.html", path=self.path, replaces=self._replaces, note=self._note, result=self.result)

    def _actions(self) -> dict[str, Action]:
        return {"start": self._start, "open": self._open}

    def _start(self, values: Mapping[str, str]) -> None:
        path = values.get("path", "").strip()
        if not path:
            raise UsageError("the report has no name; write one, such as report.html.")
        self.path = path if path.lower().endswith((".html", ".htm")) else f"{path}.html"
        self._replaces = "replace" in values
        if not self._replaces and Path(self.path).exists():
            raise UsageError(f"there is a report {self.path} already; choose another name, or tick 'replace'.")
        self.result, self._note = None, "Judging and drawing; this takes some seconds."
        self.refresh()
        try:
            self.session.save_expectations(Path(self.path).with_suffix(".expectations.toml"))
            # Reports belong to a higher layer; only the public face knows what writes them.
            self.result = scalkit.report(self.session, self.path, force=self._replaces)
        finally:
            self._note = ""

    def _open(self, _values: Mapping[str, str]) -> None:
        if self.result is None:
            raise UsageError("there is no report yet; write one first.")
        page = self.result.html
        try:
            text = page.read_text(encoding="utf-8")
        except OSError as error:
            raise DataError(f"cannot read {page}: {error.strerror}; write the report again.") from error
        self.send({"open": {"name": page.name, "text": text, "type": "text/html"}})

    def _told(self, changed: frozenset[str]) -> None:
        if changed & self.shown and self.result is not None:
            self._note = _CHANGED
        super()._told(changed)
