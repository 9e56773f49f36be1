"""Writes a report of what the session shows, beside the kernel."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scalkit.errors import DataError, UsageError
from scalkit.session import Session
from scalkit.widgets.base.part import Action, Part
from scalkit.widgets.base.templates import drawn
from scalkit.widgets.explorer.job import Ending, Job

_LARGEST = 20_000_000
_CHANGED = "The session was changed since the report was written."


class ReportPanel(Part):
    """Runs ``scalkit report`` on the session as it is, so that the page opens again with its steps and what is left out.

    The session is written beside the report, as ``report.session.json``, which holds the measurements if no file does; so are
    the expectations, as ``report.expectations.toml``, for ``scalkit validate --expect``.

    Attributes
    ----------
    path : str
        Where the report goes.
    command : str
        The last command; empty if there was none.
    answer : str
        The verdicts in a few sentences, once a report is written.
    """

    shown = frozenset({"history", "data"})

    def __init__(self, session: Session, **traits: Any) -> None:
        self.path = "report.html"
        self._replaces = False
        self._job: Job | None = None
        self.command = self.answer = self._note = ""
        self._status = 0
        self._written: Path | None = None
        self._reported = session.state
        super().__init__(session, **{"title": "Report", **traits})

    def start(self) -> "ReportPanel":
        """Write the report; it goes on beside the kernel.

        Raises ScalkitError if one is being written, the session expects nothing, or the files cannot be written.
        """
        if self._job is not None:
            raise UsageError("a report is being written; wait for the end, or cancel it.")
        arguments = self._arguments()
        self.command, self.answer, self._written = shlex.join(["scalkit", *arguments]), "", None
        self._note = ""
        self._reported = self.session.state
        self._job = Job(arguments, self._ended)
        self.refresh()
        return self

    @property
    def is_running(self) -> bool:
        """Whether a report is being written now."""
        return self._job is not None

    def cancel(self) -> None:
        """Give up the report that is being written, if there is one."""
        if self._job is not None:
            self._note = "Ending the processes."
            self._job.cancel()
            self.refresh()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end outside a notebook, or for some seconds; return whether it ended."""
        return self._job is None or self._job.wait(seconds)

    def close(self) -> None:
        """Close the widget and end what it runs."""
        if self._job is not None:
            self._job.cancel()
        super().close()

    def _arguments(self) -> list[str]:
        """Write what the command needs, and return its arguments."""
        out = Path(self.path)
        stem = out.name.removesuffix(".html") or "report"
        expectations = out.with_name(f"{stem}.expectations.toml")
        if not self._replaces and out.exists():
            raise UsageError(f"there is a report {out} already; choose another name, or tick 'replace'.")
        self.session.save_expectations(expectations)
        kept = out.with_name(f"{stem}.session.json")
        self.session.save(kept)
        words = ["report", str(kept), "--out", str(out)]
        return [*words, *(["--force"] if self._replaces else []), "--json"]

    def _drawn(self) -> dict[str, str]:
        return drawn("report_panel.html", panel=self)

    def _actions(self) -> dict[str, Action]:
        return {"start": self._start, "cancel": lambda _: self.cancel(), "open": self._open}

    def _start(self, values: Mapping[str, str]) -> None:
        path = values.get("path", "").strip()
        if not path:
            raise UsageError("the report has no name; write one, such as report.html.")
        self.path = path if path.lower().endswith((".html", ".htm")) else f"{path}.html"
        self._replaces = "replace" in values
        self.start()

    def _open(self, _values: Mapping[str, str]) -> None:
        if self._written is None:
            raise UsageError("there is no report yet; write one first.")
        try:
            with self._written.open("rb") as file:
                content = file.read(_LARGEST + 1)
        except OSError as error:
            raise DataError(f"cannot read {self._written}: {error.strerror}; write the report again.") from error
        if len(content) > _LARGEST:
            raise DataError(f"{self._written} is too large to be shown from here; open it from its folder.")
        self.send({"open": {"name": self._written.name, "text": content.decode("utf-8"), "type": "text/html"}})

    def _told(self, changed: frozenset[str]) -> None:
        if changed & self.shown and self._written is not None and not self._note:
            self._note = _CHANGED
        super()._told(changed)

    def _ended(self, ending: Ending) -> None:
        """Take the end of the command: the report, or why there is none."""
        self._job = None
        if self.comm is None:
            return
        try:
            found = json.loads(ending.output)
            self._written, self.answer, self._status = Path(found["html"]), str(found["answer"]), int(found["status"])
            self._note = "" if self.session.state == self._reported else _CHANGED
        except (ValueError, KeyError, TypeError):
            self._note = "Cancelled; no report was written." if ending.was_cancelled else ""
            last = (ending.errors.strip() or f"it ended with status {ending.status}").splitlines()[-1]
            self.problem = "" if ending.was_cancelled else f"no report was written: {last}"
        self.refresh()
