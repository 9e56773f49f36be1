"""What guidelines say of MPI libraries: the bundled campaigns, or a simulated one where there is none."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from scalkit.bundled import bundled
from scalkit.errors import ReportError
from scalkit.guidelines import Assessment, assess
from scalkit.guidelines.choices import remedies
from scalkit.guidelines.sentences import setting, shown_ratio, titled
from scalkit.guidelines.tables import example_table, read_tables
from scalkit.markup import block, bullets, counted, paragraph, table
from scalkit.measure.virtual_time import machine_in_words, numbers_in_words
from scalkit.plots import guideline_map

_BUNDLED = {
    "collectives in virtual time": "data/guidelines/classic",
    "neighbourhood collectives in virtual time": "data/guidelines/neighbourhood",
    "neighbourhood collectives in real time": "data/guidelines/real",
}
_MOST = 12


@dataclass(frozen=True, eq=False)
class Finding:
    """One campaign and what a set of guidelines says of it.

    `name`: what was measured, in a few words.
    `source`: where the measurements are; empty for the simulated example.
    `facts`: ``mpi_library``, ``host``, ``started``, as far as the measurements say.
    """

    name: str
    source: str
    found: Assessment
    facts: dict[str, Any]

    @property
    def is_simulated(self) -> bool:
        """Whether nobody measured it."""
        return any("simulated" in caveat for caveat in self.found.data.caveats)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, computed from the measurements: violations by guideline, those that decide and those that do not."""
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        found, columns = self.found, self.found.columns
        data = found.data
        network = machine_in_words(data.machine).removesuffix(" in virtual time")
        clock = f"In virtual time on {network} ({numbers_in_words(data.machine)})" if data.machine else ""
        what = "Simulated" if self.is_simulated else clock or "Measured"
        where = "; ".join(str(self.facts[key]) for key in ("mpi_library", "host", "started") if self.facts.get(key))
        behind = f" ({where})" if where else ""
        yield f"{what}: {counted(len(data.codes), 'experiment')} in {counted(len(data.runs), 'run')}{behind}."
        if not len(found):
            yield "No guideline could be tested with them."
            return
        violated, decides = columns["state"] == "violated", np.asarray(columns["decides"])
        n_crowded = int(np.count_nonzero(~decides))
        if n_crowded:
            yield (
                f"{n_crowded} of {counted(len(found), 'test')} had more processes than cores, or other programs beside them: "
                "they tell of the scheduler as much as of the library, and do not decide."
            )
        if data.exact:
            yield "All tests decide: the times repeat exactly."
        for chosen, who in ((decides, "Among those that decide"), (~decides, "Among those that do not")):
            if not chosen.any():
                continue
            broken = violated & chosen
            if not broken.any():
                yield f"{who}, no guideline is violated: {_others(columns['state'][chosen])}."
                continue
            yield f"{who}, {int(broken.sum())} of {counted(int(chosen.sum()), 'test')} are violated."
            for number in dict.fromkeys(found.which[broken].tolist()):
                mine = np.flatnonzero(broken & (found.which == number))
                worst = mine[int(np.argmax(np.abs(np.log(columns["effect"][mine]))))]
                at = setting(found, int(worst))
                yield (
                    f"{titled(found.guidelines[number])}: {counted(len(mine), 'violation')}, the largest by "
                    f"{shown_ratio(float(columns['effect'][worst]))} times{f' at {at}' if at else ''}."
                )

    @property
    def advice(self) -> tuple[str, ...]:
        """What to use instead; says so if there is nothing to replace."""
        said = tuple(one.sentence for one in remedies(self.found))
        return said[:_MOST] or ("Nothing has to be replaced.",)


def _others(states: Any) -> str:
    """Return how many tests are in each other state."""
    kinds = ("compliant", "inconclusive", "undecidable")
    return ", ".join(f"{np.count_nonzero(states == kind)} {kind}" for kind in kinds if (states == kind).any())


