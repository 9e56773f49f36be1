"""Writes a report about one run of a store: the parameters of ``96_run.ipynb``."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from scalkit.bundled import bundled
from scalkit.reports.writer.target import Target
from scalkit.reports.writer.write import work_folder, write
from scalkit.store import Store
from scalkit.store import open as open_store

TEMPLATE = "notebooks/96_run.ipynb"


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
    target = Target.of(out, force=force, alone=True)
    opened = store if isinstance(store, Store) else open_store(store, readonly=True)
    named = str(opened.path) if isinstance(store, Store) else os.fspath(store)
    asked = {"store": str(opened.path.absolute()), "run": opened.resolve(run) if run else "", "named": named}
    with work_folder() as folder:
        return write(bundled(TEMPLATE), {**asked, "title": title}, target, folder, progress=progress).html
