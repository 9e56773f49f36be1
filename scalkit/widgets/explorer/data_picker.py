"""What is judged: the measurements, one function of them, the statistic, which settings count; and what is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from scalkit.errors import ScalkitError, UsageError
from scalkit.markup import esc
from scalkit.measure import Series
from scalkit.options import OPTIONS, JudgingOptions
from scalkit.plots.style import METRIC_WORDS
from scalkit.session import Session
from scalkit.validation import Expectation, Verdict
from scalkit.validation.advise import Advice, advise
from scalkit.validation.judge.along_one import judge
from scalkit.validation.judge.choices import Setting
from scalkit.validation.judge.measured import shown_setting
from scalkit.widgets.base.part import Action, Part

_LABELS = {"statistic": "Statistic of repetitions", "space": "Growths to try", "min_points": "Fewest settings"}
_WORDS: dict[object, str] = {
    None: "of each expectation",
    "q1": "first quartile",
    "median": "median",
    "mean": "mean",
    "min": "minimum",
    "cut_mean": "mean between the quartiles",
    "cut_mean_4": "mean without the highest quarter",
    "cut_mean_34": "mean of the lower half",
    "cut_mean_1": "mean without the lowest quarter",
    "cut_mean_12": "mean of the upper half",
}
_QUIET, _NOISY = 0.03, 0.10


class DataPicker(Part):
    """Source of the data, function, metric, statistic over repetitions, settings that are left out, noise, and advice.

    Parameters
    ----------
    session : Session
    **traits
        Values of the traits.

    Attributes
    ----------
    view : tuple of two floats or None
        The range of the parameter that is shown elsewhere; offers to leave out the rest. Set by `show_view`.
    point : float, tuple or None
        The setting that was chosen elsewhere; offers to leave it out. Set by `show_point`.
    """

    shown = frozenset({"data", "selected", "result", "statistic", "excluded"})

    def __init__(self, session: Session, **traits: Any) -> None:
        self.view: tuple[float, float] | None = None
        self.point: Setting | None = None
        self._asks = False
        self._typed = ""
        super().__init__(session, **traits)

    def show_view(self, view: tuple[float, float] | None) -> None:
        """Say which range of the parameter is in view; None for all of it."""
        self.view = view
        self.refresh()

    def show_point(self, setting: Setting | None) -> None:
        """Say which setting was chosen; one that was not measured is none."""
        self.point = setting if setting in self.session.settings else None
        self.refresh()

    def _drawn(self) -> dict[str, str]:
        session = self.session
        return {
            "source": self._source(),
            "choice": f'<div class="line">{self._names()}{self._option("statistic")}{self._noise()}</div>',
            "judging": self._judging(),
            "few": f'<p class="trouble">⚠ {esc(few)}</p>' if (few := few_settings(session)) else "",
            "settings": self._settings(),
            "view": self._view(),
            "advice": self._advice(),
        }

    def _source(self) -> str:
        source = self.session.source
        value = self._typed or ("" if source == "data in memory" else source)
        return (
            f'<form data-submit="data"><label>Data <input name="data" class="wide" data-key="data" value="{esc(value)}" '
            f'placeholder="{esc(source)}" autocomplete="off" spellcheck="false"></label>'
            '<button type="submit" title="Judge the run folder, run file or netCDF file of this name by what was chosen here">'
            "Use</button></form>"
        )

    def _names(self) -> str:
        session, (function, metric) = self.session, self.session.selected
        functions = list(dict.fromkeys(name for name, _ in session.names))
        metrics = [one for name, one in session.names if name == function]
        return _choice("Function", "function", {name: name for name in functions}, function) + _choice(
            "Metric", "metric", {one: METRIC_WORDS.get(one, one) for one in metrics}, metric
        )

    def _option(self, name: str) -> str:
        """Return the values that an option of judging can have, to choose from."""
        now, offers = getattr(self.session.judging, name), list(OPTIONS[name].metadata["offers"])
        words = {
            str(one): _WORDS.get(one, str(one).replace("_", " ")) for one in [*offers, *[now] * (now not in offers)]
        }
        return _choice(_LABELS.get(name, name.replace("_", " ").capitalize()), name, words, str(now))

    def _judging(self) -> str:
        options = "".join(self._option(name) for name in OPTIONS if name != "statistic")
        return f'<details data-key="judging"><summary>How it is judged</summary><div class="line">{options}</div></details>'

    def _judge_by(self, name: str, values: Mapping[str, str]) -> None:
        key = values.get("key", "")
        chosen = next((one for one in OPTIONS[name].metadata["offers"] if str(one) == key), key)
        self.session.judge_by(**cast(JudgingOptions, {name: chosen}))

    def _noise(self) -> str:
        """Return how far runs differ, in word and number."""
        try:
            series = self.session.series(self.session.selected)
        except ScalkitError:
            return ""
        if series.virtual:
            text, why = "= virtual time", "Times of a virtual clock repeat exactly"
        elif series.exact:
            text, why = "= exact", "These values are counted, and repeat exactly"
        elif math.isnan(series.noise):
            text, why = "? noise unknown", "There is one run only; several tell the noise"
        else:
            mark, word = next(
                found
                for most, found in ((_QUIET, ("○", "quiet")), (_NOISY, ("◐", "some noise")), (math.inf, ("●", "noisy")))
                if series.noise <= most
            )
            text = f"{mark} {word}: {100 * series.noise:.2g} %"
            why = "Standard deviation between runs over their mean, median over the settings"
        return f'<span class="badge" title="{why}">{text}</span>'

    def _settings(self) -> str:
        session = self.session
        gone = len(session.excluded)
        folded = f"{len(session.settings)} settings of {esc(session.selected[0])}" + (
            f", {gone} left out" if gone else ""
        )
        buttons = "".join(self._button(k, setting) for k, setting in enumerate(session.settings))
        return f'<details data-key="settings"><summary>{folded}</summary><div class="line">{buttons}</div></details>'

    def _button(self, k: int, setting: Setting) -> str:
        text = esc(shown_setting(setting, self.session.parameters))
        is_gone = setting in self.session.excluded
        hint = "Take in again" if is_gone else "Leave out"
        current = ' aria-current="true"' if setting == self.point else ""
        return (
            f'<button type="button" data-press="setting" data-value="{k}" data-key="setting{k}"{current} '
            f'aria-pressed="{str(is_gone).lower()}" title="{hint}" aria-label="Leave out {text}">{text}</button>'
        )

    def _view(self) -> str:
        """Return what other views point at, and what can be done with it."""
        session, found = self.session, ""
        if self.point is not None and self.point in session.settings:
            text = esc(shown_setting(self.point, session.parameters))
            word = "Take in again" if self.point in session.excluded else "Leave it out"
            k = session.settings.index(self.point)
            found += (
                f"<span>Chosen: {text}</span>"
                f'<button type="button" data-press="setting" data-value="{k}" data-key="point">{word}</button>'
            )
        if outside := self._outside():
            low, high = self.view or (0.0, 0.0)
            found += (
                f"<span>In view: {esc(session.parameters[0])} from {low:.3g} to {high:.3g}</span>"
                '<button type="button" data-press="rest" data-key="rest" title="Judge only what is in view">'
                f"Leave out the other {len(outside)} setting{'' if len(outside) == 1 else 's'}</button>"
            )
        return f'<div class="line">{found}</div>' if found else ""

    def _outside(self) -> list[Setting]:
        """Return the settings that count and are out of view; nothing if none would be left."""
        session = self.session
        if self.view is None or len(session.parameters) > 1:
            return []
        low, high = self.view
        counting = [one for one in session.settings if one not in session.excluded and isinstance(one, float)]
        outside: list[Setting] = [one for one in counting if not low <= one <= high]
        return outside if len(outside) < len(counting) else []

    def _advice(self) -> str:
        if len(self.session.parameters) > 1:
            return ""
        said = ""
        if self._asks:
            advice = advice_of(self.session)
            said = f"<p>{esc(advice.sentence)}</p>" if advice else "<p>There is too little to say where.</p>"
        return f'<details data-key="next" data-press="next"><summary>Where to measure next?</summary>{said}</details>'

    def _actions(self) -> dict[str, Action]:
        return {
            "data": self._use_data,
            "function": lambda values: self.session.select(values.get("key", "")),
            "metric": lambda values: self.session.select(self.session.selected[0], values.get("key", "")),
            **{name: partial(self._judge_by, name) for name in OPTIONS},
            "setting": self._toggle,
            "rest": self._leave_out_rest,
            "next": self._fold,
        }

    def _use_data(self, values: Mapping[str, str]) -> None:
        self._typed = values.get("data", "").strip()
        if not self._typed:
            raise UsageError("no data are named; write a run folder, run file or netCDF file, such as runs/here.")
        is_same = self._typed == self.session.source
        self.session.use_data((is_same and list(self.session.paths)) or self._typed)
        self._typed = ""

    def _toggle(self, values: Mapping[str, str]) -> None:
        settings, k = self.session.settings, values.get("key", "")
        if k.isdecimal() and int(k) < len(settings):
            setting = settings[int(k)]
            (self.session.include if setting in self.session.excluded else self.session.exclude)(setting)

    def _leave_out_rest(self, _values: Mapping[str, str]) -> None:
        if outside := self._outside():
            self.session.exclude(*outside)

    def _fold(self, values: Mapping[str, str]) -> None:
        self._asks = values.get("key") == "open"


def _choice(label: str, press: str, words: Mapping[str, str], chosen: str) -> str:
    """Return a list to choose from."""
    options = "".join(
        f'<option value="{esc(name)}"{" selected" if name == chosen else ""}>{esc(text)}</option>'
        for name, text in words.items()
    )
    return f'<label>{label} <select data-press="{press}" data-key="{press}">{options}</select></label>'


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
