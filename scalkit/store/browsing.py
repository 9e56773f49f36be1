"""What an explorer of a store holds: a filter, the runs and suites that are chosen, and their joint comparison."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scalkit.errors import UsageError
from scalkit.store.choices import Choice

if TYPE_CHECKING:
    import pandas as pd

    from scalkit.store.comparing import Comparison
    from scalkit.store.store import Store

__all__ = ["Browsing", "SuiteKey", "fixed_words"]

_KEY = ("platform", "op", "pattern", "metric", "x_name", "fixed", "datatype", "sync")
_SUITES = f"""
SELECT {", ".join(_KEY)}, any_value(role) AS role, bool_or(simulated) AS simulated, count(DISTINCT run_id) AS runs,
    count(DISTINCT x) AS points, min(x) AS x_min, max(x) AS x_max
FROM points WHERE run_id IN (SELECT unnest(?)) GROUP BY {", ".join(_KEY)}
ORDER BY platform, metric = 'time' DESC, role, op, length(fixed), fixed
"""


@dataclass(frozen=True)
class SuiteKey:
    """A suite of one platform in all chosen runs that have it: a curve."""

    platform: str
    op: str
    pattern: str
    metric: str
    x_name: str
    fixed: str
    datatype: str
    sync: str

    @property
    def fixed_words(self) -> str:
        """What is the same at all points, as a person writes it: ``"8 B"``, ``"p = 32"``."""
        return fixed_words(self.fixed)


def fixed_words(fixed: str) -> str:
    """Return what a suite says to be fixed, as a person writes it.

    Examples
    --------
    >>> fixed_words('{"msg_By":8}'), fixed_words('{"p":32}'), fixed_words("")
    ('8 B', 'p = 32', '')
    """
    try:
        found = json.loads(fixed) if fixed else {}
    except ValueError:
        return fixed
    if not isinstance(found, dict):
        return fixed
    shown = {name: value for name, value in found.items() if (name, value) != ("msg_By", 0)}
    return ", ".join(f"{value} B" if name == "msg_By" else f"{name} = {value}" for name, value in shown.items())


class Browsing:
    """The three steps of a query: choose runs, choose their suites, see them together.

    Parameters
    ----------
    store : Store

    Attributes
    ----------
    store : Store
    all_runs, runs : pandas.DataFrame
        All runs, newest first; those that pass the filter.
    text : str
        The filter; set by `narrow`.
    only : dict
        Columns of the runs to the one value that passes; set by `narrow`.
    run_ids : tuple of str
        The chosen runs; set by `choose_runs`.
    chosen : tuple of SuiteKey
        The chosen suites, in the order in which they were chosen; set by `choose_suite`.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.all_runs: pd.DataFrame = store.runs()
        self.runs = self.all_runs
        self.text = ""
        self.only: dict[str, str] = {}
        self.run_ids: tuple[str, ...] = ()
        self.chosen: tuple[SuiteKey, ...] = ()
        self._suites: pd.DataFrame | None = None

    @property
    def suites(self) -> pd.DataFrame:
        """The suites of the chosen runs, a row for each curve; operations before what replaces them."""
        if self._suites is None:
            self._suites = self.store.query(_SUITES, [list(self.run_ids)])
        return self._suites

    def values(self, column: str) -> list[str]:
        """Return the different values of a column of the runs, as texts."""
        return sorted({str(value) for value in self.all_runs[column]})

    def narrow(self, text: str, only: Mapping[str, str] | None = None) -> None:
        """Show only runs that fit a text and have chosen values.

        Parameters
        ----------
        text : str
            Words that stand somewhere in a run's line, and ``name=value`` for a column, where ``*`` stands for anything and
            ``|`` between several values; quoted if there are blanks: ``machine=juwels* "site=our lab" mpich``.
        only : mapping, optional
            Columns to the one value that passes; by default what it was.

        Raises
        ------
        UsageError
            If a column is unknown or a quote is left open; the filter stays as it was.
        """
        try:
            words = shlex.split(text)
        except ValueError:
            raise UsageError(f"the filter {text!r:.60} has an open quote; close it.") from None
        pairs = [word.partition("=")[::2] for word in words if "=" in word]
        named: dict[str, Any] = {name: [_value(part) for part in value.split("|")] for name, value in pairs}
        shown = self.store.runs(**named) if named else self.all_runs
        only = dict(self.only if only is None else only)
        for column, value in only.items():
            shown = shown[shown[column].astype(str) == value]
        for word in words:
            if "=" not in word and len(shown):
                lines = shown.astype(str).agg(" ".join, axis=1)
                shown = shown[lines.str.contains(word, case=False, regex=False)]
        self.text, self.only, self.runs = text, only, shown

    def choose_runs(self, run_ids: Iterable[str]) -> None:
        """Choose runs; of the chosen suites those stay that they have."""
        wanted = set(run_ids)
        self.run_ids = tuple(one for one in self.all_runs["run_id"].tolist() if one in wanted)
        self._suites = None
        there = set(self.choices())
        self.chosen = tuple(key for key in self.chosen if key in there)

    def choices(self) -> list[SuiteKey]:
        """Return what can be chosen: a key for each row of `suites`."""
        rows = self.suites[list(_KEY)].itertuples(index=False, name=None)
        return [SuiteKey(*map(str, row)) for row in rows]

    def choose_suite(self, key: SuiteKey) -> None:
        """Choose a suite, or leave it out again."""
        self.chosen = tuple(one for one in self.chosen if one != key) if key in self.chosen else (*self.chosen, key)

    def choose_no_suite(self) -> None:
        """Leave all suites out."""
        self.chosen = ()

    def begin(self) -> None:
        """Choose the runs of the newest run's platform, and a suite to begin with: of an operation that can be replaced."""
        if not len(self.all_runs):
            return
        same = self.all_runs["platform"] == self.all_runs["platform"].iloc[0]
        self.choose_runs(self.all_runs["run_id"][same].tolist())
        if len(self.suites):
            self.chosen = (self.choices()[_first(self.suites)],)

    def comparison(self) -> Comparison | None:
        """Return the chosen suites in the chosen runs side by side; None if no suite is chosen.

        Raises
        ------
        UsageError
            If they are of different metrics or over different parameters.
        """
        if not self.chosen:
            return None
        runs = list(self.run_ids)
        return self.store.compare([Choice({**vars(key), "run_id": runs}) for key in self.chosen])


def _first(suites: pd.DataFrame) -> int:
    """Return the row of a time that substitutes were measured of, else the first."""
    from scalkit.store.substitutes import operations

    there = set(suites["op"])
    replaced = [one.name for one in operations() if any(s.name in there for s in one.substitutes[1:])]
    wanted = suites.index[suites["op"].isin(replaced) & (suites["metric"] == "time")]
    return int(wanted[0]) if len(wanted) else 0


def _value(text: str) -> str | int | bool:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isascii() and text.isdigit() else text
