"""Steps back and forth by name, and states that were given a name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from string import ascii_uppercase
from typing import Any

from scalkit.session import Session
from scalkit.widgets.base.part import Action, Part
from scalkit.widgets.base.templates import drawn


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
        kept = {name: session.compare(name) for name in session.snapshots}
        values = {"session": session, "steps": session.history, "next": self._next()}
        return drawn("history_bar.html", **values, kept=kept, unfolded=self._unfolded)

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
