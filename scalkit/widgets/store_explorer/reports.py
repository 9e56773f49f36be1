"""The report of a run, downloaded from the explorer of a store."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from scalkit.errors import UsageError
from scalkit.store.views.explorer import Browsing
from scalkit.widgets.base.part import Action, Pieces
from scalkit.widgets.base.source import source
from scalkit.widgets.base.templates import drawn
from scalkit.widgets.explorer.job import Ending, Job

_MOST = 200


class StoreReports(Pieces):
    """Makes a page of one of the chosen runs beside the kernel, as ``scalkit store report`` does, and saves it."""

    _esm = source("base/kernel.js", "base/part.js", "store_explorer/downloads.js")

    def __init__(self, browsing: Browsing) -> None:
        super().__init__()
        self.browsing = browsing
        self._job: Job | None = None
        self._lines: list[str] = []
        self._run = ""
        self._folder = tempfile.TemporaryDirectory(prefix="scalkit-report-", ignore_cleanup_errors=True)
        self.on_msg(self._asked)
        self.refresh()
        self._enter_cell()

    @property
    def is_running(self) -> bool:
        """Whether a page is being made."""
        return self._job is not None

    def close(self) -> None:
        """Close the widget, end what it runs, and delete its page."""
        if self._job is not None:
            self._job.cancel()
        self._folder.cleanup()
        super().close()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end outside a notebook, or for some seconds; return whether it ended."""
        return self._job is None or self._job.wait(seconds)

    def _drawn(self) -> dict[str, str]:
        ids = self.browsing.run_ids[:_MOST]
        rows = self.browsing.all_runs.set_index("run_id").loc[list(ids)].itertuples()
        runs = {
            run: ", ".join(filter(None, (row.platform, row.label or run[:12], row.started[:16])))
            for run, row in zip(ids, rows, strict=True)
        }
        return drawn("store.html", part="report", runs=runs, now=self._run, is_running=self._job is not None)

    def _actions(self) -> dict[str, Action]:
        return {"report": self._start, "cancel": lambda _: self._job.cancel() if self._job is not None else None}

    def _start(self, texts: Mapping[str, str]) -> None:
        run = texts.get("run", "")
        if self._job is not None:
            raise UsageError("a report is being written; wait for the end, or cancel it.")
        if run not in self.browsing.run_ids:
            raise UsageError("choose a run first, of which the report is to be.")
        self._run, self._lines = run, []
        words = ["store", "report", str(self.browsing.store.path), run, "--out", str(self._page), "--force", "--json"]
        self._job = Job(words, self._said, self._ended)

    @property
    def _page(self) -> Path:
        return Path(self._folder.name) / "run.html"

    def _said(self, line: str) -> None:
        self._lines = [*self._lines[-20:], *([line] if line.strip() else [])]

    def _ended(self, ending: Ending) -> None:
        """Save the page, or say why there is none."""
        self._job = None
        if self.comm is None:
            return
        try:
            content = Path(json.loads(ending.output)["path"]).read_bytes()
        except (ValueError, KeyError, TypeError, OSError):
            why = self._lines[-1] if self._lines else f"it ended with status {ending.status}"
            self.problem = "" if ending.was_cancelled else f"no report was written: {why}"
        else:
            saved = {"name": f"run-{self._run[:12]}.html", "type": "text/html"}
            self.send({"saved": {**saved, "base64": base64.b64encode(content).decode()}})
        self.refresh()

    def _fallback_text(self) -> str:
        return ""

    def _fallback_html(self) -> str:
        return ""
