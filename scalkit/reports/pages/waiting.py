"""The content of a report on waiting in traces over process counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from scalkit.errors import DataError
from scalkit.judge import Expectation, Validation, validate
from scalkit.plots.traces.waiting import WaitingRun
from scalkit.reports.content import Content, json_text, written_now
from scalkit.reports.pages.waiting_inputs import Source, found_in, read_source
from scalkit.support.bundled import bundled
from scalkit.support.json_values import json_value
from scalkit.support.junit import Case
from scalkit.trace import over_processes
from scalkit.trace.results.summary import FACTS, TITLES, lacks_progress, summary
from scalkit.trace.views.timeline import Timeline

METRIC = "wait_for_progress"
_FEWEST = 5
_FALLS = 0.7
_MOST_STEPS = 3_000_000


@dataclass(frozen=True, eq=False)
class WaitingPage(Content):
    """What the sections of a report on waiting need.

    `sources`: by the number of processes.
    `title`: plain text.
    `region`: what of the program it is about; empty for all.
    `expected`: growth of the waiting in each region over the number of processes.
    `is_asked`: whether the user expects something, so that growth counts for the status.
    `validation`: None if there are too few numbers of processes, or nobody waited: `no_verdict` says why.
    `fail_above`: percent of the time from which on waiting for progress is a failure.
    `made`: time of the report, UTC.
    `keep_going`: whether what is wrong with traces is left out.
    """

    kind: ClassVar[str] = "waiting"

    sources: tuple[Source, ...]
    title: str
    region: str
    expected: Mapping[str, str]
    is_asked: bool
    validation: Validation | None
    no_verdict: str
    fail_above: float | None
    made: str
    keep_going: bool = False

    @property
    def runs(self) -> list[WaitingRun]:
        """What the figures show."""
        return [source.run for source in self.sources]

    @property
    def is_simulated(self) -> bool:
        """Whether any of it was simulated."""
        return any(run.simulated for run in self.runs)

    @property
    def worst(self) -> Source:
        """Where the largest part of the time is waiting for progress."""
        return max(self.sources, key=lambda one: np.nan_to_num(one.run.parts.share))

    @property
    def status(self) -> int:
        """Exit status: 1 if waiting grows faster than was asked for, or takes more of the time."""
        grows = self.validation.exit_status() if self.validation is not None and self.is_asked else 0
        above = self.fail_above is not None and 100 * np.nan_to_num(self.worst.run.parts.share) > self.fail_above
        return int(grows == 1 or above)

    @property
    def answer(self) -> str:
        """The outcome in a few sentences."""
        shares = [100 * float(run.parts.share) for run in self.runs if np.isfinite(run.parts.share)]
        counts = [run.processes for run in self.runs]
        over = f"{counts[0]} processes" if len(set(counts)) == 1 else f"{counts[0]} to {counts[-1]} processes"
        if any(lacks_progress(source.ds) for source in self.sources):
            said = ["Calls were left out of the recording, so how long the program waits for progress is not known."]
        elif not shares:
            said = ["Something else than calls progressed communication, so nobody waited for progress."]
        else:
            low, high = min(shares), max(shares)
            part = f"{low:.1f} %" if f"{low:.1f}" == f"{high:.1f}" else f"{low:.1f} to {high:.1f} %"
            said = [f"On {over} {part} of the time is waiting for progress."]
        said += self._other_waits
        said += [verdict.sentence for verdict in self.validation or ()]
        if self.is_asked and self.validation is None:
            said.append(self.no_verdict)
        if self.is_simulated:
            said.append("Simulated, not measured.")
        return " ".join([*said, f"Exit status {self.status}."])

    @property
    def _other_waits(self) -> list[str]:
        """What of the time is waiting for anything but progress, and what for most; nothing where there is none."""
        parts = [run.parts for run in self.runs]
        shares = [100 * float(one.other_waits.sum()) / float(one.total.sum() or 1) for one in parts]
        if f"{max(shares):.1f}" == "0.0":
            return []
        totals = [summary(source.ds, 1)["totals"] for source in self.sources]
        sums = {name: sum(one.get(name, 0) for one in totals) for name, facts in FACTS.items() if facts.awaits}
        most = max((name for name in sums if not FACTS[name].of_progress), key=lambda name: sums[name])
        low, high = f"{min(shares):.1f}", f"{max(shares):.1f}"
        of_it = "" if self.region else f", most of it {TITLES[most]}"
        return [f"Other waits take {low if low == high else f'{low} to {high}'} %{of_it}."]

    @cached_property
    def timelines(self) -> list[Timeline]:
        """Of the largest trace that was given, and of the smallest one, if they are not too large."""
        traces = [source for source in self.sources if source.trace is not None]
        found = []
        for source in traces[-1:] + traces[:-1][:1]:
            steps = 2 * float(source.ds["severity"].sel(metric="visits").sum())
            if steps <= _MOST_STEPS and source.trace is not None:
                found.append(Timeline(source.trace, keep_going=self.keep_going))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values; times in s."""
        rows = []
        for source in self.sources:
            parts, run = source.run.parts, source.run
            row: dict[str, Any] = {"name": source.name, "processes": run.processes, "simulated": run.simulated}
            row |= {"sha256": source.sha256, "wall_s": parts.wall, "operations": int(parts.operations.sum())}
            row |= {"kinds_s": {kind: float(values.sum()) for kind, values in parts.kinds.items()}}
            row |= {"waiting_s": json_value(parts.waiting.sum()), "waiting_bound_s": json_value(parts.bound.sum())}
            rows.append(row | {"waiting_share": json_value(parts.share), "analysis_s": json_value(run.analysis_s)})
        verdicts = [
            {"function": v.function, "expected": str(v.expectation), "answer": v.answer, "sentence": v.sentence}
            for v in self.validation or ()
        ]
        told = {"format": "scalkit waiting report", "schema": 1, "title": self.title, "region": self.region}
        return told | {"answer": self.answer, "exit_status": self.status, "runs": rows, "verdicts": verdicts}

    def to_json(self) -> str:
        """Return all numbers as JSON text."""
        return json_text(self.to_dict())

    def cases(self) -> Mapping[str, list[Case]]:
        """Return what the user asked for as test cases."""
        found = []
        for verdict in (self.validation or ()) if self.is_asked else ():
            name = f"waiting for progress in {verdict.function} grows as expected"
            found.append(Case("waiting", name, failure=verdict.sentence if verdict.answer == "fix" else ""))
        if self.fail_above is not None:
            share, most = 100 * float(np.nan_to_num(self.worst.run.parts.share)), self.fail_above
            told = f"{share:.1f} % on {self.worst.run.processes} processes" if share > most else ""
            name = f"waiting for progress takes at most {most:g} % of the time"
            found.append(Case("waiting", name, failure=told))
        return {"waiting": found}


