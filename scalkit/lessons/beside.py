"""Tables 2 and 3 of Shudler et al. 2015 beside the libraries of today and simulated machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import xarray as xr

from scalkit.lessons.paper import PrintedModel, PublishedTable, published_tables
from scalkit.markup import block, bullets, formula, marked, paragraph, table
from scalkit.measure import read
from scalkit.reports import bundled
from scalkit.validation import SYMBOLS, Verdict, validate

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Beside", "beside", "libraries_memory", "libraries_times", "simulated_times"]

_TIMES, _MEMORY = 2, 3
_NAMES = {"Bcast (BT)": "Bcast_binary_tree"}
_FIRST_SIMULATED = 4
"""Two processes are neighbours on every simulated machine."""


@dataclass(frozen=True, eq=False)
class Beside:
    """A table of the paper, and verdicts on later measurements by the same expectations.

    Attributes
    ----------
    table : PublishedTable
    what : str
        The later ones, in words: ``"today's libraries"``.
    verdicts : mapping from column to (function of the table to Verdict)
    remarks : tuple of str
        What must be known of the columns.
    """

    table: PublishedTable
    what: str
    verdicts: Mapping[str, Mapping[str, Verdict]]
    remarks: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each function: the expectation, the printed growths, those of today, each with its mark."""
        import pandas as pd

        rows: list[dict[tuple[str, str], str]] = []
        for name, printed in self._rows():
            row = {("", "expectation"): str(printed[0].expectation.growth)}
            row |= {("2015", one.machine): f"{SYMBOLS[_rank(one)]} {one.growth}" for one in printed}
            row |= {(self.what, column): _cell(found.get(name)) for column, found in self.verdicts.items()}
            rows.append(row)
        names = pd.Index([name for name, _ in self._rows()], name="function")
        return pd.DataFrame(rows, index=names, columns=pd.MultiIndex.from_tuples(list(rows[0])))

    @property
    def claims(self) -> tuple[str, ...]:
        """What changed since 2015, a sentence for each function; only what decides is claimed."""
        return tuple(self._claim(name, printed) for name, printed in self._rows())

    def _claim(self, name: str, printed: list[PrintedModel]) -> str:
        then = {one.machine: str(one.growth) for one in printed if one.derived[1] == "none"}
        found = {column: verdicts[name] for column, verdicts in self.verdicts.items() if name in verdicts}
        judged = {column: v for column, v in found.items() if v.decides and v.verdict != "undecided"}
        now = {column: str(v.model.growth) for column, v in judged.items() if v.misses}
        head = f"{name}, O({printed[0].expectation.growth})"
        if not judged:
            return f"{head}: {_missed(then, 'on')} in 2015; nothing is decided of {self.what}."
        before, after = _missed(then, "on"), _missed(now, "with")
        text = f"{head}: {before} then and now" if before == after else f"{head}: {before} in 2015, {after} now"
        open_ones = [column for column in self.verdicts if column not in judged]
        return f"{text}{f' ({_listed(open_ones)}: not decided)' if open_ones else ''}."

    def _rows(self) -> Iterator[tuple[str, list[PrintedModel]]]:
        rows: dict[str, list[PrintedModel]] = {}
        for one in self.table.entries:
            rows.setdefault(one.function, []).append(one)
        yield from rows.items()

    def __repr__(self) -> str:
        return f"<Beside: table {self.table.number}, {self.table.title}; {self.what}: {', '.join(self.verdicts)}>"

    def _repr_html_(self) -> str:
        head = ("function", "expectation", *(f"{one}, 2015" for one in self.table.machines), *self.verdicts)
        rows = [
            (
                escape(name),
                formula(printed[0].expectation.growth, big_o=True),
                *(marked(_rank(one), f"{SYMBOLS[_rank(one)]} {one.model}") for one in printed),
                *(_shown(found.get(name), self.table.number) for found in self.verdicts.values()),
            )
            for name, printed in self._rows()
        ]
        caption = f"Table {self.table.number}, {self.table.title}: the paper and {self.what}"
        return block(table(head, rows, caption), paragraph(_LEGEND), bullets(self.remarks), bullets(self.claims))


_LEGEND = "✓ as expected, ≈ inside the limits, ✗ outside, ? undecided; ⚠ does not decide; – not measured."


