"""Writes a report about one run of a store: papermill runs ``96_run.ipynb``, nbconvert makes one HTML file of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from scalkit.reports.bundled import bundled
from scalkit.reports.writer.outcome import read_outcome
from scalkit.reports.writer.target import Target
from scalkit.store import Store
from scalkit.store import open as open_store

__all__ = ["TEMPLATE", "run_report"]

TEMPLATE = "notebooks/96_run.ipynb"


@dataclass(frozen=True)
class _Alone(Target):
    """A page with nothing beside it."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The page."""
        return (self.html,)


def run_report(
    store: Store | str | os.PathLike[str],
    run: str = "",
    out: str | os.PathLike[str] = "run.html",
    *,
    title: str = "",
    force: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Write a report about a run: who measured where, with which switches, every suite with its quartiles, and caveats.

    Parameters
    ----------
    store : Store or path
        A folder or a zip.
    run : str
        Id of the run, or its beginning; by default the newest.
    out : path
        The HTML file, which loads nothing from any network.
    title : str
        Made from the run if empty.
    force : bool
        Replace an existing file.
    progress : callable, optional
        Called with the number of steps done and of all.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    StoreError, DataError
        If there is no such store or run.
    ReportError
        If the place cannot be written to, or the notebook fails; nothing is left there then.
    """
    from scalkit.reports.writer.html_page import render
    from scalkit.reports.writer.kernel import execute

    target = _Alone.of(out, force=force)
    opened = store if isinstance(store, Store) else open_store(store, readonly=True)
    named = str(opened.path) if isinstance(store, Store) else os.fspath(store)
    full = opened.resolve(run) if run else ""
    with tempfile.TemporaryDirectory(prefix="scalkit-report-", ignore_cleanup_errors=True) as folder:
        given = {"store": str(opened.path.absolute()), "run": full, "title": title, "named": named, "outcome": folder}
        done = execute(bundled(TEMPLATE), given, Path(folder), progress=progress)
        target.write({target.html: render(done, read_outcome(Path(folder)).title)})
    return target.html
