"""The two lists of the explorer of a store: its runs, and the suites of those that are chosen."""

import fnmatch
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from scalkit.clocks import with_clock
from scalkit.markup import block, esc, table
from scalkit.store.views.explorer import GROUPINGS, Browsing, SuiteKey
from scalkit.text import counted
from scalkit.widgets.base.part import Action, Grid, number_of
from scalkit.widgets.base.templates import drawn, source

MOST_ROWS = 200
"""So many rows are shown at once; a filter shows others."""

_Row = tuple[bool, Sequence[object]]
_SELECTS = (("machine", "Machine"), ("mpi_impl", "Library"), ("site", "Site"), ("clock", "Clock"))


class StoreList(Grid):
    """A grid whose rows begin with a box to check; the keys of a grid move in it.

    `told`: called when something else is chosen.
    `**traits`: values of the traits.
    """

    _css = source("base/kernel.css", "base/part.css", "store_explorer/explorer.css")

    def __init__(self, browsing: Browsing, told: Callable[[], object], **traits: Any) -> None:
        super().__init__(**traits)
        self.browsing, self._tell = browsing, told
        self.observe(lambda _: self.show(), "sort")
        self._begin()

    def _rows(self) -> list[_Row]:
        """Return for each row whether it is checked, and what stands in its columns."""
        raise NotImplementedError

    def show(self) -> None:
        """Show what there is now."""
        rows = self._rows()
        places = list(range(len(rows)))
        column, way = self.sort
        if way:
            at = list(self.columns).index(column)
            places.sort(key=lambda k: _sortable(rows[k][1][at]), reverse=way == "descending")
        self._put({n: _cells(place, *rows[place]) for n, place in enumerate(places[:MOST_ROWS])})

    def _fallback_text(self) -> str:
        return f"{self.label}: {len(self._rows())}"

    def _fallback_html(self) -> str:
        rows = [[esc(str(text)) for text in texts] for _, texts in self._rows()[:MOST_ROWS]]
        return block(table(list(self.columns), rows, self.label))


class StoreRuns(StoreList):
    """The runs of a store that pass a filter, with a box to check each."""

    def __init__(self, browsing: Browsing, told: Callable[[], object]) -> None:
        columns = ["Platform", "Started", "Run", "Suites", "Label", "Site"]
        super().__init__(browsing, told, columns=columns, label="Runs", none="No run passes the filter.")

    def _rows(self) -> list[_Row]:
        chosen = set(self.browsing.run_ids)
        shown = self.browsing.runs[["platform", "clock", "started", "suites", "site", "label", "run_id"]]
        return [
            (run_id in chosen, (with_clock(platform, clock), _to_minutes(started), run_id[:8], int(suites), label, site))
            for platform, clock, started, suites, site, label, run_id in shown.itertuples(index=False, name=None)
        ]

    def _drawn(self) -> dict[str, str]:
        found = _counted(len(self.browsing.runs), "run")
        selects = [one for name, title in _SELECTS if (one := self._offered(name, title))]
        return drawn("store.html", part="runs", browsing=self.browsing, found=found, selects=selects)

    def _offered(self, name: str, title: str) -> tuple[str, str, dict[str, str], str] | None:
        """Return a choice among the values of a column; None where there is none."""
        values = self.browsing.values(name)
        words = {"*": "all", **{value: value or "none" for value in values}}
        return (name, title, words, self.browsing.only.get(name, "*")) if len(values) > 1 else None

    def _actions(self) -> dict[str, Action]:
        return {
            "filter": lambda texts: self._narrow(texts.get("text", ""), self.browsing.only),
            "all": lambda _: self._choose([*self.browsing.run_ids, *self.browsing.runs["run_id"]]),
            "none": lambda _: self._choose([]),
            "check": self._check,
            "sort": self._sort_by,
            **{f"only-{name}": self._only(name) for name, _ in _SELECTS},
        }

    def _only(self, name: str) -> Action:
        def narrow(texts: Any) -> None:
            rest = {column: value for column, value in self.browsing.only.items() if column != name}
            value = texts.get("key", "*")
            if value in self.browsing.values(name):
                rest[name] = value
            self._narrow(self.browsing.text, rest)

        return narrow

    def _narrow(self, text: str, only: dict[str, str]) -> None:
        self.browsing.narrow(text, only)
        self.show()

    def _check(self, texts: Mapping[str, str]) -> None:
        runs, chosen = self.browsing.runs["run_id"].tolist(), self.browsing.run_ids
        place = number_of(texts, len(runs))
        if place is not None:
            run = runs[place]
            self._choose([one for one in chosen if one != run] if run in chosen else [*chosen, run])

    def _choose(self, run_ids: Iterable[str]) -> None:
        self.browsing.choose_runs(run_ids)
        self.show()
        self._tell()


