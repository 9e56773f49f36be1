"""Tables 2, 3 and 4 of Shudler et al. 2015: what was printed, and the same derived again by scalkit."""

import tomllib
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from scalkit.errors import UsageError
from scalkit.growth import Growth
from scalkit.judge import Expectation
from scalkit.judge.expectation import Match
from scalkit.measure import combine, measurements
from scalkit.support.bundled import bundled
from scalkit.support.markup import block, formula, marked, table

SYMBOLS: dict[Match, str] = {"total": "✓", "approximate": "≈", "none": "✗"}
"""Symbol of each match in the tables of the paper."""

_SETTINGS = {"p": [2**i for i in range(4, 13)], "k": list(range(3, 17))}
_SECONDS = 1e-6
"""Coefficient of printed models that have none."""


@dataclass(frozen=True)
class PrintedModel:
    """One function on one machine, as the paper prints it.

    `function`, `machine`, `unit`: bytes or megabytes with the coefficients of the paper; empty where it prints no
    coefficients.
    `model`: its text.
    `expectation`: with the deviation limit of the table.
    `match`: total, approximate or none.
    """

    function: str
    machine: str
    unit: str
    model: str
    expectation: Expectation
    divergence: Growth
    match: str

    @property
    def growth(self) -> Growth:
        """The leading term of the model."""
        return Growth(self.model, self.expectation.parameter)

    @property
    def derived(self) -> tuple[Growth, Match]:
        """Divergence and match, derived from model, expectation and limits."""
        return self.growth / self.expectation.growth, self.expectation.match(self.growth)

    @property
    def agrees(self) -> bool:
        """Whether what is derived is what is printed."""
        return self.derived == (self.divergence, self.match)


@dataclass(frozen=True)
class PublishedTable:
    """A table of the paper.

    `entries`: row by row.

    Source: Shudler et al. 2015 (docs/references.md), tables 2, 3 and 4.
    """

    number: int
    title: str
    parameter: str
    machines: tuple[str, ...]
    entries: tuple[PrintedModel, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each printed model: divergence and match as printed, as derived, and whether they agree."""
        rows = [
            {
                "function": one.function,
                "machine": one.machine,
                "expectation": str(one.expectation.growth),
                "model": one.model,
                "divergence": str(one.divergence),
                "match": one.match,
                "derived divergence": str(one.derived[0]),
                "derived match": one.derived[1],
                "agrees": one.agrees,
            }
            for one in self.entries
        ]
        return pd.DataFrame(rows).set_index(["function", "machine"])

    def data(self, machine: str | None = None) -> xr.Dataset:
        """Return values that the printed models of one machine have, without noise; they say that they are simulated.

        `machine`: by default the first one.
        Raises UsageError if the table has no such machine.
        """
        entries = self._of(machine)
        x = _SETTINGS[self.parameter]
        made = []
        for one in entries:
            values = evaluate(one.model, x, self.parameter) * (1.0 if one.unit else _SECONDS)
            metric = {"": "time", "MB": "process_memory"}.get(one.unit, "object_memory")
            made.append(
                measurements(
                    x, np.rint(values) if one.unit == "B" else values, self.parameter, metric, one.unit or None, one.function
                )
            )
        found = combine(made)
        said = f"simulated, not measured: the models that table {self.number} prints for {entries[0].machine}"
        found.attrs |= {"simulated": 1, "title": said, "measured_on": said}
        return found

    def expectations(self) -> dict[str, Any]:
        """Return the expectations of the table, with deviation limits and ticks, as `scalkit.validate` takes them."""
        return {
            one.function: {"expectation": one.expectation, "space": "around" if self.parameter == "k" else "ics15"}
            for one in self._of(None)
        }

    def _of(self, machine: str | None) -> tuple[PrintedModel, ...]:
        wanted = self.machines[0] if machine is None else machine
        if wanted not in self.machines:
            raise UsageError(f"table {self.number} has no machine {wanted!r}; it has {', '.join(self.machines)}.")
        return tuple(one for one in self.entries if one.machine == wanted)

    @property
    def sentence(self) -> str:
        """A sentence with the number of marks that come out as printed."""
        agree = sum(one.agrees for one in self.entries)
        return f"Table {self.number}, {self.title}: {agree} of {len(self.entries)} marks come out as printed."

    def __repr__(self) -> str:
        return f"<PublishedTable: {self.sentence}>"

    def _repr_html_(self) -> str:
        rows = [
            (
                escape(one.function),
                escape(one.machine),
                formula(one.expectation.growth, big_o=True),
                escape(f"{one.model} {one.unit}".strip()),
                formula(one.derived[0]),
                marked(one.derived[1], f"{SYMBOLS[one.derived[1]]} {one.derived[1]}"),
                "as printed" if one.agrees else f"<b>printed: {escape(str(one.divergence))}, {one.match}</b>",
            )
            for one in self.entries
        ]
        head = ("function", "machine", "expectation", "printed model", "divergence", "match", "")
        return block(table(head, rows, self.sentence))


def published_tables() -> dict[int, PublishedTable]:
    """Return tables 2, 3 and 4 of the paper by their numbers."""
    content = tomllib.loads(bundled("data/papers/ics15_tables.toml").read_text(encoding="utf-8"))
    return {table["number"]: _table(table) for table in content["table"]}


def _table(table: dict[str, Any]) -> PublishedTable:
    entries = []
    for row in table["row"]:
        expectation = Expectation(row["expectation"], table.get("deviation"), table["parameter"])
        for machine, model, divergence, match in zip(
            table["machines"], row["model"], row["divergence"], row["match"], strict=True
        ):
            printed = Growth(divergence)
            entries.append(PrintedModel(row["function"], machine, row.get("unit", ""), model, expectation, printed, match))
    return PublishedTable(table["number"], table["title"], table["parameter"], tuple(table["machines"]), tuple(entries))


def evaluate(formula: str, x: ArrayLike, parameter: str) -> NDArray[np.float64]:
    """Return a sum of numbers and of numbers times growths, such as ``"16 + 0.56*p"``, at `x`; nothing is run as code."""
    at = np.asarray(x, dtype=np.float64)
    total = np.zeros(at.shape)
    for term in formula.split(" + "):
        first, _, rest = term.partition("*")
        try:
            factor, growth = float(first), rest
        except ValueError:
            factor, growth = 1.0, term
        total = total + factor * (Growth(growth, parameter)(at) if growth else 1.0)
    return total
