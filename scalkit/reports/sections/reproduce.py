"""How to make the same report again, in commands and in Python."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from scalkit.reports.markup import esc
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section

__all__ = ["reproduce"]


def reproduce(page: Page) -> Section:
    """Return the commands that measure and report once more, and the same verdicts in Python."""
    runs = [shlex.quote(run) for run in page.named]
    expect = "" if page.expectations_name == "mpi" else f" --expect {shlex.quote(page.expectations_name)}"
    commands = [
        f"scalkit report {' '.join(runs)}{expect} --out report.html",
        f"scalkit validate {' '.join(runs)}{expect}",
    ]
    measured = page.campaign.get("command")
    if isinstance(measured, str) and measured:
        commands.insert(0, measured)
    python = (
        "import scalkit as sk\n"
        "from scalkit.validation.catalogue import load_expectations\n\n"
        f"data = sk.read({page.named[0]!r})\n"
        f"result = sk.validate(data, load_expectations({page.expectations_name!r}))\n"
        "print(result.to_frame())"
    )
    return Section.of(
        '<div class="sheet"><h3>Commands</h3>'
        f"{_code('Commands', commands)}<h3>Python</h3>{_code('Python', [python])}"
        '<p class="soft">The verdicts also stand beside this file, for programs: <code>.verdict.json</code> and '
        "<code>.junit.xml</code>.</p></div>"
    )


def _code(label: str, lines: Sequence[str]) -> str:
    return f'<pre tabindex="0" role="group" aria-label="{label}">{esc(chr(10).join(lines))}</pre>'