class StoreSuites(StoreList):
    """The suites of the chosen runs, with a box to check each."""

    def __init__(self, browsing: Browsing, told: Callable[[], object]) -> None:
        self._words = ""
        columns = ["Operation", "Fixed", "Platform", "Runs", "Over", "Metric", "Points", "Pattern", "Type"]
        none = "No suite: choose runs, or another filter."
        super().__init__(browsing, told, columns=columns, label="Suites", none=none)

    def _rows(self) -> list[_Row]:
        keys, suites = self.browsing.choices(), self.browsing.suites
        spans = suites[["x_min", "x_max", "points", "runs", "clock"]].itertuples(index=False, name=None)
        rows = [_suite_row(key, self._in_runs(key, span[3]), *span) for key, span in zip(keys, spans, strict=True)]
        chosen = set(self.browsing.chosen)
        return [(keys[place] in chosen, rows[place]) for place in self._places()]

    def _in_runs(self, key: SuiteKey, runs: int) -> object:
        """Return what stands for the runs of a suite: their number, or which it is."""
        words = self.browsing.runs_words(key)
        return f"{words} ({runs} runs)" if runs > 1 and words else words or int(runs)

    def _places(self) -> list[int]:
        """Return the rows of `Browsing.suites` that have all words of the filter, as ``gather p=4``."""
        words = re.sub(r"\s*=\s*", "=", self._words.lower()).split()
        if not words:
            return list(range(len(self.browsing.suites)))
        facts = self.browsing.suites[["root", "reduction"]].to_dict("records")
        return [
            place
            for place, (key, more) in enumerate(zip(self.browsing.choices(), facts, strict=True))
            if all(_has(key, {**more, "runs": self.browsing.runs_words(key)}, word) for word in words)
        ]

    def _drawn(self) -> dict[str, str]:
        found = _counted(len(self._places()), "suite")
        values = {"browsing": self.browsing, "found": found, "typed": self._words}
        return drawn("store.html", part="suites", groupings=GROUPINGS, **values)

    def _actions(self) -> dict[str, Action]:
        return {
            "filter": lambda texts: self._narrow(texts.get("text", "")),
            "none": lambda _: self._none(),
            "by": lambda texts: self._group(texts.get("key", "")),
            "check": self._check,
            "sort": self._sort_by,
        }

    def _narrow(self, text: str) -> None:
        self._words = text
        self.show()

    def _group(self, by: str) -> None:
        self.browsing.group_by(by)
        self.show()
        self._tell()

    def _none(self) -> None:
        self.browsing.choose_no_suite()
        self.show()
        self._tell()

    def _check(self, texts: Mapping[str, str]) -> None:
        places = self._places()
        place = number_of(texts, len(places))
        if place is not None:
            self.browsing.choose_suite(self.browsing.choices()[places[place]])
            self.show()
            self._tell()


def _has(key: SuiteKey, more: Mapping[str, str], word: str) -> bool:
    """Return whether a suite has a word somewhere, or, of a word such as ``p=4``, that value."""
    values = {**vars(key), **more}
    texts = [*values.values(), key.fixed_words]
    if "=" not in word:
        return any(word in text.lower() for text in texts)
    named = [f"{name}={value}" for name, value in values.items()]
    named += [part.replace(" ", "") for part in key.fixed_words.split(", ")]
    return any(fnmatch.fnmatchcase(one.lower(), word) for one in named)


def _suite_row(key: SuiteKey, in_runs: object, low: int, high: int, points: int, runs: int, clock: str) -> Sequence[object]:
    del runs
    over = f"{key.x_name} = {low} to {high}" if low != high else f"{key.x_name} = {low}"
    where = with_clock(key.platform, clock)
    return key.op, key.fixed_words, where, in_runs, over, key.metric, int(points), key.pattern, key.datatype


def _cells(place: int, checked: bool, texts: Sequence[object]) -> list[str]:
    """Return the markup of a row: a box to check with the first text, then the others."""
    first, *rest = texts
    box = (
        f'<button type="button" role="checkbox" aria-checked="{str(checked).lower()}" data-press="check" '
        f'data-value="{place}" data-key="row{place}">{esc(str(first))}</button>'
    )
    return [box, *(_cell(one) for one in rest)]


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f'<span class="num">{value}</span>'
    return f'<div class="cut" title="{esc(str(value))}">{esc(str(value))}</div>'


def _sortable(value: object) -> tuple[int, float, str]:
    return (0, float(value), "") if isinstance(value, int) else (1, 0.0, str(value))


def _to_minutes(started: str) -> str:
    return started[:16].replace("T", " ")


def _counted(number: int, what: str) -> str:
    more = f"; {MOST_ROWS} are shown, the filter shows others" if number > MOST_ROWS else ""
    return counted(number, what) + more
