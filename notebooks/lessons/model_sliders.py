"""Sliders for the parameters of performance models: curves along one of them, and a sentence at the chosen setting."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets

from scalkit import plots
from scalkit.errors import UsageError
from scalkit.perfmodels.models.model import PerformanceModel
from scalkit.support.colours import light
from scalkit.support.markup import esc
from scalkit.widgets.base.plot_view import PlotView

Models = Mapping[str, PerformanceModel]
_MARK = light("quiet")


class ModelSliders(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Shows models along one parameter, with a slider for each.

    `models`: returns models by label for ``{"N": 512, "P": 64}``.
    `values`: of the sliders, ascending, at least two each.
    `along`: parameter of the x axis; its slider moves a mark.
    `sentence`: what stands below the figure.
    `**start`: where the sliders begin; in the middle by default.
    `setting`: values of the sliders.
    `said`: the sentence.
    Raises UsageError if a parameter has fewer than two values, or starts at none of them.
    """

    def __init__(
        self,
        models: Callable[[Mapping[str, float]], Models],
        values: Mapping[str, Sequence[float]],
        along: str = "P",
        sentence: Callable[[Models, Mapping[str, float]], str] | None = None,
        **start: float,
    ) -> None:
        if along not in values or any(len(one) < 2 for one in values.values()):
            raise UsageError(f"sliders for {', '.join(values)} along {along}: each needs two values or more.")
        for name, value in start.items():
            if value not in values.get(name, ()):
                raise UsageError(f"{name} cannot start at {value!r:.20}; choose one of its values.")
        self._models, self._values, self._along, self._sentence = models, dict(values), along, sentence
        self.sliders = {
            name: ipywidgets.SelectionSlider(
                options=[(f"{one:g}", one) for one in options],
                value=start.get(name, options[len(options) // 2]),
                description=name,
                continuous_update=True,
                layout=ipywidgets.Layout(width="32em"),
            )
            for name, options in values.items()
        }
        self.view = PlotView(self._figure())
        self._text = ipywidgets.HTML()
        for slider in self.sliders.values():
            slider.observe(self._changed, names="value")
        super().__init__([*self.sliders.values(), self.view, self._text])
        self._say()

    @property
    def setting(self) -> dict[str, float]:
        """Values of the sliders, by parameter."""
        return {name: float(slider.value) for name, slider in self.sliders.items()}

    @property
    def said(self) -> str:
        """The sentence below the figure, plain text."""
        return "" if self._sentence is None else self._sentence(self._models(self.setting), self.setting)

    def _figure(self) -> Any:
        at = self.setting
        ends = (float(min(self._values[self._along])), float(max(self._values[self._along])))
        fixed = {name: value for name, value in at.items() if name != self._along}
        figure = plots.model(self._models(at), along=self._along, at=fixed, between=ends)
        figure.add_vline(x=at[self._along], line={"color": _MARK, "width": 1.5, "dash": "dot"})
        return figure

    def _changed(self, _change: object) -> None:
        self.view.show(self._figure())
        self._say()

    def _say(self) -> None:
        self._text.value = f"<p>{esc(self.said)}</p>"
