"""The content of a report about one run of a store: its suites, who made it, where and how."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from scalkit.errors import DataError
from scalkit.measure.virtual_time import LEFT_OUT, numbers_in_words
from scalkit.plots.store.suites import Quartiles
from scalkit.plots.style import METRIC_WORDS
from scalkit.reports.content import Content, written_now
from scalkit.store import Store
from scalkit.store import open as open_store
from scalkit.store.runs.columns import BASE_UNITS, UNITS, names
from scalkit.store.runs.content import platform_of, trusted
from scalkit.store.views.curves import fixed_words
from scalkit.support.bundled import bundled
from scalkit.support.clocks import TIMES, with_clock
from scalkit.support.markup import counted
from scalkit.support.text import as_percent, capital

_CARD = ("op", "metric", "pattern", "x_name", "datatype", "sync")
_BUSY = 0.1  # of the node; more of it for other programs is a caveat
_FEW = 10  # repetitions; fewer are a caveat
_WIDE = 0.5  # of the median; quartiles further apart are a caveat

Row = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Suite:
    """The measurements of one operation in one pattern, over one parameter.

    `rows`: a measurement each, as in the file, ascending in `x`.
    """

    rows: tuple[Row, ...]

    def __getitem__(self, name: str) -> Any:
        """Return an attribute that all its measurements share, a column of the store."""
        return self.rows[0][name]

    @property
    def fixed(self) -> str:
        """What is the same at all points, in words."""
        return fixed_words(self["fixed"])

    @property
    def unit(self) -> str:
        """Unit without prefix: ``"s"``, ``"B"``, ``"op"`` or ``"1"``."""
        return BASE_UNITS.get(self["unit"], str(self["unit"]))

    def values(self, name: str) -> Any:
        """Return a summary of each measurement, in `unit`; NaN where there is none."""
        scale = UNITS.get(self["unit"], 1.0)
        return np.array([math.nan if row[name] is None else row[name] * scale for row in self.rows], dtype=float)

    @property
    def root(self) -> Any:
        """The median of what root alone needed, for each measurement, in `unit`; NaN where that is unknown."""
        scale = UNITS.get(self["unit"], 1.0)
        return np.array([float(np.median(row["root_raw"])) * scale if row["root_raw"] else math.nan for row in self.rows])

    @property
    def processes(self) -> list[tuple[float, float]]:
        """The smallest and the largest median of a process, for each measurement, in `unit`; NaN where that is unknown."""
        scale = UNITS.get(self["unit"], 1.0)
        each = [row["process_med"] or [math.nan] for row in self.rows]
        return [(min(one) * scale, max(one) * scale) for one in each]

    def drawn(self, clock: str) -> Quartiles:
        """Return it as it is drawn."""
        crowded = any(row["oversubscribed"] for row in self.rows)
        marks = ([] if clock == "real" else [TIMES[clock]]) + ["more processes than cores"] * crowded
        named = self.fixed or self["op"]
        return Quartiles(
            name=f"{named} ({', '.join(marks)})" if marks else named,
            x_name=self["x_name"],
            metric=self["metric"],
            unit=self.unit,
            x=np.array([row["x"] for row in self.rows], dtype=np.int64),
            least=self.values("min"),
            q1=self.values("q1"),
            median=self.values("med"),
            q3=self.values("q3"),
            root=self.root,
            is_hollow=bool(marks),
        )


@dataclass(frozen=True, eq=False)
class Card:
    """The suites of an operation that differ in what is fixed only."""

    suites: tuple[Suite, ...]

    @property
    def title(self) -> str:
        """Operation and, where it is no time, metric."""
        first = self.suites[0]
        metric = METRIC_WORDS.get(first["metric"], first["metric"])
        return str(first["op"]) if first["metric"] == "time" else f"{first['op']}, {metric}"


@dataclass(frozen=True, eq=False)
class RunPage(Content):
    """What the sections of a report about a run need.

    `store`: the store as the user named it.
    `run_id`, `title`, `made`: `made` is the time of the report, UTC.
    `record`: ``measured`` and ``filing``.
    `retracted`: why it was retracted; empty if it was not.
    """

    kind: ClassVar[str] = "run"

    store: str
    run_id: str
    title: str
    record: Mapping[str, Any]
    suites: tuple[Suite, ...]
    retracted: tuple[str, ...]
    made: str

    @property
    def measured(self) -> Mapping[str, Any]:
        """What the record says of the measurements."""
        measured: Mapping[str, Any] = self.record["measured"]
        return measured

    @property
    def filing(self) -> Mapping[str, Any]:
        """What the record says of who filed them."""
        filing: Mapping[str, Any] = self.record["filing"]
        return filing

    @property
    def rows(self) -> list[Row]:
        """All measurements."""
        return [row for suite in self.suites for row in suite.rows]

    @property
    def cards(self) -> tuple[Card, ...]:
        """The suites by operation, in the order of the file."""
        groups: dict[tuple[Any, ...], list[Suite]] = {}
        for suite in self.suites:
            groups.setdefault(tuple(suite[name] for name in _CARD), []).append(suite)
        return tuple(
            Card(tuple(sorted(own, key=lambda one: (one.rows[0]["p"], one.rows[0]["msg_By"])))) for own in groups.values()
        )

    @property
    def answer(self) -> str:
        """What there is, in a sentence or two."""
        n = sum(row["n"] for row in self.rows)
        began = str(self.measured["started"]).replace("T", " ").removesuffix("Z")
        said = (
            f"{counted(len(self.suites), 'suite')} with {counted(len(self.rows), 'measurement')} and "
            f"{counted(n, 'repetition')}{f', begun {began} UTC' if began else ''}."
        )
        return said if self.measured["clock"] == "real" else f"{said} {capital(TIMES[self.measured['clock']])}, not measured."

    @property
    def caveats(self) -> tuple[str, ...]:
        """What limits the meaning of the measurements, a sentence each."""
        return tuple(_caveats(self))


def open_run(store: str = "", run: str = "", *, title: str = "") -> RunPage:
    """Return the content of a report about a run.

    `store`: folder, zip or URL; empty: the one that comes with scalkit.
    `run`: id of the run, or its beginning; empty: the newest.
    `title`: made from the run if empty.
    Raises StoreError, DataError if there is no such store or run, or its file is damaged.
    """
    opened = open_store(store or bundled("data/store"), readonly=True)
    run_id = opened.resolve(run) if run else _newest(opened)
    record, table = trusted(opened.folder.read_run(run_id), run_id, [*names(bulk=False), "root_raw", "process_med"])
    platform = platform_of(record["measured"])
    return RunPage(
        store=store or "the store of scalkit",
        run_id=run_id,
        title=title or f"{with_clock(platform, record['measured']['clock'])}: run {record['measured']['label'] or run_id[:12]}",
        record=record,
        suites=_suites(table.to_pylist()),
        retracted=tuple(entry["reason"] for entry in opened.retractions() if entry["run_id"] == run_id),
        made=written_now(),
    )


def _newest(store: Store) -> str:
    runs = store.runs()
    if not len(runs):
        raise DataError(f"the store {str(store.folder.shown)!r} has no runs; file some with 'scalkit store put'.")
    return str(runs["run_id"].iloc[0])


def _suites(rows: Sequence[Row]) -> tuple[Suite, ...]:
    groups: dict[int, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["suite"], []).append(row)
    return tuple(Suite(tuple(sorted(own, key=lambda row: row["x"]))) for own in groups.values())


def _caveats(page: RunPage) -> Iterator[str]:
    rows, measured = page.rows, page.measured
    for reason in page.retracted:
        yield f"This run is retracted or flagged: {reason}. It is in no answer of the store."
    if measured["clock"] == "simulated":
        yield "These times are simulated, not measured: they tell about the simulated machine, and repeat exactly."
    if measured["clock"] == "virtual":
        machine = measured["simulation"]["virtual"]
        yield f"These times are those of a virtual clock: {numbers_in_words(machine)}; {LEFT_OUT}."
    crowded = sorted({row["p"] for row in rows if row["oversubscribed"]})
    if crowded:
        several = ", ".join(map(str, crowded))
        yield f"With p = {several} there were more processes than cores: these times tell about the scheduler, too."
    unfinished = [one for one in measured["launches"] if not one.get("complete", True)]
    if unfinished:
        yield f"{counted(len(unfinished), 'launch', 'launches')} did not reach the end; what it measured before is here."
    wrong = sorted({row["op"] for row in rows if not row["verified"]})
    if wrong:
        yield f"Wrong results, whatever the times: {', '.join(wrong)}."
    yield from _of_repetitions(rows)
    for skip in measured["skips"]:
        yield f"{skip['op']} was left out: {skip['why']}."
    for remark in measured["remarks"]:
        yield f"{str(remark).rstrip('.')}."


def _of_repetitions(rows: Sequence[Row]) -> Iterator[str]:
    """Yield caveats about the repetitions of the times."""
    timed = [row for row in rows if row["metric"] == "time"]
    stopped = Counter(row["status"] for row in timed)
    for status, why in (("budget", "the time allotted to it was used up"), ("capped", "the most repetitions were done")):
        if stopped[status]:
            yield f"{stopped[status]} of {counted(len(timed), 'time')} ended because {why}, not because its error was small."
    if few := sum(row["n_kept"] < _FEW for row in timed):
        yield f"{counted(few, 'time')} {'has' if few == 1 else 'have'} fewer than {_FEW} repetitions that count."
    if left_out := sum(row["n"] - row["n_kept"] for row in timed):
        share = as_percent(left_out / sum(row["n"] for row in timed), ".1f")
        yield f"{counted(left_out, 'repetition')} ({share}) began late or outlasted the window, and are left out."
    if wide := sum(row["q3"] - row["q1"] > _WIDE * row["med"] for row in timed):
        yield f"{counted(wide, 'time')} {'has' if wide == 1 else 'have'} quartiles further apart than half of the median."
    if busy := [row["foreign_load"] for row in timed if (row["foreign_load"] or 0) > _BUSY]:
        times, most = counted(len(busy), "time"), as_percent(max(busy))
        yield f"Other programs used more than {as_percent(_BUSY)} of the node during {times}, at most {most}."
