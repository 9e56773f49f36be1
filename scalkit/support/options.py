"""How measurements are judged: every option once, for Python, notebooks, reports, the command line and tests."""

import difflib
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, Literal, TypedDict, cast, get_args

from scalkit.errors import DataError, UsageError
from scalkit.support.arguments import require_kind

MIN_POINTS = 5
"""A model has two coefficients and a class; with fewer points than this, many classes explain the values equally well."""

Statistic = Literal["q1", "median", "mean", "min", "cut_mean", "cut_mean_1", "cut_mean_4", "cut_mean_12", "cut_mean_34"]
"""What stands for repetitions; the cut means leave out the quarters of their name, `cut_mean` the first and the fourth."""

Scaling = Literal["auto", "weak"]


class JudgingOptions(TypedDict, total=False):
    """The options as keywords, for functions that take them as ``**options``; see `Judging`."""

    statistic: str
    min_points: int
    scaling: str
    space: Any
    strictness: str
    resolution: str


def _words(text: str, choices: tuple[str, ...] = (), show: str | None = None, offers: tuple[Any, ...] = ()) -> Any:
    return {"help": text, "choices": choices, "metavar": show, "offers": offers or choices}


@dataclass(frozen=True)
class Judging:
    """How measurements are judged; what `scalkit.validate` calls ``**options``.

    `statistic`: over repetitions, then over runs: ``"q1"``, ``"median"``, ``"mean"``, ``"min"``, ``"cut_mean"``, ...
    `min_points`: fewest points of each parameter.
    `scaling`: a claim that falls, such as ``"1/p"``, is about a problem of fixed size; ``"auto"`` judges the product of
    parameter and value, ``"weak"`` the values as they are.
    `space`: ticks for all functions instead of each expectation's own.
    `strictness`: how much faster than claimed is fine: ``"strict"``, nothing; ``"paper"``, the deviation limits of the
    paper; a growth such as ``"n^(1/4)"``; ``"auto"``, a deviation that was given with the expectation, else nothing. The
    limits of the bundled catalogues are about noisy times, not about bytes, counts and virtual times.
    `resolution`: the answer is fine only where every growth is excluded that outgrows the claim by more than this, such as
    ``"n^(1/4)"``; ``"any"`` asks for nothing.
    Raises DataError if `min_points` is no whole number of at least 3.
    Raises UsageError if the scaling is unknown, or the strictness is no text.
    """

    statistic: str = field(
        default="q1",
        metadata=_words(
            "over repetitions and runs: q1, median, mean, min; cut_mean, the mean without the lowest and the highest "
            "quarter; cut_mean_4, _1, _34 or _12, without these quarters (default: that of the baseline, else q1, the first "
            "quartile)",
            get_args(Statistic),
            "NAME",
        ),
    )
    min_points: int = field(
        default=MIN_POINTS, metadata=_words("fewest settings of the parameter (default: 5)", show="N", offers=(3, 4, 5, 6, 7, 8))
    )
    scaling: str = field(
        default="auto",
        metadata=_words(
            "a claim that falls, such as 1/p, is judged by the product of parameter and value (auto, the default), or by the "
            "values as they are (weak)",
            get_args(Scaling),
        ),
    )
    space: Any = field(
        default=None,
        metadata=_words(
            "growths to try for all functions: around, paper or ics15 (default: what each expectation says)",
            show="NAME",
            offers=(None, "around", "paper", "ics15"),
        ),
    )
    strictness: str = field(
        default="auto",
        metadata=_words(
            "how much faster than claimed is fine: strict, nothing; paper, the deviation limits of the paper; a growth, as in "
            "'n^(1/4)'; auto, a deviation that was given, else nothing (default: auto)",
            show="NAME",
            offers=("auto", "strict", "paper"),
        ),
    )
    resolution: str = field(
        default="any",
        metadata=_words(
            "the answer is fine only if growths are excluded that outgrow the claim by more than this, as in 'n^(1/4)'; any, "
            "the default, asks for nothing",
            show="GROWTH",
            offers=("any",),
        ),
    )

    def __post_init__(self) -> None:
        if not isinstance(self.min_points, int) or self.min_points < 3:
            raise DataError(
                f"min_points is {self.min_points!r}; a whole number of at least 3 is needed, {MIN_POINTS} by default."
            )
        for name in ("scaling",):  # an unknown statistic is refused where it is computed
            value, choices = getattr(self, name), OPTIONS[name].metadata["choices"]
            if value not in choices:
                shown = " or ".join(choices) if len(choices) == 2 else f"one of {', '.join(choices)}"
                raise UsageError(f"the {name} {value!r} is unknown; choose {shown}.")
        require_kind(self.statistic, str, "the statistic", "choose q1, median, mean, min or a cut mean")
        require_kind(self.strictness, str, "the strictness", "choose strict, paper or a growth")
        require_kind(self.resolution, str, "the resolution", "write a growth such as 'n^(1/4)', or any")

    @classmethod
    def of(cls, options: Mapping[str, Any], begin: "Judging | None" = None) -> "Judging":
        """Return how it is judged with some options, the others as in `begin`, or by default.

        Raises UsageError if there is no such option.
        """
        for name in options:
            if name not in OPTIONS:
                near = difflib.get_close_matches(name, OPTIONS, 1)
                hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(OPTIONS)}."
                raise UsageError(f"the option '{name}' of judging is unknown; {hint}")
        return replace(begin or cls(), **options)

    def as_options(self) -> JudgingOptions:
        """Return all options as keywords."""
        return cast(JudgingOptions, {name: getattr(self, name) for name in OPTIONS})

    @property
    def changed(self) -> dict[str, Any]:
        """The options that are not as by default."""
        return {name: getattr(self, name) for name, one in OPTIONS.items() if getattr(self, name) != one.default}


OPTIONS: dict[str, Field[Any]] = {one.name: one for one in fields(Judging)}
"""The options by name; the metadata of each has ``help``, ``choices`` (empty: any value) and ``metavar`` of the command line,
and ``offers``, the values that the app offers."""
