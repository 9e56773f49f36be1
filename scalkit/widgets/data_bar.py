"""What is judged: the headline, the statistic, which settings count."""

from __future__ import annotations

from collections.abc import Mapping

from scalkit.widgets.part import Action, Part
from scalkit.widgets.wording import esc

__all__ = ["DataBar"]

_STATISTICS = {"q1": "first quartile", "median": "median", "mean": "mean", "min": "minimum"}


class DataBar(Part):
    """The verdicts in one line; the statistic over repetitions; settings of the selected function that are left out.

    Parameters
    ----------
    session : Session
    **traits
        Values of the traits.
    """

    shown = frozenset({"selected", "result", "statistic", "excluded"})

    def _drawn(self) -> dict[str, str]:
        session = self.session
        options = "".join(
            f'<option value="{name}"{" selected" if name == session.statistic else ""}>{words}</option>'
            for name, words in _STATISTICS.items()
        )
        gone = len(session.excluded)
        folded = f"{len(session.settings)} settings of {esc(session.selected[0])}" + (
            f", {gone} left out" if gone else ""
        )
        return {
            "headline": f"<p><strong>{esc(session.result.headline)}</strong></p>",
            "choice": '<div class="line"><label>Statistic of repetitions '
            f'<select data-press="statistic" data-key="statistic">{options}</select></label></div>',
            "settings": f'<details data-key="settings"><summary>{folded}</summary><div class="line">{self._buttons()}</div>'
            "</details>",
        }

    def _buttons(self) -> str:
        session = self.session
        found = []
        for k, setting in enumerate(session.settings):
            values = setting if isinstance(setting, tuple) else (setting,)
            text = ", ".join(f"{name} = {value:g}" for name, value in zip(session.parameters, values, strict=True))
            is_gone = setting in session.excluded
            hint = "Take in again" if is_gone else "Leave out"
            found.append(
                f'<button type="button" data-press="setting" data-value="{k}" data-key="setting{k}" '
                f'aria-pressed="{str(is_gone).lower()}" title="{hint}" aria-label="Leave out {esc(text)}">{esc(text)}</button>'
            )
        return "".join(found)

    def _actions(self) -> dict[str, Action]:
        return {"statistic": self._use, "setting": self._toggle}

    def _use(self, values: Mapping[str, str]) -> None:
        self.session.use_statistic(values.get("key", ""))

    def _toggle(self, values: Mapping[str, str]) -> None:
        settings, k = self.session.settings, values.get("key", "")
        if k.isdecimal() and int(k) < len(settings):
            setting = settings[int(k)]
            (self.session.include if setting in self.session.excluded else self.session.exclude)(setting)
