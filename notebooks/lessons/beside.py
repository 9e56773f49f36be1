"""Tables 2 and 3 of Shudler et al. 2015 beside the libraries of today and simulated machines."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape

import numpy as np
import pandas as pd
import xarray as xr

from lessons.paper import SYMBOLS, PrintedModel, PublishedTable, published_tables
from scalkit.formats.read import read
from scalkit.judge import Verdict, validate
from scalkit.judge.expectation import Match, sure_match
from scalkit.judge.judged import grows_slower, is_decided
from scalkit.measure import series
from scalkit.support.bundled import bundled
from scalkit.support.markup import block, bullets, counted, details, formula, marked, paragraph, table
from scalkit.support.text import capital, joined

_TIMES, _MEMORY = 2, 3
_NAMES = {"Bcast (BT)": "Bcast_binary_tree"}
_FIRST_SIMULATED = 4
"""Two processes are neighbours on every simulated machine."""
_SAME_S = 3e-9
"""Difference of times that are the same: the virtual clock counts nanoseconds."""


@dataclass(frozen=True, eq=False)
class Beside:
    """A table of the paper, and verdicts on later measurements by the same expectations.

    `what`: the later ones, in words: ``"today's libraries"``.
    `remarks`: what must be known of the columns.
    `word`: what stands before a column in sentences.
    """

    table: PublishedTable
    what: str
    verdicts: Mapping[str, Mapping[str, Verdict]]
    remarks: tuple[str, ...] = ()
    word: str = "with"

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each function: the expectation, the printed growths, those of today, each with its mark."""
        rows: list[dict[tuple[str, str], str]] = []
        for name, printed in self._rows():
            row = {("", "expectation"): str(printed[0].expectation.growth)}
            row |= {("2015", one.machine): f"{SYMBOLS[_match_of(one)]} {one.growth}" for one in printed}
            row |= {(self.what, column): _cell(found.get(name)) for column, found in self.verdicts.items()}
            rows.append(row)
        names = pd.Index([name for name, _ in self._rows()], name="function")
        return pd.DataFrame(rows, index=names, columns=pd.MultiIndex.from_tuples(list(rows[0])))

    @property
    def claims(self) -> tuple[str, ...]:
        """A sentence for each function: its growth on the machines of 2015, and its growth now where that is decided."""
        return tuple(self._claim(name, printed) for name, printed in self._rows())

    def _claim(self, name: str, printed: list[PrintedModel]) -> str:
        then: dict[str, list[str]] = {}
        for one in printed:
            kind = _kind(_match_of(one), one.growth > one.expectation.growth)
            then.setdefault(kind, []).append(_with_growth(one.machine, one.growth, kind))
        now: dict[str, list[str]] = {}
        for column, found in self.verdicts.items():
            verdict = found.get(name)
            kind = _kind_of(verdict)
            shown = column if verdict is None else _with_growth(column, verdict.model.growth, kind)
            now.setdefault(kind, []).append(shown)
        head = f"{name}, O({printed[0].expectation.growth})"
        return f"{head}. 2015: {_groups(then, 'on')}. {capital(self.what)}: {_groups(now, self.word)}."

    @property
    def summary(self) -> str:
        """A sentence that names the functions that grow too fast somewhere, then and now."""
        rows = list(self._rows())
        then = [
            name for name, printed in rows if any(_match_of(o) == "none" and o.growth > o.expectation.growth for o in printed)
        ]
        now = [name for name, _ in rows if any(_kind_of(found.get(name)) == _FAST for found in self.verdicts.values())]
        known = [name for name, _ in rows if any(_kind_of(found.get(name)) != _OPEN for found in self.verdicts.values())]
        if not known:
            return f"{capital(self.what)}: nothing is decided; in 2015 {joined(then)} grew too fast on some machine."
        parts = {
            "too fast then, no more": [name for name in then if name in known and name not in now],
            "too fast then and now": [name for name in then if name in now],
            "too fast only now": [name for name in now if name not in then],
            "not decided now": [name for name, _ in rows if name not in known],
        }
        changes = "; ".join(f"{what}: {', '.join(names)}" for what, names in parts.items() if names)
        return f"{capital(self.what)}, beside 2015: {changes or 'nothing grows too fast, then or now'}."

    @property
    def _decides(self) -> bool:
        return any(_kind_of(one) != _OPEN for found in self.verdicts.values() for one in found.values())

    def _rows(self) -> Iterator[tuple[str, list[PrintedModel]]]:
        rows: dict[str, list[PrintedModel]] = {}
        for one in self.table.entries:
            rows.setdefault(one.function, []).append(one)
        yield from rows.items()

    def __repr__(self) -> str:
        return f"<Beside: table {self.table.number}, {self.table.title}; {self.what}: {', '.join(self.verdicts)}>"

    def _repr_html_(self) -> str:
        head = ("function", "expectation", *self.verdicts, *(f"{one}, 2015" for one in self.table.machines))
        rows = [
            (
                escape(name),
                formula(printed[0].expectation.growth, big_o=True),
                *(_shown(found.get(name), self.table.number) for found in self.verdicts.values()),
                *(marked(_match_of(one), f"{SYMBOLS[_match_of(one)]} {one.growth}") for one in printed),
            )
            for name, printed in self._rows()
        ]
        claims = details(counted(len(self.claims), "function"), bullets(self.claims), is_open=self._decides)
        caption = f"Table {self.table.number}, {self.table.title}: the paper and {self.what}"
        return block(table(head, rows, caption), paragraph(_LEGEND), bullets(self.remarks), paragraph(self.summary), claims)


