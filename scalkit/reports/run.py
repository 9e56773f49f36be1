"""Writes a report: papermill runs a template notebook, nbconvert turns it into one HTML file, all appear at once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import xarray as xr

from scalkit.errors import ReportError, UsageError
from scalkit.options import Judging, JudgingOptions
from scalkit.relation import Relation
from scalkit.reports.inputs import Input, checked_targets, input_of, inputs_of
from scalkit.reports.kinds import kind_of
from scalkit.reports.models_page import models_template
from scalkit.reports.own_growths import plain_growths
from scalkit.reports.template import DEFAULT, Template, named_template
from scalkit.reports.writer.outcome import Outcome, read_outcome
from scalkit.reports.writer.target import Target
from scalkit.validation.plain import plain_space
from scalkit.validation.several.space import Space

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from scalkit.session import Session

__all__ = ["ReportResult", "report"]

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class ReportResult:
    """What `report` wrote, and the verdict.

    Attributes
    ----------
    html, verdict_json, junit_xml : Path
    status : int
        0 or 1, as the command `scalkit report` would end.
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


def report(
    source: PathLike | xr.Dataset | Session | Sequence[Any] | Mapping[str, Any],
    expectations: object = None,
    out: PathLike = "report.html",
    *,
    template: str = DEFAULT,
    rules: Iterable[str | Relation] | str | Relation | None = (),
    force: bool = False,
    fail_on: Sequence[str] = (),
    title: str | None = None,
    parameter: str | Sequence[str] | None = None,
    targets: Sequence[float] | float = (),
    baseline: PathLike | xr.Dataset | Session | None = None,
    real_times: PathLike | xr.Dataset | None = None,
    labels: Sequence[str] = (),
    message: PathLike | None = None,
    functions: Sequence[str] = (),
    pdf: bool = False,
    notebook: bool = False,
    progress: Callable[[int, int], object] | None = None,
    **options: Unpack[JudgingOptions],
) -> ReportResult:
    """Write a report about measurements as one HTML file, with the verdicts for programs beside it.

    Parameters
    ----------
    source : path, sequence of paths, xarray.Dataset, or Session
        Run folders or files, data at hand, or a session (also its file, or an earlier report), which says itself what is
        expected. With the template ``"compare"`` a sequence of these, or a mapping from label to these, one for each column.
    expectations : path, name, mapping or ExpectationSet, optional
        As `scalkit.validate` takes them: a TOML file, a bundled catalogue (``"mpi"``, ``"mpi-all"``, ``"mafia"``), or function to
        expectation; by default ``"mpi"``.
    out : path
        The HTML file; for ``r.html``, ``r.verdict.json`` and ``r.junit.xml`` are written beside it.
    template : str
        ``"report"``, ``"compare"``, ``"regression"``, ``"models"``; see `scalkit.reports.templates`.
    rules : iterable of str or Relation
        Cross-function rules, in addition to those of the expectations.
    force : bool
        Replace existing files.
    fail_on : sequence of str
        ``"better"``, ``"predicted"``, ``"undecided"``, with a baseline also ``"factor"``, ``"gone"``: what adds to status 1.
    title : str, optional
        Made from the data by default.
    parameter : str or sequence of str, optional
        Which argument of the benchmarks in a JSON file is the parameter, as for `scalkit.read`.
    targets : float or sequence of float
        Values of the parameter to predict at; by default 16 and 256 times the largest measured one.
    baseline : path, xarray.Dataset, or Session, optional
        What to compare with: a file of `Baseline.save`, or earlier measurements. The template ``"regression"`` expects the
        growths in it, and of measurements finds them with `expectations`.
    real_times : path or xarray.Dataset, optional
        Of ``"report"``: run times of the real clock, shown beside those of virtual time and not judged.
    labels : sequence of str
        Heads of the columns of ``"compare"``; made from the data by default.
    message : path, optional
        Of ``"models"``: the model of a message, as `scalkit.perfmodels.files.sources.message_of` takes it.
    functions : sequence of str
        Of ``"models"``: only these; all by default.
    pdf : bool
        Also write ``r.pdf``, printed by Chromium.
    notebook : bool
        Also write ``r.ipynb``, the template as it ran.
    progress : callable, optional
        Called with the number of steps done and of all: the cells of the template, then the files.
    **options
        How it is judged, as for `scalkit.validate`; see `scalkit.options.Judging`. The statistic is by default that of the
        baseline.

    Returns
    -------
    ReportResult

    Raises
    ------
    ReportError
        If the place cannot be written to, the notebook fails, or no browser prints the PDF; nothing is left there then.
    DataError, RunFileError, ExpectationError, RuleError, UsageError
        If an input is wrong.

    Notes
    -----
    ``SOURCE_DATE_EPOCH`` sets the time in the report, so that the same input gives the same bytes.
    """
    from scalkit.reports.writer.executed import notebook_text, parameters_there
    from scalkit.reports.writer.pdf import find_browser

    _require_epoch()
    chosen = models_template() if template == "models" else named_template(template)
    target = Target.of(out, force=force, pdf=pdf, notebook=notebook)
    browser = find_browser() if pdf else ""
    given: dict[str, Any] = {
        "rules": [str(rule) for rule in ([rules] if isinstance(rules, str | Relation) else rules or ())],
        "title": title or "",
        "fail_on": [fail_on] if isinstance(fail_on, str) else list(fail_on or ()),
        "judging": _plain(options),
        "parameter": parameter if isinstance(parameter, str) else ",".join(parameter or ()),
        "targets": checked_targets(targets),
        "labels": list(labels),
        "message": _absolute(message),
        "functions": list(functions),
        "growths": plain_growths(),
    }
    with tempfile.TemporaryDirectory(prefix="scalkit-report-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        parameters = _parameters(chosen, source, expectations, baseline, real_times, given, folder)
        done, outcome = _executed(chosen, parameters, folder, progress)
        contents = _contents(target, done, outcome, folder, browser)
        if target.notebook is not None:
            contents[target.notebook] = notebook_text(done, parameters_there(parameters, target.html))
        target.write(contents)
    return ReportResult(
        target.html, target.verdict_json, target.junit_xml, outcome.status, outcome.answer, target.pdf, target.notebook
    )


def _plain(options: JudgingOptions) -> dict[str, Any]:
    """Return the options that were given as JSON values; None is the default."""
    given = {name: value for name, value in options.items() if value is not None}
    Judging.of(given)
    return {name: plain_space(cast(Space, value)) if name == "space" else value for name, value in given.items()}


def _absolute(path: PathLike | None) -> str:
    """Return a path that holds in another folder; a name that is no file stays as it is."""
    return "" if path is None else str(Path(path).absolute()) if Path(path).is_file() else os.fspath(path)


def _require_epoch() -> None:
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "0")
    if not (epoch.isascii() and epoch.isdecimal() and len(epoch) <= 11):
        raise ReportError(f"SOURCE_DATE_EPOCH is {epoch[:40]!r}; seconds since 1970 are needed, or unset it.")


