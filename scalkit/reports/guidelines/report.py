"""Writes a report about guidelines: the parameters of ``93_guidelines.ipynb``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from scalkit.bundled import bundled, here_or_bundled
from scalkit.errors import ReportError
from scalkit.guidelines import Guideline, catalogue, measured
from scalkit.guidelines.tables import PathLike, csv_text
from scalkit.reports.writer.target import Target
from scalkit.reports.writer.write import ReportResult, given, work_folder, write

TEMPLATE = "notebooks/93_guidelines.ipynb"


def guidelines_report(
    source: Any,
    guidelines: Iterable[str | PathLike] | str | None = None,
    out: PathLike = "guidelines.html",
    *,
    force: bool = False,
    title: str | None = None,
    predict: str = "",
    up_to: float | None = None,
    fail_on: Sequence[str] = (),
    progress: Callable[[int, int], object] | None = None,
    **options: Any,
) -> ReportResult:
    """Write a report about guidelines as one HTML file, with JSON and JUnit XML beside it.

    `source`: run folders, CSV files, or a table at hand; see `scalkit.guidelines.tables.read_tables`.
    `guidelines`: texts, TOML files, names of bundled sets; all bundled ones by default.
    `out`: the HTML file; for ``r.html``, ``r.verdict.json`` (the assessment) and ``r.junit.xml`` are written beside it.
    `force`: replace existing files. `predict`: the parameter to fit models along, such as ``"p"``; empty: no prediction.
    `up_to`: how far to look.
    `fail_on`: ``"inconclusive"``, ``"undecidable"``, ``"untested"``, ``"predicted"``: what adds to status 1.
    `progress`: called with the number of steps done and of all. `**options`: further arguments of `scalkit.guidelines.assess`.
    Raises ReportError if the place cannot be written to, or the notebook fails; nothing is left there then; DataError or
    RuleError or UsageError if an input is wrong.
    """
    target = Target.of(out, force=force)
    asked = [guidelines] if isinstance(guidelines, str | os.PathLike | Guideline) else list(guidelines or ())
    texts = [_text(one) for one in asked]
    catalogue.guidelines(texts or catalogue.CATALOGUES)  # a wrong one is refused before a notebook is started
    with work_folder() as folder:
        runs, named = _runs(source, folder, options)
        how = given(options=_plain(options), predict=predict, up_to=up_to, fail_on=list(fail_on), title=title)
        parameters = {"runs": runs, "named": named, "guidelines": texts, **how}
        return write(bundled(TEMPLATE), parameters, target, folder, progress=progress)


def _runs(source: Any, folder: Path, options: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return paths of the measurements and how the report names them; a table at hand becomes a file."""
    if isinstance(source, str | os.PathLike):
        source = [source]
    if isinstance(source, Sequence) and source and all(isinstance(one, str | os.PathLike) for one in source):
        return [str(here_or_bundled(Path(one).expanduser()).absolute()) for one in source], [
            os.fspath(one) for one in source
        ]
    from scalkit.guidelines.tables import read_tables

    own = {key: options.pop(key) for key in ("value", "run") if key in options}
    ignore = options.pop("ignore", ("repetition",))
    table = read_tables(source, value=own.get("value", "time"))
    path = folder / "measurements.csv"
    path.write_text(csv_text(measured(table, ignore=ignore, **own)), encoding="utf-8")
    return [str(path)], ["a table in memory"]


def _text(one: Any) -> str:
    """Return a guideline as text; files by a path that holds anywhere."""
    if isinstance(one, Guideline):
        if one.kind != "levels" or one.where or one.apart_from or one.name:
            raise ReportError(f"the guideline '{one}' says more than its text; write it to a TOML file and name that.")
        return str(one)
    text = os.fspath(one)
    return str(Path(text).absolute()) if Path(text).is_file() else text


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    found = {key: list(value) if isinstance(value, tuple) else value for key, value in options.items()}
    if "ignore" in found and "repetition" not in found["ignore"]:
        found["ignore"] = ["repetition", *found["ignore"]]
    return found
