"""Writes a report: papermill runs a template notebook, nbconvert turns it into one HTML file, all appear at once."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Unpack, cast

import xarray as xr

from scalkit.bundled import bundled
from scalkit.errors import UsageError
from scalkit.formats.read import read
from scalkit.options import Judging, JudgingOptions
from scalkit.perfmodels.collectives.study import EXPECTED
from scalkit.relation import Relation
from scalkit.reports.inputs import (
    DEFAULT,
    Input,
    Template,
    checked_targets,
    input_of,
    inputs_of,
    kind_of,
    listed,
    named_parameters,
    named_template,
    to_plain,
)
from scalkit.reports.page import Page, open_page
from scalkit.reports.writer.pdf import find_browser
from scalkit.reports.writer.write import ReportResult, Target, given, work_folder, write
from scalkit.session import Session
from scalkit.session.plain import plain_space
from scalkit.validation.several.expectation import Space


def models_template() -> Template:
    """Return the notebook of reports on performance models, ``94_models.ipynb``."""
    return Template("models", bundled("notebooks/94_models.ipynb"))


def bundled_models(what: Literal["runs", "message"]) -> Any:
    """Return where the bundled simulation over processes and sizes is, or the model of a message of the same machine."""
    if what == "message":
        return str(bundled("data/models/simulated-juropa.csv"))
    return [str(bundled("data/models/simulated-juropa-trees.nc"))]


def open_models(runs: Sequence[str], expectations: str | Mapping[str, Any] = "", **options: Any) -> Page:
    """Return the content of a report, see `scalkit.reports.page.open_page`.

    `runs`: over processes and message sizes.
    `expectations`: by default the growth of the best known algorithm for each function.
    `**options`: of `open_page`.
    """
    if not expectations:
        data = read(listed(runs), parameter=named_parameters(options.get("parameter", "")))
        there = [str(name) for name in data["function"].values]
        plain = to_plain({name: EXPECTED[name] for name in there if name in EXPECTED})
        assert plain is not None
        expectations = plain
    return open_page(runs, expectations, **options)


PathLike = str | os.PathLike[str]


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
    chosen = models_template() if template == "models" else named_template(template)
    target = Target.of(out, force=force, pdf=pdf, notebook=notebook)
    browser = find_browser() if pdf else ""
    asked = given(
        rules=[str(rule) for rule in ([rules] if isinstance(rules, str | Relation) else rules or ())],
        title=title,
        fail_on=[fail_on] if isinstance(fail_on, str) else list(fail_on or ()),
        judging=_plain(options),
        parameter=parameter if isinstance(parameter, str) else ",".join(parameter or ()),
        targets=checked_targets(targets),
        labels=list(labels),
        message=_absolute(message),
        functions=list(functions),
    )
    with work_folder() as folder:
        parameters = _parameters(chosen, source, expectations, baseline, real_times, asked, folder)
        return write(chosen.path, parameters, target, folder, browser=browser, progress=progress)


def _plain(options: JudgingOptions) -> dict[str, Any]:
    """Return the options that were given as JSON values; None is the default."""
    given = {name: value for name, value in options.items() if value is not None}
    Judging.of(given)
    return {name: plain_space(cast(Space, value)) if name == "space" else value for name, value in given.items()}


def _absolute(path: PathLike | None) -> str:
    """Return a path that holds in another folder; a name that is no file stays as it is."""
    return "" if path is None else str(Path(path).absolute()) if Path(path).is_file() else os.fspath(path)


def _parameters(
    template: Template, source: Any, expectations: object, baseline: Any, real_times: Any, asked: dict[str, Any], folder: Path
) -> dict[str, Any]:
    """Return the parameters of the notebook; what stays empty keeps its default there.

    Raises UsageError if one is given that the template does not have, or one is missing.
    """
    known = {one.name for one in template.parameters}
    asked |= {"baseline": baseline} if baseline is not None else {}
    asked |= {"real_times": real_times} if real_times is not None else {}
    for key in asked:
        if key not in known:
            raise UsageError(f"the template {template.name} has no parameter {key!r}; it has {', '.join(sorted(known))}.")
    if template.name == "models" and "message" not in asked:
        raise UsageError("the template models needs the model of a message; name a model card (message=...).")
    if template.name == "regression" and baseline is None:
        raise UsageError("the template regression compares with a baseline; give one (--baseline).")
    labels = asked.pop("labels", [])
    if "labels" in known:
        sets = inputs_of(source, labels, folder)
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
        real = input_of(real_times, folder, "real-times")
        (asked["real_times"],), (named["real_times"],) = real.paths, real.named
    plain = to_plain(expectations)
    shown = os.fspath(expectations) if isinstance(expectations, str | os.PathLike) else ""
    named["expectations"] = shown or (plain if isinstance(plain, str) else "")
    return {**asked, "runs": runs, "named": named, "expectations": plain}


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
