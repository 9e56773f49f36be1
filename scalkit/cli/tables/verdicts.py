"""Prints a validation: the table of verdicts, rules, the comparison with a baseline, and what to keep in mind."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from scalkit.cli.tables.printed import printed
from scalkit.text import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from scalkit.validation import AnyVerdict, Validation
    from scalkit.validation.baseline.comparison import Comparison

_STYLES = {"fix": "bold red", "cannot tell": "magenta", "fine": "green"}


def show(result: Validation, status: int, saved: Path | None = None) -> None:
    """Print a result to standard output, and where its baseline was saved."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    console.print(_table(result))
    _part(console, "Rules", (f"{rule.sentence}{'' if rule.decides else ' (does not decide)'}" for rule in result.rules))
    _part(console, "Litmus test", (result.litmus.sentence,) if result.litmus else ())
    said = {rule.sentence for rule in result.rules}
    if result.comparison is not None:
        _part(console, f"Compared with {result.expectations or 'the baseline'}", _changes(result.comparison))
        said.add(result.comparison.headline)
    _part(console, "To keep in mind", (warning for warning in result.warnings if warning not in said))
    if saved is not None:
        console.print(printed(f"The baseline of {counted(len(result), 'verdict')} is in {saved}."))
    console.print(printed(f"{result.matches}."))
    console.print(printed(f"{result.headline[0].upper()}{result.headline[1:]}. Exit status {status}.", style="bold"))


def _part(console: Console, title: str, lines: Iterable[str]) -> None:
    """Print a title and indented lines; nothing if there are none."""
    for number, line in enumerate(lines):
        if number == 0:
            console.print(printed(title, style="bold"))
        console.print(printed(f"  {line}"))


def _changes(comparison: Comparison) -> list[str]:
    """Return what changed, the worst first, and how much did not."""
    found = [
        f"{change.sentence}{'' if change.decides else ' (does not decide)'}"
        for kind in ("worse", "factor", "undecided", "better", "gone", "new")
        for change in comparison.of(kind)
    ]
    same = len(comparison.of("same"))
    if not found:
        return [f"{counted(same, 'function')} as before."]
    return [*found, f"{counted(same, 'other')} as before."] if same else found


def _table(result: Validation) -> Table:
    from rich.table import Table

    from scalkit.validation.answer import ANSWER_SYMBOLS

    remark = None if all(verdict.decides for verdict in result.verdicts) else "⚠ does not decide the exit status"
    table = Table(caption=remark, caption_justify="left", title_justify="left")
    for name, kind in (
        ("Answer", "left"),
        ("Function", "left"),
        ("Metric", "left"),
        ("Expectation", "left"),
        ("passes up to", "left"),
        ("Model", "left"),
        ("adj. R²", "right"),
        ("Divergence", "left"),
        ("Match", "left"),
    ):
        table.add_column(name, justify=kind)  # type: ignore[arg-type]
    for verdict in result.worst_first:
        words = f"{ANSWER_SYMBOLS[verdict.answer]} {verdict.answer}"
        table.add_row(printed(words, style=_STYLES[verdict.answer]), *(printed(cell) for cell in _cells(verdict)))
    return table


def _cells(verdict: AnyVerdict) -> tuple[str, ...]:
    from scalkit.validation.answer import in_decimals
    from scalkit.validation.verdict import MATCH_WORDS, Verdict

    r2 = "-" if math.isnan(verdict.adjusted_r2) else f"{verdict.adjusted_r2:.3f}"
    growth = str(verdict.expectation.growth)
    origin = ", virtual" if verdict.series.virtual else ", simulated" if verdict.series.simulated else ""
    metric = f"{verdict.metric}{origin}"
    match = f"{MATCH_WORDS[verdict.verdict]}{', slower' if verdict.is_better else ''}{'' if verdict.decides else ' ⚠'}"
    passes = in_decimals(verdict.passes_up_to) if isinstance(verdict, Verdict) and not verdict.against else "-"
    return verdict.function, metric, growth, passes, str(verdict.model), r2, str(verdict.divergence), match