def _parameters(
    template: Template,
    source: Any,
    expectations: object,
    baseline: Any,
    real_times: Any,
    given: dict[str, Any],
    folder: Path,
) -> dict[str, Any]:
    """Return the parameters of the notebook; what stays empty keeps its default there.

    Raises
    ------
    UsageError
        If one is given that the template does not have, or one is missing.
    """
    from scalkit.reports.plain import to_plain

    known = {one.name for one in template.parameters}
    asked = {key: value for key, value in given.items() if value not in ("", [], {}, None)}
    asked |= {"baseline": baseline} if baseline is not None else {}
    asked |= {"real_times": real_times} if real_times is not None else {}
    for key in asked:
        if key not in known:
            raise UsageError(
                f"the template {template.name} has no parameter {key!r}; it has {', '.join(sorted(known))}."
            )
    if template.name == "models" and "message" not in asked:
        raise UsageError("the template models needs the model of a message; name a model card (message=...).")
    if template.name == "regression" and baseline is None:
        raise UsageError("the template regression compares with a baseline; give one (--baseline).")
    asked.pop("labels", None)
    if "labels" in known:
        sets = inputs_of(source, given["labels"], folder)
        named: dict[str, Any] = {"sets": [_named(one) for one in sets]}
        runs: list[Any] = [list(one.paths) for one in sets]
    else:
        sets = [input_of(source, folder)]
        named, runs = _named(sets[0]), list(sets[0].paths)
    if all(one.is_session for one in sets):
        _refuse_beside_session(expectations, asked)
    if baseline is not None:
        before = input_of(baseline, folder, "baseline")
        if len(before.paths) != 1:
            raise UsageError(f"a baseline is one file or folder, got {len(before.paths)}; combine them into one.")
        asked["baseline"], named["baseline"] = before.paths[0], before.named[0]
        if template.name == "regression" and expectations is not None and kind_of(before.paths[0]) == "baseline":
            raise UsageError("expectations and a baseline both say what is expected; give one of them.")
    if real_times is not None:
        asked["real_times"], named["real_times"] = _single(input_of(real_times, folder, "real-times"))
    plain = to_plain(expectations)
    shown = os.fspath(expectations) if isinstance(expectations, str | os.PathLike) else ""
    named["expectations"] = shown or (plain if isinstance(plain, str) else "")
    return {**asked, "runs": runs, "named": named, "expectations": plain, "outcome": str(folder)}


def _single(one: Input) -> tuple[str, str]:
    """Return the path of data that have a single one, and how the user named it."""
    (path,), (name,) = one.paths, one.named
    return path, name


def _named(one: Input) -> dict[str, Any]:
    return {"runs": list(one.named), "in_memory": one.is_in_memory, "label": one.label}


def _refuse_beside_session(expectations: object, asked: Mapping[str, Any]) -> None:
    beside = ["expectations"] if expectations is not None else []
    beside += [*(["rules"] if "rules" in asked else []), *asked.get("judging", {})]
    beside += ["parameter"] if "parameter" in asked else []
    if beside:
        raise UsageError(
            f"a session says itself what is expected and how it is judged; leave {', '.join(beside)} out, or change the session."
        )


def _executed(
    template: Template,
    parameters: Mapping[str, Any],
    folder: Path,
    progress: Callable[[int, int], object] | None,
) -> tuple[NotebookNode, Outcome]:
    from scalkit.reports.writer.kernel import execute

    # The page, and with it the PDF, is a step of its own: what was counted is all only once the files are written.
    counted = None if progress is None else (lambda done, total: progress(done, total + 1))
    done = execute(template.path, parameters, folder, progress=counted)
    return done, read_outcome(folder)


def _contents(
    target: Target, done: NotebookNode, outcome: Outcome, folder: Path, browser: str
) -> dict[Path, str | bytes]:
    """Return what goes into each file."""
    from scalkit.reports.writer.html_page import render
    from scalkit.reports.writer.pdf import print_page

    html = render(done, outcome.title, outcome.sessions)
    contents: dict[Path, str | bytes] = {
        target.html: html,
        target.verdict_json: outcome.texts["verdict.json"],
        target.junit_xml: outcome.texts["junit.xml"],
    }
    if target.pdf is not None:
        page = folder / "page.html"
        page.write_text(html, encoding="utf-8")
        contents[target.pdf] = print_page(page, browser, folder)
    return contents
