"""Steps back and forth by name, and states that were given a name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from string import ascii_uppercase
from typing import Any

from scalkit.markup import esc
from scalkit.session import Differences, Session
from scalkit.widgets.base.part import Action, Part


class HistoryBar(Part):
    """Undo and redo with the names of the steps; states can be kept as A, B and so on, restored and compared.

    Parameters
    ----------
    session : Session
    **traits
        Values of the traits.
    """

    shown = frozenset({"history", "snapshots", "result"})

    def __init__(self, session: Session, **traits: Any) -> None:
        self._unfolded: set[str] = set()
        super().__init__(session, **traits)

    def _drawn(self) -> dict[str, str]:
        session = self.session
        steps = session.history
        listed = "".join(f"<li>{esc(name)}</li>" for name in steps)
        count = f"{len(steps)} step{'' if len(steps) == 1 else 's'}"
        names = "".join(
            f'<button type="button" data-press="restore" data-value="{esc(name)}" data-key="restore {esc(name)}" '
            f'title="Go back to the state that was kept as {esc(name)}">Restore {esc(name)}</button>'
            for name in session.snapshots
        )
        buttons = (
            _button("undo", "↶ Undo", steps[-1] if steps else "")
            + _button("redo", "↷ Redo", session.undone[0] if session.undone else "")
            + '<button type="button" data-press="keep" data-key="keep" title="Give the present state a name">'
            f"Keep as {esc(self._next())}</button>{names}"
        )
        folded = f'<details data-key="steps"><summary>{count}</summary><ol>{listed}</ol></details>' if steps else ""
        return {"buttons": f'<div class="line">{buttons}</div>', "steps": folded, "kept": self._compared()}

    def _compared(self) -> str:
        """Return how much differs now from each state that was kept, and what, while that is looked at: it may be long."""
        return "".join(
            f'<details data-key="compare {esc(name)}" data-press="compare {esc(name)}"><summary>{esc(name)} against now: '
            f"{len(found) or 'no'} difference{'' if len(found) == 1 else 's'}</summary>"
            f"{_scrolled(found) if name in self._unfolded else ''}</details>"
            for name in self.session.snapshots
            for found in [self.session.compare(name)]
        )

    def _next(self) -> str:
        """Return the first letter that names no state yet; the last one, if all do."""
        return next((letter for letter in ascii_uppercase if letter not in self.session.snapshots), "Z")

    def _actions(self) -> dict[str, Action]:
        folds = {f"compare {name}": partial(self._fold, name) for name in self.session.snapshots}
        return {"undo": self._undo, "redo": self._redo, "keep": self._keep, "restore": self._restore, **folds}

    def _fold(self, name: str, values: Mapping[str, str]) -> None:
        (self._unfolded.add if values.get("key") == "open" else self._unfolded.discard)(name)

    def _undo(self, _values: Mapping[str, str]) -> None:
        self.session.undo()

    def _redo(self, _values: Mapping[str, str]) -> None:
        self.session.redo()

    def _keep(self, _values: Mapping[str, str]) -> None:
        self.session.snapshot(self._next())

    def _restore(self, values: Mapping[str, str]) -> None:
        self.session.restore(values.get("key", ""))


def _scrolled(found: Differences) -> str:
    return f'<div class="scroll" tabindex="0" role="region" aria-label="Differences">{found._repr_html_()}</div>'


def _button(name: str, text: str, step: str) -> str:
    state = f'title="{text[2:]}: {esc(step)}"' if step else f'title="Nothing to {name}" disabled'
    return f'<button type="button" data-press="{name}" data-key="{name}" {state}>{text}</button>'
