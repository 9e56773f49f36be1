"""Results of a history: levels of commits, the changes between them, and the first bad one."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Literal

from scalkit.errors import DataError
from scalkit.judge.baseline.regression import Regression
from scalkit.judge.fit import Model, fit_series
from scalkit.judge.names import named
from scalkit.judge.space import SearchSpace
from scalkit.measure import Series
from scalkit.support.arrays import Floats
from scalkit.support.json_values import json_fields
from scalkit.support.markup import block, bullets, paragraph, table
from scalkit.support.text import NONE, counted

_LEAST_FITTED = 3


@dataclass(frozen=True)
class Segment:
    """Commits between which nothing changed.

    `first`, `last`: labels.
    `model`: of the values of all of them; None for fewer than three settings.
    """

    first: str
    last: str
    model: Model | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Difference:
    """A difference between commits, of one function and metric.

    `unit`: of the metric.
    `label`: the commit that differs from others, or the first one that does.
    `change`: its values over those of the others, setting by setting.
    `decides`: whether the measurements may decide an exit status.
    `has_zero`: whether values before it, or after it where they fell, are 0 at a setting concerned,
    so that there is no factor.
    """

    function: str
    metric: str
    unit: str
    label: str
    change: Regression
    decides: bool
    has_zero: bool

    @property
    def times(self) -> str:
        """The factor in words."""
        zero = "from zero" if self.change.is_slower else "to zero"
        return zero if self.has_zero else f"{self.change.factor:.3g} times"

    @property
    def _name(self) -> str:
        return f"{self.function} ({self.metric})"

    @property
    def _part(self) -> str:
        """The settings concerned, behind a comma; empty where these are all."""
        return f", {self.change.where}" if self.change.shape in ("at", "from", "up to") else ""

    @property
    def _factor(self) -> str:
        """The factor with its interval."""
        low, high = self.change.interval
        return f"{self.change.factor:.3g} ({low:.3g} to {high:.3g}) times the value of"

    def _to_dict(self, own: str) -> dict[str, Any]:
        """Return plain values for JSON, with the attributes that are named."""
        factors = (None,) * 3 if self.has_zero else (self.change.factor, *self.change.interval)
        return {
            **json_fields(self, "function metric label"),
            **dict(zip(("factor", "low", "high"), factors, strict=True)),
            **json_fields(self.change, "shape place"),
            "is_worse": self.change.is_slower,
            **json_fields(self, f"decides sentence {own}"),
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class Step(Difference):
    """A change point of one function and metric, with the attributes of a `Difference`.

    `label`: the first commit after the change.
    `earliest`, `latest`: between these it is with 95 %.
    `change`: the values after it over those before, setting by setting.
    `stands`: whether what got worse here is still worse at the end.
    `also_changed`: what else differs between the commits where it can be, as ``"kernel, from Linux
    6.1 to Linux 6.2"``.
    """

    earliest: str
    latest: str
    before: Segment
    after: Segment
    stands: bool
    also_changed: tuple[str, ...] = ()

    @property
    def is_failure(self) -> bool:
        """Whether it is for the worse, stands at the end, and may decide."""
        return self.stands and self.decides

    @property
    def sentence(self) -> str:
        """The change in plain words."""
        place = "" if self.earliest == self.latest else f", between {self.earliest} and {self.latest} with 95 %"
        models = [one.model.growth for one in (self.before, self.after) if one.model is not None]
        growth = f"; it grows as {models[1]} instead of {models[0]}" if len({*models}) > 1 else ""
        word = "rose" if self.change.is_slower else "fell"
        past = ", and came back" if self.change.is_slower and not self.stands else ""
        past += f"; changed as well: {'; '.join(self.also_changed)}" if self.also_changed else ""
        if self.has_zero:
            return f"{self._name} {word} {self.times} at {self.label}{place}{self._part}{growth}{past}."
        where = self.change.where
        return f"{self._name} {word} at {self.label}{place} to {self._factor} before {where}{growth}{past}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return self._to_dict("earliest latest stands also_changed")


@dataclass(frozen=True, eq=False, kw_only=True)
class OddCommit(Difference):
    """A commit that differs from those around it without a change: it did not last, or it is not
    known whether it will.

    `change`: its values over those of the commits before it; of the first commit, over those after
    it.
    `position`: ``"first"``, ``"middle"`` or ``"last"`` of the commits that have the function.
    `has_runs`: whether it was measured in several independent runs.
    `step`: what a label stands for, as ``"commit"``.
    """

    position: Literal["first", "middle", "last"]
    has_runs: bool = False
    step: str = "commit"

    @property
    def looks_worse(self) -> bool:
        """Whether it is the last one and worse than before, so that it must be measured again."""
        return self.position == "last" and self.change.is_slower

    @property
    def word(self) -> str:
        """The difference as an adjective: slower or faster; worse or better of what is no time."""
        worse, better = ("slower", "faster") if self.unit == "s" else ("worse", "better")
        return worse if self.change.is_slower else better

    @property
    def reason(self) -> str:
        """The reason why it is not counted as a change."""
        return "its runs do not agree" if self.has_runs else "one measurement is not enough for a change"

    @property
    def sentence(self) -> str:
        """The difference in plain words, and what to do."""
        if self.has_zero:
            size = f"it {'rose' if self.change.is_slower else 'fell'} {self.times}{self._part}"
        else:
            others = f"the {self.step}s after it" if self.position == "first" else "before"
            size = f"{self._factor} {others} {self.change.where}"
        if self.position == "middle":
            return f"{self._name} is off at {self.label}: {size}. It did not last, so it is not counted as a change."
        said = f"{self._name} looks {self.word} at {self.label}, the {self.position} {self.step}: {size}."
        return f"{said} Measure it again in several independent runs: {self.reason}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return self._to_dict("position looks_worse")


@dataclass(frozen=True, eq=False)
class Track:
    """One function and metric over the commits that have it.

    `x` of shape (settings,): those that all commits have.
    `y` of shape (commits, settings).
    `steps`: between the segments.
    `odd`: commits that differ from those around them without a change.
    """

    function: str
    metric: str
    parameter: str
    unit: str
    labels: tuple[str, ...]
    x: Floats
    y: Floats
    segments: tuple[Segment, ...]
    steps: tuple[Step, ...]
    odd: tuple[OddCommit, ...]

    def called(self, name: str) -> "Track":
        """Return the same under another name."""
        steps = tuple(replace(step, function=name) for step in self.steps)
        return replace(self, function=name, steps=steps, odd=tuple(replace(one, function=name) for one in self.odd))


@dataclass(frozen=True, eq=False)
class History:
    """All functions over a series of commits.

    `labels`: the commits in order.
    `step`: what a label stands for, as ``"commit"``.
    """

    labels: tuple[str, ...]
    tracks: tuple[Track, ...]
    left_out: dict[str, str]
    step: str = "commit"

    @property
    def steps(self) -> tuple[Step, ...]:
        """All change points in the order of the commits."""
        found = [step for track in self.tracks for step in track.steps]
        return tuple(sorted(found, key=lambda one: self.labels.index(one.label)))

    @property
    def odd(self) -> tuple[OddCommit, ...]:
        """The commits that differ from those around them without a change, in their order."""
        found = [one for track in self.tracks for one in track.odd]
        return tuple(sorted(found, key=lambda one: self.labels.index(one.label)))

    @property
    def measure_again(self) -> tuple[str, ...]:
        """Labels of last commits that look worse than those before, which must be measured again."""
        return tuple(dict.fromkeys(one.label for one in self.odd if one.looks_worse))

    @property
    def failures(self) -> tuple[Step, ...]:
        """The changes for the worse that stand at the end."""
        return tuple(step for step in self.steps if step.is_failure)

    @property
    def first_bad(self) -> str | None:
        """Label of the first commit that made something worse that still is.

        A commit is not blamed where something else changed with it, as the kernel.
        """
        return next((step.label for step in self.failures if not step.also_changed), None)

    def exit_status(self) -> int:
        """Return 1 if a change for the worse stands at the end, else 0."""
        return int(bool(self.failures))

    @property
    def headline(self) -> str:
        """One sentence: the first bad commit and what got worse, and what to measure again."""
        over = f"{counted(len(self.tracks), 'function')} over {counted(len(self.labels), self.step)}"
        past = f", {counted(len(self.steps), 'change')} before the end" if self.steps else ""
        said = [*self._got_worse, *self._looks_worse]
        return "; ".join([*said, over]) if said else f"nothing is worse at the end: {over}{past}"

    @property
    def _got_worse(self) -> list[str]:
        """Clauses about what got worse and still is."""
        if not self.failures:
            doubted = _functions(step for step in self.steps if step.stands)
            return [f"nothing is worse at the end by measurements that decide; by others {doubted} got worse"] if doubted else []
        blamed = [step for step in self.failures if not step.also_changed]
        others = [step for step in self.failures if step.also_changed]
        said = [f"the first bad {self.step} is {self.first_bad}: {_functions(blamed)} got worse"] if blamed else []
        if others:
            said.append(
                f"{_functions(others)} got worse at {', '.join(dict.fromkeys(step.label for step in others))}, where more than "
                f"the {self.step} changed: {_names(others)}"
            )
        return said

    @property
    def _looks_worse(self) -> list[str]:
        """Clauses about last commits that must be measured again."""
        said = []
        for label in self.measure_again:
            these = [one for one in self.odd if one.looks_worse and one.label == label]
            reason = " and ".join(dict.fromkeys(one.reason for one in these))
            functions, words = _functions(these), " and ".join(dict.fromkeys(one.word for one in these))
            is_end = label == self.labels[-1]
            last = f"the last {self.step}, {label}," if is_end else f"{label}, the last {self.step} with {functions},"
            said.append(f"{last} looks {words} ({functions}) and must be measured again: {reason}")
        return said

    def __getitem__(self, key: str | tuple[str, str]) -> Track:
        for track in self.tracks:
            if key in (track.function, (track.function, track.metric)):
                return track
        raise DataError(f"the history has no {key!r}; it has {', '.join(named(t.function, t.metric) for t in self.tracks)}.")

    def __repr__(self) -> str:
        return f"<History: {self.headline}>"

    def _repr_html_(self) -> str:
        rows = [
            tuple(map(escape, (track.function, track.metric, f"{one.first} to {one.last}", str(one.model or NONE))))
            for track in self.tracks
            for one in track.segments
        ]
        said = bullets([*(step.sentence for step in self.steps), *(one.sentence for one in self.odd)])
        return block(paragraph(self.headline), said, table(("function", "metric", f"{self.step}s", "model"), rows))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "headline": self.headline,
            "exit_status": self.exit_status(),
            **json_fields(self, "labels step first_bad"),
            "measure_again": list(self.measure_again),
            "changes": [step.to_dict() for step in self.steps],
            "odd": [one.to_dict() for one in self.odd],
            "functions": [
                json_fields(track, "function metric unit parameter labels x y")
                | {"segments": [json_fields(one, "first last model") for one in track.segments]}
                for track in self.tracks
            ],
            "left_out": dict(self.left_out),
        }


def _functions(steps: Iterable[Difference]) -> str:
    return ", ".join(dict.fromkeys(step.function for step in steps))


def _names(steps: Iterable[Step]) -> str:
    """Return the names of what changed as well."""
    return ", ".join(dict.fromkeys(text.partition(", from ")[0] for step in steps for text in step.also_changed))


def model_of(one: Series) -> Model | None:
    """Return the model of a series; None for fewer than three settings, or where a value is 0."""
    if len(one.x) < _LEAST_FITTED or not (one.y > 0).all():
        return None
    ticks = SearchSpace.preset("ics15", one.parameter).ticks
    return fit_series(one, ticks, min_points=_LEAST_FITTED)[0]
