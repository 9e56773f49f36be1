"""What an explorer of a store holds: a filter, the runs and suites that are chosen, and their joint comparison."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from scalkit.errors import UsageError
from scalkit.store.views.curves import Choice, value_of

if TYPE_CHECKING:
    import pandas as pd

    from scalkit.store.store import Store
    from scalkit.store.views.comparison import Comparison

GROUPINGS = {"platform": "taken together", "campaign": "each campaign by itself", "run": "each run by itself"}
"""What is a curve of its own among the chosen runs of a platform, and how a user says it."""

_KEY = ("platform", "clock", "virtual_clock", "op", "pattern", "metric", "x_name", "fixed", "datatype", "sync")
_GROUPS = {"platform": "''", "campaign": "coalesce(nullif(campaign, ''), run_id)", "run": "run_id"}
_MOST_CURVES = 16
"""When runs are taken apart, so many curves at most are chosen in place of those that were."""


def _question(by: str) -> str:
    """Return the question for the suites of some runs, a row for each curve."""
    keys = f'{", ".join(_KEY)}, {_GROUPS[by]} AS "group"'
    return f"""
SELECT {keys}, any_value(role) AS role, count(DISTINCT run_id) AS runs,
    count(DISTINCT x) AS points, min(x) AS x_min, max(x) AS x_max, min(started) AS started,
    CASE WHEN min(root) = max(root) THEN CAST(min(root) AS VARCHAR) ELSE '' END AS root, any_value(reduction) AS reduction
