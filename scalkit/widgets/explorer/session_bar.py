"""Saves a session to a file and opens one."""

from collections.abc import Callable, Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from scalkit.errors import UsageError
from scalkit.session import Session
from scalkit.session.state import State
from scalkit.widgets.base.part import Action, Part
from scalkit.widgets.base.templates import drawn

_DEFAULT = "session.json"


class SessionBar(Part):
    """Saves to a path where Python runs, and opens from it.

    Parameters
    ----------
    session : Session
    on_load : callable, optional
        Called with the session that was opened; without it nothing can be opened.
    **traits
        Values of the traits.

    Attributes
    ----------
    path : str
        Where it is saved.
    """

    shown = frozenset({"history", "snapshots"})

    def __init__(self, session: Session, on_load: Callable[[Session], object] | None = None, **traits: Any) -> None:
        self._on_load, self.path, self._note = on_load, _DEFAULT, ""
        self._saved: tuple[State, dict[str, State]] = (session.state, session.snapshots)
        super().__init__(session, **traits)

    @property
    def is_changed(self) -> bool:
        """Whether the session was changed since it was saved or opened."""
        return self._saved != (self.session.state, self.session.snapshots)

    def _drawn(self) -> dict[str, str]:
        note = self._note or ("● changed, not saved" if self.is_changed else "")
        return drawn("session_bar.html", path=self.path, opens=self._on_load is not None, note=note)

    def _told(self, changed: frozenset[str]) -> None:
        if changed & self.shown:
            self._note = ""
        super()._told(changed)

    def _actions(self) -> dict[str, Action]:
        return {"save": self._save, "open": self._open}

    def _save(self, values: Mapping[str, str]) -> None:
        self.path = _named(values)
        if _is_page(self.path):
            raise UsageError(f"{self.path} is the name of a page; save the session to a file such as {_as_json(self.path)}.")
        self.session.save(self.path)
        self._saved = (self.session.state, self.session.snapshots)
        self._note = f"saved to {self.path}"

    def _open(self, values: Mapping[str, str]) -> None:
        self.path = _named(values)
        session = Session.load(self.path)
        self.path = _as_json(self.path)
        if self._on_load is not None:
            self._on_load(session)


def _is_page(path: str) -> bool:
    return path.lower().endswith((".html", ".htm"))


def _as_json(path: str) -> str:
    """Return where a session from a path is saved: at the same place, but beside a report."""
    return str(Path(path).with_suffix(".json")) if _is_page(path) else path


def _named(values: Mapping[str, str]) -> str:
    path = values.get("path", "").strip()
    if not path:
        raise UsageError("the session file has no name; write one, such as session.json.")
    return path


class CodePanel(Part):
    """A folded panel with `Session.as_code`, to be copied; the code is made while the panel is open."""

    shown = frozenset({"history", "selected"})
    _is_open = False

    def _drawn(self) -> dict[str, str]:
        return drawn("parts.html", part="code", session=self.session, is_open=self._is_open)

    def _actions(self) -> dict[str, Action]:
        return {"fold": self._fold}

    def _fold(self, values: Mapping[str, str]) -> None:
        self._is_open = values.get("key") == "open"


class HistoryBar(Part):
    """Undo and redo with the names of the steps; states can be kept as A, B and so on, restored and compared."""

    shown = frozenset({"history", "snapshots", "result"})

    def _drawn(self) -> dict[str, str]:
        session = self.session
        kept = {name: session.compare(name) for name in session.snapshots}
        return drawn("history_bar.html", session=session, steps=session.history, next=self._next(), kept=kept)

    def _next(self) -> str:
        """Return the first letter that names no state yet; the last one, if all do."""
        return next((letter for letter in ascii_uppercase if letter not in self.session.snapshots), "Z")

    def _actions(self) -> dict[str, Action]:
        session = self.session
        return {
            "undo": lambda _: session.undo(),
            "redo": lambda _: session.redo(),
            "keep": lambda _: session.snapshot(self._next()),
            "restore": lambda values: session.restore(values.get("key", "")),
        }
