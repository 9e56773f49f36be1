"""Choices as rules that a program follows at run time: which call becomes what, for ranges of processes and bytes."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from scalkit.errors import DataError
from scalkit.guidelines.choices import Choice
from scalkit.guidelines.profile import Profile
from scalkit.stats.spans import Span, areas
from scalkit.support.native import sources

_SECTION = re.compile(r"^/\* section (MPI_\w+): (.+?) \*/$", re.MULTILINE)
_HEAD = "scalkit-rules 1"
_ANY_P, _ANY_SIZE = (1, 2**31 - 1), (0, 2**40)


@cache
def substitutes() -> frozenset[tuple[str, tuple[str, ...]]]:
    """Return the known substitutes: a call, and the calls that take its place one after the other.

    No blocking call takes the place of a non-blocking one: it may wait for ever.
    """
    folder = sources("microbench") / "tune" / "substitutes"
    headings = [heading for file in folder.glob("*.c") for heading in _SECTION.findall(file.read_text(encoding="utf-8"))]
    return frozenset((call, tuple(others.split(", "))) for call, others in headings)


@dataclass(frozen=True)
class Rule:
    """A call, what takes its place, and where: ends included."""

    call: str
    use: tuple[str, ...]
    p: Span
    size: Span

    def __str__(self) -> str:
        return " ".join(map(str, (self.call, "+".join(self.use), *self.p, *self.size)))


@dataclass(frozen=True)
class Rules:
    """What of a profile can be followed at run time.

    `left_out`: choices that are better than the call and have no rule: they do not decide, no substitute is known, or the
    program cannot know the setting that they depend on.
    """

    rules: tuple[Rule, ...]
    left_out: int

    def text(self, remark: str = "") -> str:
        """Return the file that ``libscalkit_tune.so`` reads (microbench/tune/scalkit_tune.h)."""
        remarks = [f"# {' '.join(remark.split())[:240]}"] if remark else []
        return "\n".join([_HEAD, *remarks, *map(str, self.rules)]) + "\n"


def libraries_of(profile: Profile) -> tuple[str, ...]:
    """Return the MPI libraries that a profile tells apart; none if it is of one."""
    return tuple(sorted({str(one.where["library"]) for one in profile.choices if "library" in one.where}))


def rules_of(profile: Profile, library: str = "") -> Rules:
    """Return the rules of a profile.

    A range of sizes ends where a measured one is not better. Between two numbers of processes for which the same is better,
    it is so for the sizes of both; beyond what was measured nothing is replaced.

    `library`: the one to follow, where the profile tells several apart.
    Raises DataError if the profile tells libraries apart, and not this one.
    """
    known = libraries_of(profile)
    wanted = next((one for one in known if library == one or library.startswith(f"{one} ")), library)
    if known and wanted not in known:
        named = f"{library!r} is none of them" if library else "none is named"
        raise DataError(f"the profile is of {', '.join(known)}, and {named}; name an mpicc of one of these with --mpi.")
    mine = [one for one in profile.choices if one.kind == "levels" and one.where.get("library", wanted) == wanted]
    found: list[Rule] = []
    for call in dict.fromkeys(one.level for one in mine if one.is_better):
        cells: dict[tuple[Span, Span], list[Choice]] = {}
        for one in mine:
            if one.level == call and one.parameter == "operation":
                cells.setdefault((_span(one.p, _ANY_P), _span(one.size, _ANY_SIZE)), []).append(one)
        chosen = {place: _agreed(call, those) for place, those in cells.items()}
        found += [Rule(call, area.choice, area.p, area.size) for area in areas(chosen)]
    return Rules(tuple(found), sum(one.is_better and not _is_covered(one, found) for one in mine))


def _agreed(call: str, choices: Iterable[Choice]) -> tuple[str, ...] | None:
    """Return what is used in all settings, where it is one that is known; else None."""
    uses = {tuple(level for _, level in one.terms) if _is_followed(one) else () for one in choices}
    use = uses.pop() if len(uses) == 1 else ()
    return use if (call, use) in substitutes() else None


def _is_followed(one: Choice) -> bool:
    return one.is_better and one.decides and all(factor == 1 for factor, _ in one.terms)


def _is_covered(one: Choice, rules: Iterable[Rule]) -> bool:
    p, size = _span(one.p, _ANY_P), _span(one.size, _ANY_SIZE)
    use = tuple(level for _, level in one.terms)
    return any(
        rule.call == one.level and rule.use == use and rule.p == p and rule.size[0] <= size[0] and size[1] <= rule.size[1]
        for rule in rules
    )


def _span(level: object, every: Span) -> Span:
    """Return a measured level as a range; `every` where it is no parameter. Raises DataError if it is no whole number."""
    if level is None:
        return every
    if not isinstance(level, int | float) or level != int(level) or level < 0:
        raise DataError(f"the profile has {str(level)!r:.40} where a number of processes or bytes must stand.")
    return int(level), int(level)
