"""Writes a validation as annotations, which GitHub Actions shows at a commit and at the lines of its files."""

from collections.abc import Collection, Iterator, Mapping

from scalkit.judge.baseline.comparison import Comparison
from scalkit.judge.judged import grows_slower
from scalkit.judge.result import Validation


def to_github(
    result: Validation, fail_on: Collection[str] = (), *, file: str = "", lines: Mapping[str, int] | None = None
) -> str:
    """Return workflow commands: errors for what decides the exit status, notices of what is fine, else warnings.

    `fail_on`: as in `Validation.exit_status`.
    `file`: the file of expectations, relative to the repository, to show annotations at.
    `lines`: the line of each function there.
    Returns: one command a line; empty if there is nothing to say.

    Source: GitHub, "Workflow commands for GitHub Actions": ``::error file=...,line=...,title=...::message``.
    """
    result.exit_status(fail_on)
    known = lines or {}
    said: list[str] = []
    found: list[str] = []
    announced: dict[tuple[str, str], bool] = {}
    for verdict in result.worst_first:
        is_better = grows_slower(verdict)
        is_asked = ("better" in fail_on and is_better) or ("cannot-tell" in fail_on and verdict.answer == "cannot tell")
        fails = verdict.answer == "fix" or (verdict.decides and is_asked)
        if fails or verdict.answer != "fine" or is_better:
            line = known.get(verdict.function, known.get(verdict.function.partition("[")[0], 0))
            title = f"{verdict.function} ({verdict.metric}): {verdict.answer}"
            kind = "error" if fails else "notice" if verdict.answer == "fine" else "warning"
            found.append(command(kind, title, verdict.sentence, file, line))
            said.append(verdict.sentence)
            announced[verdict.function, verdict.metric] = fails
    for rule in result.rules:
        fails = rule.is_failure or ("predicted" in fail_on and rule.decides and rule.status == "predicted")
        if fails or rule.status != "holds":
            found.append(command("error" if fails else "warning", f"rule {rule.status}", rule.sentence, file))
            said.append(rule.sentence)
    if result.comparison is not None:
        found += _of_baseline(result.comparison, fail_on, announced, said)
        said.append(result.comparison.headline)
    found += [command("warning", "scalkit", text, file) for text in result.warnings if text not in said]
    return "".join(found)


def _of_baseline(
    comparison: Comparison, fail_on: Collection[str], announced: Mapping[tuple[str, str], bool], said: Collection[str]
) -> Iterator[str]:
    """Yield a command for each change worth it; verdicts about the status quo have said the most already."""
    failures = comparison.failures([word for word in fail_on if word != "predicted"])
    for change in comparison:
        fails = change in failures
        known = announced.get((change.function, change.metric))
        is_shown = known is not None and known >= fails
        is_said = change.sentence in said or (is_shown and change.kind in ("worse", "better", "cannot tell"))
        if not is_said and (fails or change.kind in ("worse", "factor", "gone")):
            title = f"{change.function} ({change.metric}): {change.kind}"
            yield command("error" if fails else "warning", title, change.sentence)


def command(kind: str, title: str, message: str, file: str = "", line: int = 0) -> str:
    """Return a workflow command of a kind, ``"error"``, ``"warning"`` or ``"notice"``, with a title, at a line of a file."""
    properties = {"file": file, "line": str(line) if file and line else "", "title": title}
    shown = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value)
    return f"::{kind} {shown}::{_data(message)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
