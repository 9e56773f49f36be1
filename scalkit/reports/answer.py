"""The verdicts of a page in a few sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scalkit.plots.style import rank_key
from scalkit.text import capital, counted, joined

if TYPE_CHECKING:
    from scalkit.reports.page import Page


def answer(page: Page) -> str:
    """Return the headline and what stands behind it."""
    return f"{headline_sentence(page)} {details(page)}"


def headline_sentence(page: Page) -> str:
    """Return the problems, or that there is none, as a sentence."""
    return f"{capital(page.result.headline)}."


def details(page: Page) -> str:
    """Return the counts of the verdicts, what grows faster or slower, broken rules, changes, and the exit status."""
    return " ".join(_sentences(page))


def status_sentence(status: int) -> str:
    """Return the exit status and what it means."""
    word = "no deciding verdict or rule fails" if status == 0 else "a deciding verdict or rule fails"
    return f"Exit status {status}: {word}."


def _sentences(page: Page) -> list[str]:
    verdicts, counts = page.result.verdicts, page.result.counts
    functions = {v.function.partition("[")[0] for v in verdicts}
    sentences = [
        f"{counted(len(verdicts), 'verdict')} on {counted(len(functions), 'function')}: {counts['total']} total match, "
        f"{counts['approximate']} approximate, {counts['none']} no match"
        + (f", {counts['undecided']} undecided." if counts["undecided"] else ".")
    ]
    faster = [v for v in verdicts if rank_key(v) == "none"]
    sentences += _named("grows", "grow", "faster than expected", [v.function for v in faster if v.decides])
    idle = sum(not v.decides for v in faster)
    if idle:
        verb = "grows" if idle == 1 else "grow"
        sentences.append(
            f"{idle} {verb} faster than expected under a caveat and therefore {'does' if idle == 1 else 'do'} not decide."
        )
    slower = [v.function for v in verdicts if rank_key(v) == "slower"]
    sentences += _named("grows", "grow", "slower than expected, which is fine", slower)
    broken = [str(rule.rule) for rule in page.result.rules if rule.is_failure]
    sentences += [f"Violated as measured: {'; '.join(broken)}."] * bool(broken)
    if page.result.comparison is not None:
        sentences.append(f"{capital(page.result.comparison.headline)}.")
    return [*sentences, status_sentence(page.status)]


def _named(one: str, many: str, what: str, functions: Sequence[str]) -> list[str]:
    if not functions:
        return []
    return [f"{joined(functions)} {one if len(functions) == 1 else many} {what}."]
