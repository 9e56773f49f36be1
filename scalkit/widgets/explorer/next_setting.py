"""Where to measure next, for what a session has selected."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from scalkit.errors import ScalkitError
from scalkit.measure import Series
from scalkit.session import Session
from scalkit.validation import Expectation, Verdict
from scalkit.validation.advise import Advice, advise
from scalkit.validation.judge.along_one import judge

_LEAST = 3
_BEYOND = 3


def settings_to_try(x: NDArray[np.float64]) -> list[float]:
    """Return settings that could be measured: three beyond the largest one, as far apart as the last two, and the gaps.

    `x` of shape (points,): what was measured, ascending and positive.
    """
    ratio = max(2.0, round(float(x[-1] / x[-2]))) if len(x) > 1 else 2.0
    whole = bool(np.all(x == np.round(x)))
    between = np.sqrt(x[1:] * x[:-1])
    between = np.round(between) if whole else between
    gaps = [float(one) for one in between if not np.isclose(x, one, rtol=0.05).any()]
    return [*gaps, *(float(x[-1]) * ratio**k for k in range(1, _BEYOND + 1))]


def advice_of(session: Session) -> Advice | None:
    """Return where to measure the selected function next; None where nothing can be said, as over several parameters.

    Functions with too few settings for a verdict are fitted all the same, from three on.
    """
    verdict = session.verdict
    try:
        if verdict is None:
            verdict = _early(session)
        if not isinstance(verdict, Verdict) or verdict.series.x[0] <= 0:
            return None
        return advise(verdict.posterior, settings_to_try(verdict.series.x), verdict.parameter)
    except ScalkitError:
        return None


def few_settings(session: Session) -> str:
    """Return what is missing where the selected function has too few settings, and the next best one; else nothing."""
    if session.verdict is not None or session.expectation is None or len(session.parameters) > 1:
        return ""
    try:
        series = session.series(session.selected)
    except ScalkitError:
        return ""
    have, needed, name = len(cast(Series, series).x), session.min_points, session.parameters[0]
    if have >= needed:
        return ""
    advice = advice_of(session)
    best = (
        advice.candidates[0].x if advice else max(settings_to_try(cast(Series, series).x)[-_BEYOND:][:1], default=0.0)
    )
    settings = ", ".join(f"{x:g}" for x in cast(Series, series).x)
    plural = "" if have == 1 else "s"
    return f"You have {have} setting{plural} ({name} = {settings}), {needed} are needed; next best {name} = {best:g}."


def _early(session: Session) -> Verdict | None:
    """Return a verdict that too few settings do not allow, but from which can be said where to measure next."""
    space, expectation = session.space, session.expectation
    if space is None or not isinstance(expectation, Expectation):
        return None
    series = session.series(session.selected)
    if not isinstance(series, Series) or len(series.x) < _LEAST:
        return None
    return judge([(series, expectation, space)], _LEAST)[0]
