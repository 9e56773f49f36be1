"""What to use where a guideline is violated: the fastest of what was measured, setting by setting."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scalkit.guidelines.experiments import MISSING
from scalkit.guidelines.result import Assessment
from scalkit.guidelines.text import Side, shown_side

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
    `decides`: whether the measurements may decide; with more processes than cores, or beside other programs, they may
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
