"""What to use where a guideline is violated: the fastest of what was measured, setting by setting."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from scalkit.guidelines.experiments import MISSING
from scalkit.guidelines.guideline import Side, shown_side
from scalkit.guidelines.result import Assessment
from scalkit.guidelines.sentences import shown_ratio

PROCESSES = "p"
"""The parameter that holds the number of processes."""


@dataclass(frozen=True)
class Choice:
    """What is best used in place of what, at one setting.

    `parameter`: what is chosen, mostly ``"operation"``.
    `level`: what one would use without a measurement, as in ``"MPI_Bcast"``.
    `use`: what takes less time, as a guideline writes it: ``"MPI_Scatter + MPI_Allgather"``; `level` itself where
    nothing does.
    `terms`: the same as factors and levels; empty for `level` itself, and for guidelines between sizes.
    `where`: all other parameters.
    `p`: number of processes; None if that is no parameter.
    `size`: of the varied parameter; None if that is no parameter.
    `guideline`: the violated one; empty where nothing is better.
    `ratio`, `ratio_low`, `ratio_high`: how many times as long `level` takes as `use`, and the interval; 1 where nothing
    is better.
    `decides`: whether the measurements may decide; with more processes than cores, or next to other programs, they may
    not.
    """

    parameter: str
    level: str
    use: str
    terms: tuple[tuple[float, str], ...] = ()
    where: Mapping[str, Any] = field(default_factory=dict)
    p: Any = None
    size: Any = None
    kind: str = "levels"
    guideline: str = ""
    ratio: float = 1.0
    ratio_low: float = 1.0
    ratio_high: float = 1.0
    decides: bool = True

    @property
    def is_better(self) -> bool:
        """Whether something else than `level` is to be used."""
        return self.use != self.level


def choices(found: Assessment) -> tuple[Choice, ...]:
    """Return the fastest choice of each tested setting: something else only where a violation shows that it is faster.

    Returns: in the order of what is replaced, where, the number of processes and the size. Of several violations at
    one setting the one counts that saves most. Guidelines whose slower side is a sum or a maximum name no single
    thing to replace.
    """
    best: dict[tuple[Any, ...], Choice] = {}
    for test in range(len(found)):
        for one in _of_test(found, test):
            key = (one.parameter, one.level, one.kind, tuple(one.where.items()), one.p, one.size)
            before = best.get(key)
            if before is None or (one.is_better, one.ratio) > (before.is_better, before.ratio):
                best[key] = one
    return tuple(best[key] for key in sorted(best, key=_order))


def _order(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a key that sorts numbers as numbers and everything else as text."""
    *names, where, p, size = key
    return (*map(str, names), str(where), *((0, x, "") if isinstance(x, int | float) else (1, 0, str(x)) for x in (p, size)))


def _of_test(found: Assessment, test: int) -> Iterator[Choice]:
    guideline = found.guidelines[int(found.which[test])]
    is_violated = found.columns["state"][test] == "violated"
    effect = float(found.columns["effect"][test])
    if guideline.kind != "levels":  # another size: the next larger one, or pieces
        data, name = found.data, guideline.parameter
        codes = found.codes[test, data.parameters.index(name)], found.against[test]
        level, use = (f"{name}={data.level(name, int(code))}" for code in codes)
        yield _choice(found, test, level, use if is_violated else level)
        return
    prefix = "" if guideline.parameter == "operation" else f"{guideline.parameter}="
    sides = ((guideline.left, guideline.right, False), (guideline.right, guideline.left, True))
    for slow, fast, is_swapped in sides[: 2 if guideline.relation == "~" else 1]:
        if (alone := _single(slow)) is None:
            continue
        is_worse = is_violated and (effect < 1 if is_swapped else effect >= 1)
        terms = fast[0] if is_worse and len(fast) == 1 else ()
        yield _choice(found, test, alone, shown_side((terms,), prefix) if terms else alone, terms, is_swapped)


