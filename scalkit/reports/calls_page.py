"""The page on a profile: what a program spent in each function of MPI, and from where."""

from pathlib import Path
from typing import Any

from scalkit.errors import ReportError
from scalkit.extras import require
from scalkit.files import whole_file
from scalkit.reports.pieces import Section, lines, name, notes, soft, table
from scalkit.reports.writer.content import made_with, written_now
from scalkit.reports.writer.write import render
from scalkit.trace.calls.profile import FUNCTIONS, PLACES, Profile, function_rows, head_line, place_rows

_MOST_ROWS = 500
"""Rows of a table that a browser still lays out at once; `calls.json` has all."""


def write_calls_page(profile: Profile, out: Path, title: str) -> None:
    """Write the page. Raises MissingPackageError without what writes reports, ReportError if `out` cannot be written."""
    require("report")
    import nbformat.v4

    cells: Any = nbformat.v4

    most = profile.calls[0] if profile.calls else None
    by = f", called by {most.where}" if most and most.where else ""
    answer = f"{head_line(profile)}; most of that in {most.function}{by}." if most else f"{head_line(profile)}."
    facts = [("processes", profile.facts["locations"]), ("library", profile.facts.get("library", "")), ("report", written_now())]
    words = {"kicker": "Profile of MPI calls", "answer": answer, "details": ""}
    top = Section.rendered("top.html", page={"title": title}, facts=facts, tiles=[], **words)
    functions = [(name(row[0]), *row[1:]) for row in function_rows(profile)]
    places = [(name(row[0]), *row[1:]) for row in place_rows(profile)[:_MOST_ROWS]]
    n_all = len(profile.calls)
    more = soft(f"The {_MOST_ROWS} longest of {n_all:,}; calls.json has all.") if n_all > _MOST_ROWS else ""
    lead = "The calls of a function from one place of the program, of all processes together."
    shown = [
        ("## Functions", Section.sheet(table("functions", FUNCTIONS, functions, range(1, len(FUNCTIONS))))),
        (f"## Places\n\n{lead}", Section.sheet(table("places", PLACES, places, range(2, len(PLACES))), more)),
        ("## Left out", Section.of(notes(profile.problems))),
        ("## Made with", Section.sheet(table("versions", (), lines(made_with("nbconvert").items())))),
    ]
    notebook = cells.new_notebook(cells=[_cell(cells, top, "masthead")])
    for heading, section in shown:
        if section.pieces:  # not what is left out where nothing is
            notebook.cells += [cells.new_markdown_cell(heading), _cell(cells, section)]
    with whole_file(out, ReportError) as part:
        part.write_text(render(notebook, title), encoding="utf-8")


def _cell(cells: Any, section: Section, *tags: str) -> Any:
    outputs = [cells.new_output("display_data", piece.bundle()) for piece in section]
    return cells.new_code_cell("", outputs=outputs, metadata={"tags": list(tags)})
