"""The content of a report about guidelines: the assessment, what to do, and what models predict."""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from scalkit.bundled import bundled, here_or_bundled
from scalkit.errors import ReportError
from scalkit.guidelines import Assessment, Guideline, assess
from scalkit.guidelines.choices import Remedy, remedies
from scalkit.guidelines.experiments import measured
from scalkit.guidelines.guideline import CATALOGUES
from scalkit.guidelines.guideline import guidelines as guidelines_of
from scalkit.guidelines.predictions import Prediction
from scalkit.guidelines.predictions import predictions as predicted
from scalkit.guidelines.sentences import titled
from scalkit.guidelines.tables import PathLike, csv_text, example_table, read_tables
from scalkit.junit import Case
from scalkit.reports.inputs import listed, require_known_parameters
from scalkit.reports.writer.content import Content, json_text, written_now
from scalkit.reports.writer.write import ReportResult, Target, given, work_folder, write

_MOST_SHOWN = 20
"""Of the violations of one guideline in JUnit XML: enough to see a pattern."""

_FACTS = ("mpi_library", "host", "started", "foreign_load")


@dataclass(frozen=True, eq=False)
class GuidelinePage(Content):
    """What the sections of a report about guidelines need.

    `title`: plain text.
    `named`: the measurements as the user named them.
    `hashes`: SHA-256 of each file that was read.
    `made`: time of the report, UTC.
    `predicted_along`: empty if nothing was predicted.
    `facts`: what the measurements say of where they come from: ``mpi_library``, ``host``, ``started``,
    ``foreign_load``.
    """

    found: Assessment
    predictions: tuple[Prediction, ...]
    remedies: tuple[Remedy, ...]
    title: str
    named: tuple[str, ...]
    hashes: Mapping[str, str]
    fail_on: tuple[str, ...]
    made: str
    predicted_along: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """Exit status: 0 or 1."""
        own = [word for word in self.fail_on if word != "predicted"]
        predicted = "predicted" in self.fail_on and any(one.is_failure for one in self.predictions)
        return max(self.found.exit_status(own), int(predicted))

    @property
    def is_simulated(self) -> bool:
        """Whether nobody measured it."""
        return any("simulated" in caveat for caveat in self.found.data.caveats)

    @property
    def answer(self) -> str:
        """The outcome in a few sentences."""
        said = [f"{self.found.headline[:1].upper()}{self.found.headline[1:]}."]
        crowded = (self.found.columns["state"] == "violated") & ~self.found.columns["decides"]
        if crowded.any():
            n = int(np.count_nonzero(crowded))
            said.append(f"{n} of the violations {'does' if n == 1 else 'do'} not decide.")
        ahead = sum(one.is_failure for one in self.predictions)
        if ahead:
            said.append(f"Models predict {ahead} more at larger scales.")
        return " ".join([*said, f"Exit status {self.status}."])

    def to_json(self) -> str:
        """Return assessment, predictions and remedies as JSON text."""
        more = {"predictions": [one.to_dict() for one in self.predictions]}
        said = {"remedies": [one.sentence for one in self.remedies]}
        return json_text(self.found.to_dict() | {"exit_status": self.status} | more | said)

    def cases(self) -> Mapping[str, list[Case]]:
        """Return the guidelines as test cases: one fails if a test of it is violated and may decide."""
        clock = ", virtual time" if self.found.data.machine else ""
        return {f"guidelines{clock}": [_case(self.found, number) for number in range(len(self.found.guidelines))]}