@dataclass(frozen=True, eq=False)
class Findings:
    """All campaigns of a notebook."""

    of: tuple[Finding, ...]

    @property
    def first(self) -> Assessment:
        """The assessment to look at closely."""
        return self.of[0].found

    @property
    def maps(self) -> "Figures":
        """Of each campaign a map of guideline by size, with a panel for each library."""
        return Figures(tuple((one.name, guideline_map(one.found)) for one in self.of if len(one.found)))

    @cached_property
    def counts(self) -> "_Shown":
        """Tests and states of each campaign, as a table."""
        states = ("violated", "compliant", "inconclusive", "undecidable")
        rows = [(one.name, *(str(one.found.counts[state]) for state in states)) for one in self.of]
        return _Shown(table(("campaign", *states), rows))

    def by(self, parameter: str) -> "_Shown":
        """Return the table of violations of each campaign, a column for each level of a parameter.

        `parameter`: as in ``"library"``; a campaign without it gets one column.
        """
        parts = []
        for one in self.of:
            cells = one.found.table(parameter if parameter in one.found.data.parameters else None)
            rows = [
                tuple(escape(str(cell)) for cell in (name, *row))
                for name, row in zip(cells.index, cells.to_numpy().tolist(), strict=True)
            ]
            heads = ("guideline", *(str(head).removeprefix("library=") for head in cells.columns))
            parts.append(f"<h4>{escape(one.name)}</h4>{table(heads, rows) if rows else ''}")
        return _Shown("".join(parts))

    @property
    def advice(self) -> "_Shown":
        """What to use instead, campaign by campaign."""
        return _Shown("".join(f"<h4>{escape(one.name)}</h4>{bullets(one.advice)}" for one in self.of))

    def _repr_html_(self) -> str:
        return block(*(f"<h4>{escape(one.name)}</h4>{paragraph(one.source)}{bullets(one.sentences)}" for one in self.of))

    def __repr__(self) -> str:
        return f"<Findings: {'; '.join(f'{one.name}: {one.found.headline}' for one in self.of)}>"


@dataclass(frozen=True, eq=False)
class Figures:
    """Figures with a heading each, as a cell shows them."""

    of: tuple[tuple[str, Any], ...]

    def _ipython_display_(self) -> None:
        from IPython import display

        show: Callable[..., object] = display.display
        for name, figure in self.of:
            show(_Shown(f"<h4>{escape(name)}</h4>"))
            show(figure)


@dataclass(frozen=True)
class _Shown:
    """Markup as a cell shows it."""

    markup: str

    def _repr_html_(self) -> str:
        return block(self.markup)


def guideline_findings(source: str | os.PathLike[str] = "") -> Findings:
    """Return what the bundled guidelines say of measurements.

    `source`: a campaign folder or CSV file of your own; empty: the campaigns that come with scalkit, or, where there are
    none, a simulated one, which says so.
    """
    if os.fspath(source):
        return Findings((_finding("your measurements", os.fspath(source)),))
    found = tuple(_finding(name, folder) for name, folder in _bundled().items())
    if found:
        return Findings(found)
    made = assess(example_table(), "neighbourhood")
    return Findings((Finding("a simulated campaign", "", made, {}),))


def _finding(name: str, source: str) -> Finding:
    measured = read_tables(source)
    attributes = getattr(measured, "attrs", None) or {}
    facts = {key: attributes[key] for key in ("mpi_library", "host", "started") if attributes.get(key)}
    return Finding(name, source, assess(measured), facts)


def _bundled() -> dict[str, str]:
    """Return the folders of campaigns that are there."""
    found = {}
    for name, folder in _BUNDLED.items():
        try:
            path = bundled(folder)
        except ReportError:
            continue
        if next((one for one in Path(path).rglob("*") if one.name.endswith((".jsonl.gz", ".jsonl", ".nc"))), None):
            found[name] = str(path)
    return found
