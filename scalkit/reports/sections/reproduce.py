"""How to make the same report again, in commands and in Python."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from scalkit.reports.markup import esc
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section

__all__ = ["reproduce"]


def reproduce(page: Page) -> Section:
    """Return the commands that measure and report once more, and the same verdicts in Python."""
    runs = [shlex.quote(run) for run in page.named]
    expect = "" if page.expectations_name in ("mpi", "") else f" --expect {shlex.quote(page.expectations_name)}"
    commands = [
        f"scalkit report {' '.join(runs)}{expect} --out report.html",
        f"scalkit validate {' '.join(runs)}{expect}",
    ]
    if page.arguments:
        commands.insert(0, measuring(page.arguments))
    data = repr(page.named[0]) if len(page.named) == 1 else repr(list(page.named))
    stated = repr(page.expectations_name) if page.expectations_name else "expectations"
    python = (
        "import scalkit as sk\n\n"
        f"data = sk.read({data})\n"
        f"result = sk.validate(data, {stated})\n"
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


def measuring(arguments: Mapping[str, Any]) -> str:
    """Return the command that repeats a campaign, from the arguments in its record."""
    options = {"runs": "--runs", "budget_s": "--budget", "ops": "--ops", "size": "--size", "datatype": "--datatype"}
    options |= {"sync": "--sync", "max_reps": "--max-reps", "seed": "--seed"}
    words = ["scalkit", "measure", *map(str, arguments.get("kinds", ())), "-n", _listed(arguments.get("counts", ()))]
    for key, option in options.items():
        value = arguments.get(key)
        if value not in (None, "", [], 0):
            words += [option, _listed(value)]
    return shlex.join([*words, "--out", "runs/again"])


def _listed(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(str(each) for each in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