def _single(side: Side) -> str | None:
    """Return the level that a side consists of; None if it is a sum, a multiple or a maximum."""
    if len(side) != 1 or len(side[0]) != 1 or side[0][0][0] != 1:
        return None
    return side[0][0][1]


def _choice(
    found: Assessment, test: int, level: str, use: str, terms: tuple[tuple[float, str], ...] = (), is_swapped: bool = False
) -> Choice:
    guideline, columns = found.guidelines[int(found.which[test])], found.columns
    where, p, size = _place(found, test, guideline.parameter if guideline.kind == "levels" else None)
    measured: dict[str, Any] = {}
    if use != level:
        ratio, low, high = (float(columns[key][test]) for key in ("effect", "ratio_low", "ratio_high"))
        if is_swapped:
            ratio, low, high = 1 / ratio, 1 / high, 1 / low
        measured = {"guideline": str(guideline), "ratio": ratio, "ratio_low": low, "ratio_high": high}
    measured["decides"] = bool(columns["decides"][test])
    return Choice(guideline.parameter, level, use, terms, where, p, size, guideline.kind, **measured)


def _place(found: Assessment, test: int, compared: str | None) -> tuple[dict[str, Any], Any, Any]:
    data, where, p, size = found.data, dict[str, Any](), None, None
    for name, code in zip(data.parameters, found.codes[test].tolist(), strict=True):
        level = data.level(name, code)
        if code == MISSING or name == compared:
            continue
        if name == PROCESSES:
            p = level
        elif name == found.varied:
            size = level
        else:
            where[name] = level
    return where, p, size


_MOST_SHOWN = 6


@dataclass(frozen=True)
class Range:
    """Numbers of processes and sizes, ends included.

    `p`, `size`: None if that is no parameter. Both ends were measured, and so was what lies between them at other levels.
    """

    p: tuple[Any, Any] | None
    size: tuple[Any, Any] | None


@dataclass(frozen=True)
class Remedy:
    """What to use in place of what, and where.

    `parameter`, `level`, `kind`, `use`, `terms`, `decides`: see `scalkit.guidelines.choices.Choice`.
    `ranges`: the same for all `settings`.
    `settings`: everything but the number of processes and the size.
    `ratios`: how many times as long `level` takes, least and most.
    `is_everywhere`: whether `settings` are all that were tested.
    `varied`: name of the parameter whose values are sizes.
    """

    parameter: str
    level: str
    kind: str
    use: str
    terms: tuple[tuple[float, str], ...]
    decides: bool
    ranges: tuple[Range, ...]
    settings: tuple[Mapping[str, Any], ...]
    ratios: tuple[float, float]
    is_everywhere: bool
    varied: str

    @property
    def advice(self) -> str:
        """What to do, as an order."""
        if self.kind == "monotony":
            return f"pad to {self.use} where it is {self.level}"
        if self.kind == "split":
            return f"send pieces of {self.use} where it is {self.level}"
        if self.parameter != "operation":
            return f"choose {self.use} instead of {self.parameter}={self.level}"
        parts = [level if factor == 1 else f"{level} {factor:g} times" for factor, level in self.terms]
        return f"call {' and then '.join(parts)} instead of {self.level}"

    @property
    def sentence(self) -> str:
        """What to do, where, and what it saves."""
        least, most = (shown_ratio(ratio) for ratio in self.ratios)
        times = least if least == most else f"{least} to {most}"
        where = "; or ".join([self._range(one) for one in self.ranges[:_MOST_SHOWN]])
        where += f"; or {len(self.ranges) - _MOST_SHOWN} more ranges" if len(self.ranges) > _MOST_SHOWN else ""
        setting = "" if self.is_everywhere else _settings(self.settings)
        at = "; ".join(part for part in (setting, where) if part)
        doubt = (
            ""
            if self.decides
            else " This was measured with more processes than cores, or next to other programs, and does not decide."
        )
        head = f"{self.advice[:1].upper()}{self.advice[1:]}"
        takes = "Otherwise it takes" if self.kind != "levels" else "The latter takes"
        return f"{head}{f', for {at}' if at else ''}. {takes} {times} times as long.{doubt}"

    def _range(self, one: Range) -> str:
        said = [f"{name} = {_span(ends)}" for name, ends in (("p", one.p), (self.varied, one.size)) if ends is not None]
        return ", ".join(said) if self.kind == "levels" else ", ".join(said[:1] if one.p is not None else ())