def open_waiting(
    runs: Sequence[str] = (),
    *,
    region: str = "",
    expected: Mapping[str, str] | str = "",
    fail_above: float | None = None,
    keep_going: bool = False,
    title: str = "",
) -> WaitingPage:
    """Return the content of a report.

    `runs`: results, traces, or folders of these; empty: simulated traces that come with scalkit.
    `region`: only what happens within this region of the program; empty: all.
    `expected`: growth over p of the waiting for progress: in each region, or in the whole program. Of a program whose time
    falls as processes are added it is that of all of them together, else that of a process. By default it is compared with a
    constant, which does not count for the status.
    `fail_above`: percent of the time.
    `keep_going`: leave out what is wrong with traces.
    `title`: made from the runs if empty.
    Raises DataError, ExpectationError if an input is wrong.
    """
    runs = runs or [bundled_traces()]
    sources = [read_source(path, name, region, keep_going=keep_going) for path, name in found_in(runs)]
    if fail_above is not None and any(lacks_progress(one.ds) for one in sources):
        raise DataError("waiting for progress is not known where calls were left out; record all, or leave --fail-above out.")
    sources.sort(key=lambda one: one.run.processes)
    asked = {"program": expected} if isinstance(expected, str) and expected else dict(expected or {})
    growths = asked or {"program": "1"}
    for growth in growths.values():
        Expectation(growth)  # raises if it is none, also where there are too few numbers of processes to judge it
    validation, why = _judged(sources, growths)
    names = list(dict.fromkeys(Path(one).name or one for one in runs))
    more = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) < 5 else f"{names[0]} and {len(names) - 1} others"
    what = f"Who waits for whom in {region or (names[0] if len(names) == 1 else more)}?"
    return WaitingPage(
        tuple(sources), title or what, region, growths, bool(asked), validation, why, fail_above, written_now(), keep_going
    )


def bundled_traces() -> str:
    """Return the folder of simulated traces of a matrix multiplication on 4 to 36 processes."""
    return str(bundled("data/one-sided/simulated"))


def _judged(sources: Sequence[Source], growths: Mapping[str, str]) -> tuple[Validation | None, str]:
    counts = {source.run.processes for source in sources}
    if len(counts) < _FEWEST:
        return None, f"A verdict on growth needs {_FEWEST} numbers of processes; there are {len(counts)}."
    try:
        waits = over_processes((source.ds for source in sources), of="sum" if is_strong(sources) else "mean")
    except DataError as error:
        return None, str(error)
    if METRIC not in waits:
        return None, "Nobody waited for progress in any of the results."
    there = {str(name) for name in waits["function"].values}
    if missing := sorted(set(growths) - there):
        raise DataError(
            f"the results have no waits and no calls in {missing[0]!r}; expect something of {', '.join(sorted(there))}."
        )
    try:
        return validate(waits, {name: {METRIC: growth} for name, growth in growths.items()}), ""
    except DataError as error:
        return None, str(error)


def is_strong(sources: Sequence[Source]) -> bool:
    """Return whether the time of the program falls as processes are added: a problem of fixed size."""
    return sources[-1].run.parts.wall < _FALLS * sources[0].run.parts.wall
