"""The session as Python: what was done by hand can be run again."""

from __future__ import annotations

from collections.abc import Mapping

from scalkit.markup import esc
from scalkit.widgets.base.part import Action, Part


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
        code = f"<pre tabindex='0' aria-label='Python'>{esc(self.session.as_code())}</pre>" if self._is_open else ""
        return {
            "code": '<details class="fold" data-key="code" data-press="fold" data-source>'
            "<summary><h3>Copy as Python</h3></summary>"
            f'<div class="line"><button type="button" data-copy title="Put the code on the clipboard">Copy</button></div>{code}'
            "</details>"
        }

    def _actions(self) -> dict[str, Action]:
        return {"fold": self._fold}

    def _fold(self, values: Mapping[str, str]) -> None:
        self._is_open = values.get("key") == "open"