_LEGEND = "✓ as expected, ≈ inside the limits, ✗ outside, ? cannot tell; ⚠ does not decide; – not measured."
_FAST, _OPEN = "too fast", "not decided"


def beside(
    number: int, columns: Mapping[str, xr.Dataset], what: str, remarks: tuple[str, ...] = (), word: str = "with"
) -> Beside:
    """Return a table of the paper beside measurements, judged by its expectations, limits and ticks.

    `number`: 2 or 3.
    `what`: they, in words.
    `remarks`: what must be known of them.
    `word`: what stands before a column in sentences: with a library, on a machine.

    Source: Shudler et al. 2015 (docs/references.md), tables 2 and 3.
    """
    printed = published_tables()[number]
    found = {head: _judged(data, printed) for head, data in columns.items()}
    return Beside(printed, what, found, (*remarks, *_caveats(found)), word)


def _judged(data: xr.Dataset, printed: PublishedTable) -> dict[str, Verdict]:
    """Return verdicts by the names of a table."""
    ours = {name: _NAMES.get(name, f"MPI_{name.removeprefix('MPI ').replace(' ', '_')}") for name in printed.expectations()}
    expected = {ours[name]: value for name, value in printed.expectations().items()}
    judged = {one.function: one for one in validate(data, expected, progress=False).along_one if one.series.y.any()}
    return {name: judged[own] for name, own in ours.items() if own in judged}


def libraries_memory() -> Beside:
    """Return table 3 beside the memory of the three libraries that data/libraries holds."""
    data = _libraries("libraries")
    return beside(
        _MEMORY,
        {head: _least(one) if head.startswith("Open MPI") else one for head, one in data.items()},
        "today's libraries",
        (
            "Bytes for an object and process: of Open MPI at the process with the fewest, since others fill pools; else at the "
            "one with the most",
            "Coefficients are of machines and libraries; what compares is the growth",
            *_uncounted(data),
        ),
    )


def libraries_times() -> Beside:
    """Return table 2 beside the run times of the three libraries that data/libraries-times holds."""
    return beside(_TIMES, _libraries("libraries-times"), "today's libraries")


def libraries_virtual() -> Beside:
    """Return table 2 beside the three libraries in virtual time with 256 bytes, which data/virtual-256 holds.

    Where a library changes its algorithm so often that its own times decide nothing, the growth is the fastest of those
    algorithms, each measured alone (data/virtual-algorithms).
    """
    table = beside(
        _TIMES,
        _libraries("virtual-256"),
        "today's libraries",
        (
            "Virtual time: the libraries ran, with 2 to 128 processes, Intel MPI's Allgather and Alltoall with 256, too, above a "
            "clock that lets a message take 1.6 us and 0.08 ns a byte; the machines of 2015 were real",
        ),
    )
    found, remarks = {head: dict(verdicts) for head, verdicts in table.verdicts.items()}, list(table.remarks)
    for folder in sorted(bundled("data/virtual-algorithms").glob("*/*")):
        head, name = _head(folder.parent.name), folder.name
        each = {one.name: _judged(read(one), table.table)[name] for one in sorted(folder.iterdir())}
        if sure_match(found[head][name].probability) is None and _explain(found[head][name], each.values()):
            found[head][name] = max(each.values(), key=lambda one: one.model.growth)
            remarks.append(f"{head}, {name}: the fastest growth of the algorithms that it changes between, {joined(list(each))}")
    return replace(table, verdicts=found, remarks=tuple(remarks))


