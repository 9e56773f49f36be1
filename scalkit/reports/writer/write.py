"""Writes a report of any kind: papermill runs its notebook, nbconvert makes one HTML file of it, all files appear at once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalkit.errors import ReportError
from scalkit.reports.writer.executed import notebook_text, parameters_there
from scalkit.reports.writer.html_page import render
from scalkit.reports.writer.kernel import execute
from scalkit.reports.writer.outcome import read_outcome
from scalkit.reports.writer.pdf import print_page
from scalkit.reports.writer.target import Target


@dataclass(frozen=True)
class ReportResult:
    """What was written, and the verdict.

    Attributes
    ----------
    html, verdict_json, junit_xml : Path
        The report about one run of a store is the page alone.
    status : int
        0 or 1, as the command that writes the report would end.
    answer : str
        The verdicts in a few sentences.
    pdf, notebook : Path or None
        None if not asked for.
    """

    html: Path
    verdict_json: Path
    junit_xml: Path
    status: int
    answer: str
    pdf: Path | None = None
    notebook: Path | None = None


@contextmanager
def work_folder() -> Iterator[Path]:
    """Yield a temporary folder for what the notebook's process reads and writes.

    Raises ReportError if ``SOURCE_DATE_EPOCH`` is no number.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "0")
    if not (epoch.isascii() and epoch.isdecimal() and len(epoch) <= 11):
        raise ReportError(f"SOURCE_DATE_EPOCH is {epoch[:40]!r}; seconds since 1970 are needed, or unset it.")
    with tempfile.TemporaryDirectory(prefix="scalkit-report-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def given(**parameters: Any) -> dict[str, Any]:
    """Return the parameters that say something; an empty one keeps its default in the notebook."""
    return {key: value for key, value in parameters.items() if value not in ("", [], {}, None)}


def write(
    template: Path,
    parameters: Mapping[str, Any],
    target: Target,
    folder: Path,
    *,
    browser: str = "",
    progress: Callable[[int, int], object] | None = None,
) -> ReportResult:
    """Run a notebook and write the files of its report.

    Parameters
    ----------
    template : Path
        A notebook whose last cell calls `Content.save` with the parameter ``outcome``.
    parameters : mapping of name to JSON value
    target : Target
    folder : Path
        Of `work_folder`.
    browser : str
        The program that prints the PDF, where one is wanted.
    progress : callable, optional
        Called with the number of steps done and of all: the cells of the notebook, then the files.

    Raises
    ------
    ScalkitError
        What a cell raised.
    ReportError
        If the notebook fails, no browser prints the PDF, or the files cannot be written; nothing is left there then.
    """
    # The page, and with it the PDF, is a step of its own: the bar is full only once the files are written.
    counted = None if progress is None else (lambda done, total: progress(done, total + 1))
    done = execute(template, {**parameters, "outcome": str(folder)}, folder, progress=counted)
    outcome = read_outcome(folder)
    html = render(done, outcome.title, outcome.sessions)
    contents: dict[Path, str | bytes] = {target.html: html}
    if outcome.texts:
        contents |= {target.verdict_json: outcome.texts["verdict.json"], target.junit_xml: outcome.texts["junit.xml"]}
    if target.pdf is not None:
        page = folder / "page.html"
        page.write_text(html, encoding="utf-8")
        contents[target.pdf] = print_page(page, browser, folder)
    if target.notebook is not None:
        contents[target.notebook] = notebook_text(done, parameters_there(parameters, target.html))
    target.write(contents)
    files = (target.html, target.verdict_json, target.junit_xml)
    return ReportResult(*files, outcome.status, outcome.answer, target.pdf, target.notebook)