FROM points JOIN (SELECT run_id, campaign, started FROM runs) USING (run_id)
WHERE run_id IN (SELECT unnest(?)) GROUP BY {", ".join(_KEY)}, "group"
ORDER BY platform, metric = 'time' DESC, role, op, length(fixed), fixed, started DESC, "group"
"""


@dataclass(frozen=True)
class SuiteKey:
    """A suite of one platform in all chosen runs that have it, or in those of a group: a curve.

    `group` is the id of a campaign or of a run; empty where all runs of a platform are taken together.
    """

    platform: str
    clock: str
    virtual_clock: str
    op: str
    pattern: str
    metric: str
    x_name: str
    fixed: str
    datatype: str
    sync: str
    group: str = ""

    @property
    def filters(self) -> dict[str, str]:
        """What chooses it, beside its runs."""
        return {name: getattr(self, name) for name in _KEY}

    @property
    def fixed_words(self) -> str:
        """What is the same at all points, as a person writes it: ``"8 B"``, ``"p = 32"``."""
        return fixed_words(self.fixed)


@lru_cache(maxsize=1024)
def fixed_words(fixed: str) -> str:
    """Return what a suite says to be fixed, as a person writes it.

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

    `all_runs`, `runs`: all runs, newest first; those that pass the filter. `text`: the filter; set by `narrow`.
    `only`: columns of the runs to the one value that passes; set by `narrow`.
    `run_ids`: the chosen runs; set by `choose_runs`.
    `chosen`: the chosen suites, in the order in which they were chosen; set by `choose_suite`.
    `by`: what among the runs of a platform has curves of its own, one of `GROUPINGS`; set by `group_by`.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.all_runs: pd.DataFrame = store.runs()
        self.runs = self.all_runs
        self.text = ""
        self.only: dict[str, str] = {}
        self.run_ids: tuple[str, ...] = ()
        self.chosen: tuple[SuiteKey, ...] = ()
        self.by = "platform"
        self._suites: pd.DataFrame | None = None
        self._choices: list[SuiteKey] | None = None

    @property
    def suites(self) -> pd.DataFrame:
        """The suites of the chosen runs, a row for each curve; operations before what replaces them."""
        if self._suites is None:
            self._choices = None
            self._suites = self.store.query(_question(self.by), [list(self.run_ids)])
        return self._suites

    def values(self, column: str) -> list[str]:
        """Return the different values of a column of the runs, as texts."""
        return sorted({str(value) for value in self.all_runs[column]})

    def narrow(self, text: str, only: Mapping[str, str] | None = None) -> None:
        """Show only runs that fit a text and have chosen values.

        `text`: words that stand somewhere in a run's line, and ``name=value`` for a column, where ``*`` stands for anything
        and ``|`` between several values; quoted if there are blanks: ``machine=juwels* "site=our lab" mpich``.
        `only`: columns to the one value that passes; by default what it was.
        Raises UsageError if a column is unknown or a quote is left open; the filter stays as it was.
        """
        try:
            words = shlex.split(text)
        except ValueError:
            raise UsageError(f"the filter {text!r:.60} has an open quote; close it.") from None
        pairs = [word.partition("=")[::2] for word in words if "=" in word]
        named: dict[str, Any] = {name: [value_of(part) for part in value.split("|")] for name, value in pairs}
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
        suites = self.suites
        if self._choices is None:
            rows = suites[[*_KEY, "group"]].itertuples(index=False, name=None)
            self._choices = [SuiteKey(*map(str, row)) for row in rows]
        return list(self._choices)

    def group_by(self, by: str) -> None:
        """Take the chosen runs of a platform together, or each campaign or run by itself; the chosen suites stay chosen.

        Raises UsageError if it is none of `GROUPINGS`.
        """
        if by not in GROUPINGS:
            raise UsageError(f"runs cannot be grouped by {by!r:.40}; choose from {', '.join(GROUPINGS)}.")
        if by == self.by:
            return
        before = [(key.filters, set(self.runs_of(key))) for key in self.chosen]
        self.by, self._suites = by, None
        there = [(key, key.filters) for key in self.choices() if key.op in {key.op for key in self.chosen}]
        found = [
            key for filters, runs in before for key, mine in there if mine == filters and not runs.isdisjoint(self.runs_of(key))
        ]
        self.chosen = tuple(dict.fromkeys(found))[:_MOST_CURVES]

    def runs_of(self, key: SuiteKey) -> list[str]:
        """Return the chosen runs that a suite is looked up in, newest first."""
        if not key.group:
            return list(self.run_ids)
        chosen = set(self.run_ids)
        return [one for one in self._members.get(key.group, ()) if one in chosen]

    def runs_words(self, key: SuiteKey) -> str:
        """Return the runs of a suite in words, as ``"run 3f2a80c1, 2026-11-22 01:41"``; empty if they are taken together."""
        if not key.group:
            return ""
        started = self._started[self._members[key.group][-1]]
        when = ", " + started[:16].replace("T", " ") if started else ""
        return f"{'run' if key.group in self._started else 'campaign'} {key.group[:8]}{when}"

    @cached_property
    def _started(self) -> dict[str, str]:
        return dict(zip(self.all_runs["run_id"], self.all_runs["started"], strict=True))

    @cached_property
    def _members(self) -> dict[str, list[str]]:
        """The runs of each group, newest first: of each campaign, and each run of itself."""
        found: dict[str, list[str]] = {}
        for run_id, campaign in self.all_runs[["run_id", "campaign"]].itertuples(index=False, name=None):
            found[run_id] = [run_id]
            if campaign:
                found.setdefault(campaign, []).append(run_id)
        return found

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

        Raises UsageError if they are of different metrics or over different parameters.
        """
        if not self.chosen:
            return None
        choices = [Choice({**key.filters, "run_id": self.runs_of(key)}, runs=self.runs_words(key)) for key in self.chosen]
        return self.store.compare(choices)


def _first(suites: pd.DataFrame) -> int:
    """Return the row of a time that substitutes were measured of, else the first."""
    from scalkit.store.advice.snippets import operations

    times = suites[suites["metric"] == "time"]
    there = set(times["op"])
    for one in operations():
        if one.name in there and any(substitute.name in there for substitute in one.substitutes[1:]):
            return int(times.index[times["op"] == one.name][0])
    return 0
