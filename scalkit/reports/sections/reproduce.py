"""How to make the same report again, in commands and in Python."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from scalkit.fit import MIN_POINTS
from scalkit.reports.markup import esc
from scalkit.reports.page import Page
from scalkit.reports.pieces import Section

__all__ = ["reproduce"]


def reproduce(page: Page) -> Section:
    """Return the commands that measure and report once more, and the same verdicts in Python."""
    commands = [measuring(page.arguments, page.campaign.get("mpi"))] if page.arguments else []
    is_for_commands = bool(page.expectations_name) and not page.rules
    if is_for_commands:
        commands += _judging(page)
    remark = (
        ""
        if is_for_commands
        else (
            '<p class="soft">Expectations or rules were stated in Python, which the commands report and validate cannot '
            "repeat; write them into a TOML file for --expect.</p>"
        )
    )
    shown = f"<h3>Commands</h3>{_code('Commands', commands)}" if commands else ""
    return Section.of(
        f'<div class="sheet">{shown}{remark}<h3>Python</h3>{_code("Python", _python(page))}'
        '<p class="soft">The verdicts also stand beside this file, for programs: <code>.verdict.json</code> and '
        "<code>.junit.xml</code>.</p></div>"
    )


def _code(label: str, lines: Sequence[str]) -> str:
    return f'<pre tabindex="0" role="group" aria-label="{label}">{esc(chr(10).join(lines))}</pre>'


def _judging(page: Page) -> list[str]:
    """Return the commands that write the same report and print the same verdicts."""
    expect = [] if page.expectations_name == "mpi" else ["--expect", page.expectations_name]
    options = [word for each in page.fail_on for word in ("--fail-on", each)]
    if page.result.statistic != "q1":
        options += ["--statistic", page.result.statistic]
    if page.min_points != MIN_POINTS:
        options += ["--min-points", str(page.min_points)]
    runs = [run if not run.startswith("-") else f"./{run}" for run in page.named]
    return [
        shlex.join(["scalkit", "report", *runs, *expect, *options, "--out", "report.html"]),
        shlex.join(["scalkit", "validate", *runs, *expect, *options]),
    ]


def _python(page: Page) -> list[str]:
    """Return the lines that give the same verdicts in Python."""
    data = repr(page.named[0]) if len(page.named) == 1 else repr(list(page.named))
    words = ["data", repr(page.expectations_name) if page.expectations_name else "expectations"]
    words += [f"rules={list(page.rules)!r}"] * bool(page.rules)
    words += [f"statistic={page.result.statistic!r}"] * (page.result.statistic != "q1")
    words += [f"min_points={page.min_points}"] * (page.min_points != MIN_POINTS)
    status = [f"print(result.exit_status({list(page.fail_on)!r}))"] if page.fail_on else []
    read, result = f"data = sk.read({data})", f"result = sk.validate({', '.join(words)})"
    return ["import scalkit as sk", "", read, result, "print(result.to_frame())", *status]


def measuring(arguments: Mapping[str, Any], mpi: object = None) -> str:
    """Return the command that repeats a campaign, from the arguments and the MPI library in its record."""
    options = {"runs": "--runs", "budget_s": "--budget", "ops": "--ops", "size": "--size", "datatype": "--datatype"}
    options |= {"sync": "--sync", "shapes": "--shapes", "max_reps": "--max-reps", "seed": "--seed"}
    kinds = arguments.get("kinds", ())
    words = ["scalkit", "measure", *(map(str, kinds) if isinstance(kinds, list | tuple) else [str(kinds)])]
    words += ["-n", _listed(arguments.get("counts", ()))]
    programs = {key: mpi.get(key) for key in ("mpicc", "mpiexec")} if isinstance(mpi, Mapping) else {}
    for key, option in {**options, "mpicc": "--mpicc", "mpiexec": "--mpiexec"}.items():
        value = programs.get(key, arguments.get(key))
        if value is not None and value not in ("", [], ()):
            words += [option, _listed(value)]
    return shlex.join([*words, "--out", "runs/again"])


def _listed(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(str(each) for each in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