def _explain(verdict: Verdict, each: Collection[Verdict]) -> bool:
    """Return whether every value of a library is that of one of its algorithms, of which each has a verdict that decides."""
    values = [dict(zip(one.series.x, one.series.y, strict=True)) for one in each]
    own = zip(verdict.series.x, verdict.series.y, strict=True)
    return all(_kind_of(one) != _OPEN for one in each) and all(
        any(abs(one.get(x, np.inf) - y) < _SAME_S for one in values) for x, y in own
    )


def libraries_latency() -> pd.DataFrame:
    """Return the run times of table 2 with two processes, a core for each, in us: what this machine measures well."""
    columns = {head: _at_two(data) for head, data in _libraries("libraries-times").items()}
    return pd.DataFrame(columns).rename_axis(index="function", columns="us at p = 2").round(2)


def _at_two(data: xr.Dataset) -> dict[str, float]:
    found = {one.function: dict(zip(one.x, one.y, strict=True)) for one in series(data) if one.metric == "time"}
    return {function: 1e6 * float(values[2]) for function, values in found.items() if 2 in values}


def simulated_times() -> Beside:
    """Return table 2 beside the simulated machines of data/simulated, from p = 4 on."""
    folders = {"Juqueen": "juqueen", "Juropa": "juropa", "Piz Daint": "daint", "Juropa, 8 a node": "juropa-8"}
    data = {f"simulated {head}": read(bundled(f"data/simulated/{name}")) for head, name in folders.items()}
    chosen = {head: one.sel(p=one["p"] >= _FIRST_SIMULATED) for head, one in data.items()}
    return beside(
        _TIMES,
        chosen,
        "simulated machines",
        ("Simulated, not measured: machines in the manner of the paper's, with the algorithms that docs/machines.md names",),
        "on",
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


def _uncounted(libraries: Mapping[str, xr.Dataset]) -> Iterator[str]:
    """Yield a remark for each library that takes nothing from malloc, so that its objects cannot be counted."""
    for head, data in libraries.items():
        if not data["object_memory"].fillna(0).any():
            yield f"{head}: an allocator of its own gives its objects their memory; malloc sees none of it, so it is not counted"


def _is_too_fast(printed: PrintedModel) -> bool:
    is_faster = printed.growth > printed.expectation.growth
    return is_faster and _match_of(printed) == "none"


def _match_of(printed: PrintedModel) -> Match:
    return printed.derived[1]


def _cell(verdict: Verdict | None) -> str:
    if verdict is None:
        return "–"
    return _words(verdict, verdict.model.growth)


def _shown(verdict: Verdict | None, number: int) -> str:
    if verdict is None:
        return "–"
    words = _words(verdict, verdict.model if number == _MEMORY else verdict.model.growth)
    match = sure_match(verdict.probability)
    if match is None:
        return marked("cannot tell", words)
    return marked("fine" if grows_slower(verdict) else match, words)


def _words(verdict: Verdict, model: object) -> str:
    match = sure_match(verdict.probability)
    symbol = "?" if match is None else SYMBOLS[match]
    slower = "slower: " if grows_slower(verdict) else ""
    return f"{symbol} {slower}{model}{'' if verdict.decides else ' ⚠'}"


def _kind_of(verdict: Verdict | None) -> str:
    if verdict is None or not is_decided(verdict):
        return _OPEN
    match = sure_match(verdict.probability)
    misses = verdict.evidence.misses
    if match == "none" and not grows_slower(verdict) and not misses:
        return _OPEN  # one value decides, or the machine may explain by how much
    return _kind(str(match), misses)


def _kind(match: str, is_faster: bool) -> str:
    return {"total": "as expected", "approximate": "inside the limits"}.get(match, _FAST if is_faster else "slower")


def _with_growth(name: str, growth: object, kind: str) -> str:
    return name if kind in ("as expected", _OPEN) else f"{name} ({growth})"


def _groups(names: Mapping[str, list[str]], word: str) -> str:
    return "; ".join(f"{kind} {word} {joined(ones)}" for kind, ones in names.items())


def _caveats(found: Mapping[str, Mapping[str, Verdict]]) -> Iterator[str]:
    """Return why columns do not decide, each reason once."""
    whom: dict[str, list[str]] = {}
    for head, verdicts in found.items():
        for caveat in dict.fromkeys(c for v in verdicts.values() if not v.decides for c in v.series.caveats):
            whom.setdefault(caveat, []).append(head)
    for caveat, heads in whom.items():
        yield f"{joined(heads)}: {caveat}"
