"""The session as Python: what was done by hand can be run again."""

from __future__ import annotations

from collections.abc import Mapping

from scalkit.widgets.base.part import Action, Part
from scalkit.widgets.base.templates import drawn


class CodePanel(Part):
    """A folded panel with `Session.as_code`, to be copied; the code is made while the panel is open.

    Parameters
    ----------
    session : Session
    **traits
        Values of the traits.
    """

    shown = frozenset({"history", "selected"})
    _is_open = False

    def _drawn(self) -> dict[str, str]:
        return drawn("parts.html", part="code", session=self.session, is_open=self._is_open)

    def _actions(self) -> dict[str, Action]:
        return {"fold": self._fold}

    def _fold(self, values: Mapping[str, str]) -> None:
        self._is_open = values.get("key") == "open"
