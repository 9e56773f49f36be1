"""The content of a report about guidelines: the assessment, and what to do."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from scalkit.guidelines import Assessment, assess
from scalkit.guidelines.choices import Remedy, remedies
from scalkit.guidelines.guideline import CATALOGUES
from scalkit.guidelines.sentences import titled
from scalkit.guidelines.tables import read_tables
from scalkit.reports.content import Content, json_text, written_now
from scalkit.support.bundled import bundled, here_or_bundled
from scalkit.support.junit import Case
from scalkit.support.text import capital

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
    `facts`: what the measurements say of where they come from: ``mpi_library``, ``host``, ``started``,
    ``foreign_load``.
    """

    kind: ClassVar[str] = "guidelines"

    found: Assessment
    remedies: tuple[Remedy, ...]
    title: str
    named: tuple[str, ...]
    hashes: Mapping[str, str]
    fail_on: tuple[str, ...]
    made: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """Exit status: 0 or 1."""
        return self.found.exit_status(self.fail_on)

    @property
    def answer(self) -> str:
        """The outcome in a few sentences."""
        said = [f"{capital(self.found.headline)}."]
        crowded = (self.found.columns["state"] == "violated") & ~self.found.columns["decides"]
        if crowded.any():
            n = int(np.count_nonzero(crowded))
            said.append(f"{n} of the violations {'does' if n == 1 else 'do'} not decide.")
        return " ".join([*said, f"Exit status {self.status}."])

    def to_json(self) -> str:
        """Return assessment and remedies as JSON text."""
        said = {"remedies": [one.sentence for one in self.remedies]}
        return json_text(self.found.to_dict() | {"exit_status": self.status} | said)

    def cases(self) -> Mapping[str, list[Case]]:
        """Return the guidelines as test cases: one fails if a test of it is violated and may decide."""
        clock = ", virtual time" if self.found.data.machine else ""
        return {f"guidelines{clock}": [_case(self.found, number) for number in range(len(self.found.guidelines))]}


def open_guidelines(
    runs: Sequence[str] = (), guidelines: Sequence[str] = (), *, fail_on: Sequence[str] = (), title: str = "", **options: Any
) -> GuidelinePage:
    """Return the content of a report.

    `runs`: what `scalkit.guidelines.tables.read_tables` takes; empty: a bundled campaign.
    `guidelines`: texts, TOML files, names of bundled sets; empty: all bundled ones.
    `fail_on`: ``"inconclusive"``, ``"undecidable"``, ``"untested"``.
    `title`: made from the measurements if empty.
    `**options`: further arguments of `scalkit.guidelines.assess`.
    Raises DataError, RuleError, UsageError if an input is wrong.
    """
    runs = runs or [str(bundled("data/guidelines/real/mpich"))]
    table = read_tables(runs, value=options.get("value", "time"))
    found = assess(table, guidelines or CATALOGUES, **options)
    found.exit_status(fail_on)  # raises if a word is unknown
    return GuidelinePage(
        found=found,
        remedies=remedies(found),
        title=title or f"What is slower than it should be in {', '.join(Path(one).name or one for one in runs[:3])}?",
        named=tuple(runs),
        hashes=_hashes(runs),
        facts={key: value for key, value in (getattr(table, "attrs", None) or {}).items() if key in _FACTS},
        fail_on=tuple(fail_on),
        made=written_now(),
    )


def _hashes(runs: Sequence[str]) -> dict[str, str]:
    """Return the SHA-256 of each file by its path."""
    paths = (here_or_bundled(Path(run)) for run in runs)
    files = (file for path in paths for file in (_files(path) if path.is_dir() else [path]))
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


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