def remedies(found: Assessment) -> tuple[Remedy, ...]:
    """Return what to do about the violations of an assessment: what decides first, and what saves most.

    Choices become ranges, which end where nothing is better; settings with the same ranges are one remedy.
    """
    by_setting: dict[tuple[Any, ...], list[Choice]] = {}
    for one in choices(found):
        by_setting.setdefault((one.parameter, one.level, one.kind, tuple(one.where.items())), []).append(one)
    n_settings = Counter(key[:3] for key in by_setting)
    merged: dict[tuple[Any, ...], list[tuple[Mapping[str, Any], list[float]]]] = {}
    for (*what, where), group in by_setting.items():
        for use, decides in dict.fromkeys((one.use, one.decides) for one in group if one.is_better):
            mine = [one for one in group if one.use == use and one.decides == decides]
            ranges = tuple(_ranges(group, {(one.p, one.size) for one in mine}))
            key = (*what, use, mine[0].terms, decides, ranges)
            merged.setdefault(key, []).append((dict(where), [one.ratio for one in mine]))
    advice = []
    for key, parts in merged.items():
        ratios = [ratio for _, some in parts for ratio in some]
        parameter, level, kind, use, terms, decides, ranges = key
        advice.append(
            Remedy(
                parameter=parameter,
                level=level,
                kind=kind,
                use=use,
                terms=terms,
                decides=decides,
                ranges=ranges,
                settings=tuple(where for where, _ in parts),
                ratios=(min(ratios), max(ratios)),
                is_everywhere=len(parts) == n_settings[parameter, level, kind],
                varied=found.varied,
            )
        )
    return tuple(sorted(advice, key=lambda one: (not one.decides, -one.ratios[1])))


def _ranges(group: Sequence[Choice], wanted: set[tuple[Any, Any]]) -> Iterator[Range]:
    """Yield ranges that hold the wanted cells and no other that was measured."""
    rows = {one.p: list[tuple[Any, bool]]() for one in group}
    for one in group:
        rows[one.p].append((one.size, (one.p, one.size) in wanted))
    for spans, same in groupby(((p, tuple(_spans(sizes))) for p, sizes in rows.items()), key=lambda row: row[1]):
        those = [p for p, _ in same]
        for span in spans:
            yield Range(None if those[0] is None else (those[0], those[-1]), None if span[0] is None else span)


def _spans(flags: Sequence[tuple[Any, bool]]) -> Iterator[tuple[Any, Any]]:
    for is_wanted, run in groupby(flags, key=lambda flag: flag[1]):
        if is_wanted:
            inside = [size for size, _ in run]
            yield inside[0], inside[-1]


def _span(ends: tuple[Any, Any]) -> str:
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _settings(settings: Sequence[Mapping[str, Any]]) -> str:
    """Return settings in words: the levels that each parameter takes in them."""
    names = list(dict.fromkeys(name for one in settings for name in one))
    shown, product = [], 1
    for name in names:
        levels = list(dict.fromkeys(str(one[name]) for one in settings if name in one))
        product *= len(levels)
        more = ", ..." if len(levels) > _MOST_SHOWN else ""
        shown.append(f"{name}={levels[0]}" if len(levels) == 1 else f"{name}={{{', '.join(levels[:_MOST_SHOWN])}{more}}}")
    return ", ".join(shown) if product == len(settings) else f"{len(settings)} settings with {', '.join(shown)}"