def open_guidelines(
    runs: Sequence[str],
    guidelines: Sequence[str] = (),
    *,
    options: Mapping[str, Any] | None = None,
    predict: str = "",
    up_to: float | None = None,
    fail_on: Sequence[str] = (),
    title: str = "",
    named: Sequence[str] = (),
) -> GuidelinePage:
    """Return the content of a report.

    `runs`: what `scalkit.guidelines.tables.read_tables` takes; empty: a simulated example.
    `guidelines`: texts, TOML files, names of bundled sets; empty: all bundled ones.
    `options`: further arguments of `scalkit.guidelines.assess`.
    `predict`: the parameter to fit models along; empty: none.
    `up_to`: how far to look.
    `fail_on`: ``"inconclusive"``, ``"undecidable"``, ``"untested"``, ``"predicted"``.
    `title`: made from the measurements if empty.
    `named`: how the report names `runs`.
    Raises DataError, RuleError, UsageError if an input is wrong.
    """
    require_known_parameters()
    given, runs, guidelines, fail_on = dict(options or {}), listed(runs), listed(guidelines), listed(fail_on)
    table = read_tables(runs, value=given.get("value", "time")) if runs else example_table()
    found = assess(table, guidelines or CATALOGUES, **given)
    predictions: tuple[Prediction, ...] = ()
    if predict:
        predictions = predicted(found, predict, highest=up_to)
    shown = tuple(named or runs or ("a simulated example",))
    page = GuidelinePage(
        found=found,
        predictions=predictions,
        remedies=remedies(found),
        title=title or f"What is slower than it should be in {', '.join(Path(one).name or one for one in shown[:3])}?",
        named=shown,
        hashes=_hashes(runs, shown) if runs else {},
        facts={key: value for key, value in (getattr(table, "attrs", None) or {}).items() if key in _FACTS},
        fail_on=tuple(fail_on),
        made=written_now(),
        predicted_along=predict,
    )
    page.found.exit_status([word for word in fail_on if word != "predicted"])
    return page


def _hashes(runs: Sequence[str], named: Sequence[str]) -> dict[str, str]:
    found = {}
    for run, name in zip(runs, named, strict=True):
        path = Path(run)
        for file in _files(path) if path.is_dir() else [path]:
            shown = name if file == path else str(Path(name) / file.relative_to(path))
            found[shown] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


def _files(folder: Path) -> list[Path]:
    """Return the files of measurements in a folder: run files and netCDF, or, where there are none, all files."""
    every = sorted(one for one in folder.rglob("*") if one.is_file())
    return [one for one in every if re.search(r"\.jsonl(\.gz|\.part)?$|\.nc$", one.name)] or every


def _case(found: Assessment, number: int) -> Case:
    guideline, mine = found.guidelines[number], found.which == number
    broken = np.flatnonzero(mine & (found.columns["state"] == "violated") & found.columns["decides"])
    lines = [found.sentence(int(test)) for test in broken[:_MOST_SHOWN]]
    why = "" if mine.any() else found.not_tested.get(number, "not tested")
    return Case(guideline.family, titled(guideline), failure=lines[0] if lines else "", skipped=why, detail="\n".join(lines))


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
    guidelines_of(texts or CATALOGUES)  # a wrong one is refused before a notebook is started
    with work_folder() as folder:
        runs, named = _runs(source, folder, options)
        how = given(options=options, predict=predict, up_to=up_to, fail_on=list(fail_on), title=title)
        parameters = {"runs": runs, "named": named, "guidelines": texts, **how}
        return write(bundled(TEMPLATE), parameters, target, folder, progress=progress)


def _runs(source: Any, folder: Path, options: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return paths of the measurements and how the report names them; a table at hand becomes a file."""
    if isinstance(source, str | os.PathLike):
        source = [source]
    if isinstance(source, Sequence) and source and all(isinstance(one, str | os.PathLike) for one in source):
        return [str(here_or_bundled(Path(one).expanduser()).absolute()) for one in source], [os.fspath(one) for one in source]
    path = folder / "measurements.csv"
    path.write_text(csv_text(measured(source, options.pop("value", "time"))), encoding="utf-8")
    return [str(path)], ["a table in memory"]


def _text(one: Any) -> str:
    """Return a guideline as text; files by a path that holds anywhere."""
    if isinstance(one, Guideline):
        if one.kind != "levels" or one.where or one.apart_from or one.name:
            raise ReportError(f"the guideline '{one}' says more than its text; write it to a TOML file and name that.")
        return str(one)
    text = os.fspath(one)
    return str(Path(text).absolute()) if Path(text).is_file() else text
