"""What is judged: the measurements, one function of them, the statistic, which settings count; and what is missing."""

from collections.abc import Mapping
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from scalkit.errors import ScalkitError, UsageError
from scalkit.judge import Verdict
from scalkit.judge.advise import Advice, advise
from scalkit.judge.measured import Setting, shown_setting
from scalkit.plots.style import METRIC_WORDS
from scalkit.session import Session
from scalkit.support.options import OPTIONS, JudgingOptions
from scalkit.widgets.base.part import Action, Part, number_of
from scalkit.widgets.base.templates import drawn

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


class DataPicker(Part):
    """Source of the data, function, metric, statistic over repetitions, settings that are left out, and advice.

    Attributes
    ----------
    point : float, tuple or None
        The setting that was chosen elsewhere; offers to leave it out. Set by `show_point`.
    """

    shown = frozenset({"data", "selected", "result", "statistic", "excluded"})

    def __init__(self, session: Session, **traits: Any) -> None:
        self.point: Setting | None = None
        self._asks = False
        self._typed = ""
        super().__init__(session, **traits)

    def show_point(self, setting: Setting | None) -> None:
        """Say which setting was chosen; one that was not measured is none."""
        self.point = setting if setting in self.session.settings else None
        self.refresh()

    def _drawn(self) -> dict[str, str]:
        session = self.session
        metrics = [one for name, one in session.names if name == session.selected[0]]
        texts = [shown_setting(one, session.parameters) for one in session.settings]
        return drawn(
            "data_picker.html",
            session=session,
            typed=self._typed or ("" if session.source == "data in memory" else session.source),
            functions={name: name for name, _ in session.names},
            metrics={one: METRIC_WORDS.get(one, one) for one in metrics},
            options=[self._option(name) for name in ("statistic", *(one for one in OPTIONS if one != "statistic"))],
            settings=[
                (text, one in session.excluded, one == self.point) for text, one in zip(texts, session.settings, strict=True)
            ],
            chosen=session.settings.index(self.point) if self.point in session.settings else None,
            advice=self._advice(),
        )

    def _option(self, name: str) -> tuple[str, str, dict[str, str], str]:
        """Return label and name of an option of judging, the values to choose from, and the one that it has."""
        now, offers = getattr(self.session.state.judging, name), list(OPTIONS[name].metadata["offers"])
        words = {str(one): _WORDS.get(one, str(one).replace("_", " ")) for one in [*offers, *[now] * (now not in offers)]}
        return _LABELS.get(name, name.replace("_", " ").capitalize()), name, words, str(now)

    def _judge_by(self, name: str, values: Mapping[str, str]) -> None:
        key = values.get("key", "")
        chosen = next((one for one in OPTIONS[name].metadata["offers"] if str(one) == key), key)
        self.session.judge_by(**cast(JudgingOptions, {name: chosen}))

    def _advice(self) -> str:
        if not self._asks or len(self.session.parameters) > 1:
            return ""
        advice = advice_of(self.session)
        return advice.sentence if advice else "There is too little to say where."

    def _actions(self) -> dict[str, Action]:
        return {
            "data": self._use_data,
            "function": lambda values: self.session.select(values.get("key", "")),
            "metric": lambda values: self.session.select(self.session.selected[0], values.get("key", "")),
            **{name: partial(self._judge_by, name) for name in OPTIONS},
            "setting": self._toggle,
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
        settings = self.session.settings
        k = number_of(values, len(settings))
        if k is not None:
            setting = settings[k]
            (self.session.include if setting in self.session.excluded else self.session.exclude)(setting)

    def _fold(self, values: Mapping[str, str]) -> None:
        self._asks = values.get("key") == "open"


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
    """Return where to measure the selected function next; None where nothing can be said, as over several parameters."""
    verdict = session.verdict
    if not isinstance(verdict, Verdict) or verdict.series.x[0] <= 0:
        return None
    try:
        return advise(verdict, settings_to_try(verdict.series.x), verdict.parameter)
    except ScalkitError:
        return None