def beside(number: int, columns: Mapping[str, xr.Dataset], what: str, remarks: tuple[str, ...] = ()) -> Beside:
    """Return a table of the paper beside measurements, judged by its expectations, limits and ticks.

    Parameters
    ----------
    number : int
        2 or 3.
    columns : mapping from head to Dataset
    what : str
        They, in words.
    remarks : tuple of str
        What must be known of them.

    References
    ----------
    Shudler et al. 2015 (docs/references.md), tables 2 and 3.
    """
    printed = published_tables()[number]
    ours = {
        name: _NAMES.get(name, f"MPI_{name.removeprefix('MPI ').replace(' ', '_')}") for name in printed.expectations()
    }
    expected = {ours[name]: value for name, value in printed.expectations().items()}
    found: dict[str, dict[str, Verdict]] = {}
    for head, data in columns.items():
        judged = {verdict.function: verdict for verdict in validate(data, expected, progress=False)}
        found[head] = {name: judged[own] for name, own in ours.items() if own in judged}
    return Beside(printed, what, found, (*remarks, *_caveats(found)))


def libraries_memory() -> Beside:
    """Return table 3 beside the memory of the three libraries that data/libraries holds."""
    return beside(
        _MEMORY,
        {head: _least(data) if head.startswith("Open MPI") else data for head, data in _libraries("libraries").items()},
        "today's libraries",
        (
            "Bytes for an object and process: of Open MPI at the process with the fewest, since others fill pools; else at the "
            "one with the most",
            "The paper's coefficients are of its machines and libraries; what compares is the growth",
        ),
    )


def libraries_times() -> Beside:
    """Return table 2 beside the run times of the three libraries that data/libraries-times holds."""
    return beside(_TIMES, _libraries("libraries-times"), "today's libraries")


def simulated_times() -> Beside:
    """Return table 2 beside the simulated machines of data/simulated, from p = 4 on."""
    folders = {"Juqueen": "juqueen", "Juropa": "juropa", "Piz Daint": "daint", "Juropa, 8 a node": "juropa-8"}
    data = {f"{head}, simulated": read(bundled(f"data/simulated/{name}")) for head, name in folders.items()}
    chosen = {head: one.sel(p=one["p"] >= _FIRST_SIMULATED) for head, one in data.items()}
    return beside(
        _TIMES,
        chosen,
        "simulated machines",
        (
            "Simulated, not measured: machines in the manner of the paper's, with the algorithms that docs/machines.md names",
        ),
    )


def _libraries(folder: str) -> dict[str, xr.Dataset]:
    return {_head(path.name): read(path) for path in sorted(bundled(f"data/{folder}").iterdir()) if path.is_dir()}


def _head(folder: str) -> str:
    """Return ``"Open MPI 5.0.11"`` for ``openmpi-5.0.11``."""
    name, _, version = folder.partition("-")
    return f"{ {'mpich': 'MPICH', 'openmpi': 'Open MPI', 'intel': 'Intel MPI'}.get(name, name) } {version}".strip()


def _least(data: xr.Dataset) -> xr.Dataset:
    """Return the same with the memory of objects at the process where it is least."""
    least = data["object_memory_steady_min"].assign_attrs(data["object_memory"].attrs)
    return data.assign(object_memory=least.where(least.notnull(), data["object_memory"]))


def _rank(printed: PrintedModel) -> Any:
    return printed.derived[1]


def _cell(verdict: Verdict | None) -> str:
    if verdict is None:
        return "–"
    return f"{SYMBOLS[verdict.verdict]} {verdict.model.growth}{'' if verdict.decides else ' ⚠'}"


def _shown(verdict: Verdict | None, number: int) -> str:
    if verdict is None:
        return "–"
    model = str(verdict.model if number == _MEMORY else verdict.model.growth)
    return marked(verdict.verdict, f"{SYMBOLS[verdict.verdict]} {model}{'' if verdict.decides else ' ⚠'}")


def _missed(growths: Mapping[str, str], word: str) -> str:
    if not growths:
        return "inside its limits"
    return f"grows too fast {word} {_listed([f'{name} ({growth})' for name, growth in growths.items()])}"


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _caveats(found: Mapping[str, Mapping[str, Verdict]]) -> Iterator[str]:
    """Return why columns do not decide, each reason once."""
    whom: dict[str, list[str]] = {}
    for head, verdicts in found.items():
        for caveat in dict.fromkeys(c for v in verdicts.values() if not v.decides for c in v.series.caveats):
            whom.setdefault(caveat, []).append(head)
    for caveat, heads in whom.items():
        yield f"{_listed(heads)}: {caveat}"
