"""The explorer of a store: choose runs, choose suites, see them in one picture and download it."""

import base64
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import ipywidgets

from scalkit.errors import ScalkitError, UsageError
from scalkit.markup import esc
from scalkit.plots.store.suites import FORMATS, download, joint
from scalkit.store import Store
from scalkit.store import open as open_store
from scalkit.store.views.comparison import Comparison
from scalkit.store.views.explorer import Browsing
from scalkit.widgets.base.cells import CellWidget, Fallback, in_one_piece
from scalkit.widgets.base.part import Action, Pieces
from scalkit.widgets.base.plot_view import PlotView, flowing
from scalkit.widgets.base.templates import drawn, source
from scalkit.widgets.explorer.job import Ending, HoldsJob, Job
from scalkit.widgets.store_explorer.lists import StoreRuns, StoreSuites

_TYPES = {"svg": "image/svg+xml", "pdf": "application/pdf", "eps": "application/postscript", "csv": "text/csv"}


class StoreDownloads(Pieces):
    """What the picture says in words, and its download. `shown`: returns what is in the picture; None if there is nothing."""

    _esm = source("base/kernel.js", "base/part.js", "store_explorer/downloads.js")

    def __init__(self, shown: Callable[[], Comparison | None]) -> None:
        super().__init__()
        self._shown = shown
        self._begin()

    def _drawn(self) -> dict[str, str]:
        return drawn("store.html", part="plot", comparison=self._shown(), formats=FORMATS)

    def _actions(self) -> dict[str, Action]:
        return {"save": lambda texts: self._save(texts.get("key", ""))}

    def _save(self, kind: str) -> None:
        comparison = self._shown()
        if comparison is None or kind not in _TYPES:
            return
        content = base64.b64encode(download(comparison, kind)).decode()
        self.send({"saved": {"name": f"comparison.{kind}", "type": _TYPES[kind], "base64": content}})

    def _fallback_text(self) -> str:
        comparison = self._shown()
        return "" if comparison is None else " ".join(comparison.sentences)

    def _fallback_html(self) -> str:
        return f"<p>{esc(self._fallback_text())}</p>"


class StoreExplorer(Fallback, CellWidget, ipywidgets.VBox):  # type: ignore[misc]
    """Three panes: the runs of a store, the suites of the chosen ones, and a joint picture of the chosen suites.

    Parameters
    ----------
    store : Store or path
        A folder or a zip; a path is opened read-only where nothing may be written. None is made.

    Attributes
    ----------
    store : Store
    browsing : scalkit.store.views.explorer.Browsing
        What is chosen.
    runs, suites : StoreList
    picture : PlotView
    downloads : StoreDownloads
    reports : StoreReports

    Raises
    ------
    StoreError
        If there is no store.
    UsageError
        If it is neither a store nor a path.
    """

    def __init__(self, store: Store | str | os.PathLike[str]) -> None:
        self.store = _opened(store)
        self.browsing = Browsing(self.store)
        self.browsing.begin()
        self._comparison: Comparison | None = None
        with in_one_piece():
            self.runs = StoreRuns(self.browsing, self._runs_changed)
            self.suites = StoreSuites(self.browsing, self._draw)
            self.downloads = StoreDownloads(lambda: self._comparison)
            self.picture = PlotView()
            self.reports = StoreReports(self.browsing)
        flow = flowing(grid_gap="0 24px")
        for part in (self.runs, self.suites):
            part.layout.flex, part.layout.min_width, part.layout.width = "1 1 420px", "0", "auto"
        lists = ipywidgets.Box([self.runs, self.suites], layout=flow)
        layout = ipywidgets.Layout(width="100%", overflow="visible")
        super().__init__([lists, self.downloads, self.picture, self.reports], layout=layout)
        self._draw()
        self._enter_cell()

    def close(self) -> None:
        """Close the widget with its parts, and end what they run."""
        if hasattr(self, "reports"):  # not where the store could not be opened
            self.reports.close()
        super().close()

    def _runs_changed(self) -> None:
        self.suites.show()
        self.reports.problem = ""
        self.reports.refresh()
        self._draw()

    def _draw(self) -> None:
        """Draw what is chosen; what cannot be in one picture is said, and the picture is empty."""
        self._comparison, self.downloads.problem = None, ""
        try:
            self._comparison = self.browsing.comparison()
            figure = joint(self._comparison) if self._comparison is not None else None
        except ScalkitError as error:
            self._comparison, figure = None, None
            self.downloads.problem = str(error)
        self.picture.layout.display = "none" if figure is None else None
        if figure is not None:
            self.picture.xrange = []
            self.picture.show(figure)
        self.downloads.refresh()

    def _fallback_text(self) -> str:
        return repr(self.store)

    def _fallback_html(self) -> str:
        return self.runs._fallback_html() + self.downloads._fallback_html()


def _opened(store: object) -> Store:
    if isinstance(store, Store):
        return store
    if not isinstance(store, str | os.PathLike):
        raise UsageError(f"an explorer shows a store, or its folder or zip, got {type(store).__name__}.")
    return open_store(Path(store), readonly=True)  # nothing is made where no store is, and none is changed


_MOST = 200


class StoreReports(HoldsJob, Pieces):
    """Makes a page of one of the chosen runs beside the kernel, as ``scalkit store report`` does, and saves it."""

    _esm = source("base/kernel.js", "base/part.js", "store_explorer/downloads.js")

    def __init__(self, browsing: Browsing) -> None:
        super().__init__()
        self.browsing = browsing
        self._lines: list[str] = []
        self._run = ""
        self._folder = tempfile.TemporaryDirectory(prefix="scalkit-report-", ignore_cleanup_errors=True)
        self._begin()

    def close(self) -> None:
        """Close the widget, end what it runs, and delete its page."""
        super().close()
        self._folder.cleanup()

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
        self._job = Job(words, self._keep, self._ended)

    @property
    def _page(self) -> Path:
        return Path(self._folder.name) / "run.html"

    def _ended(self, ending: Ending) -> None:
        """Save the page, or say why there is none."""
        self._job = None
        if self.comm is None:
            return
        try:
            content = Path(json.loads(ending.output)["path"]).read_bytes()
        except (ValueError, KeyError, TypeError, OSError):
            self.problem = "" if ending.was_cancelled else f"no report was written: {self._why(ending)}"
        else:
            saved = {"name": f"run-{self._run[:12]}.html", "type": "text/html"}
            self.send({"saved": {**saved, "base64": base64.b64encode(content).decode()}})
        self.refresh()

    def _fallback_text(self) -> str:
        return ""

    def _fallback_html(self) -> str:
        return ""
