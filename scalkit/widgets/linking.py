"""Links a ruler to a session: gestures become steps of the session, its state and results are shown on the ruler."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from scalkit.errors import ScalkitError
from scalkit.growth import Growth
from scalkit.validation import Expectation, SearchSpace, Verdict

if TYPE_CHECKING:
    from scalkit.widgets.ruler import TickRuler

__all__ = ["RulerLink", "link"]

_SHOWN = frozenset({"data", "selected", "ruler", "expectation", "statistic", "excluded", "result", "history"})


class RulerSession(Protocol):
    """What a ruler needs of a session."""

    @property
    def space(self) -> SearchSpace:
        """The ticks of the selected function."""

    @property
    def expectation(self) -> Expectation | None:
        """Its expectation."""

    @property
    def verdict(self) -> Any:
        """The verdict on it, or None."""

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to take back."""

    @property
    def can_redo(self) -> bool:
        """Whether there is a step to make again."""

    def set_ticks(self, growths: Any) -> Any:
        """Replace all ticks."""

    def add_tick(self, growth: Any) -> Any:
        """Add one."""

    def remove_tick(self, growth: Any) -> Any:
        """Remove one."""

    def move_tick(self, old: Any, new: Any) -> Any:
        """Replace one by another."""

    def undo(self) -> Any:
        """Take the last step back."""

    def redo(self) -> Any:
        """Make it again."""

    def observe(self, callback: Callable[[frozenset[str]], None]) -> Any:
        """Call `callback` after each step with the names of what changed."""

    def unobserve(self, callback: Callable[[frozenset[str]], None]) -> Any:
        """Stop that."""


class RulerLink:
    """What keeps a ruler and a session together, until `close`; made by `link`.

    Notes
    -----
    While a tick is dragged, the session follows a few times a second; the step of the last position is taken back before
    the next is made, so that a drag is one step in the end, and none if it was given up.
    """

    def __init__(self, ruler: TickRuler, session: RulerSession) -> None:
        self.ruler, self.session = ruler, session
        self._is_busy = False
        self._dragged: tuple[str, str] | None = None
        ruler.observe(self._ticks_changed, "ticks")
        ruler.observe(self._preview_changed, "preview")
        session.observe(self._session_changed)
        ruler.link = self
        self.refresh()

    def close(self) -> None:
        """End the link; both live on."""
        self.ruler.unobserve(self._ticks_changed, "ticks")
        self.ruler.unobserve(self._preview_changed, "preview")
        self.session.unobserve(self._session_changed)
        self.ruler.link = None

    def refresh(self) -> None:
        """Show the state of the session on the ruler."""
        before, self._is_busy = self._is_busy, True
        try:
            with self.ruler.hold_sync():
                self.ruler.space = self.session.space
                verdict = self.session.verdict
                known = verdict if isinstance(verdict, Verdict) else None
                self.ruler.show(known, self.session.expectation)
                self.ruler.can_undo, self.ruler.can_redo = self.session.can_undo, self.session.can_redo
        finally:
            self._is_busy = before

    def undo(self) -> None:
        """Take the last step of the session back."""
        self.session.undo()

    def redo(self) -> None:
        """Make the last step of the session that was taken back again."""
        self.session.redo()

    def _session_changed(self, changed: frozenset[str]) -> None:
        if changed & _SHOWN:
            self.refresh()

    def _ticks_changed(self, change: Any) -> None:
        if not self._is_busy:
            self._try(lambda: self._reach({Growth.parse(tick["growth"]) for tick in change["new"]}))

    def _preview_changed(self, change: Any) -> None:
        if self._is_busy:
            return
        old, new = str(change["new"].get("from", "")), str(change["new"].get("to", ""))
        if old and new and not change["new"].get("final"):
            self._try(lambda: self._drag(old, new))
        elif self._dragged and not new:
            self._try(self._drop)
        elif self._dragged and self._dragged == (old, new):
            self._dragged = None

    def _drag(self, old: str, new: str) -> None:
        if self._dragged == (old, new):
            return
        self._drop()
        if old != new:
            self.session.move_tick(Growth.parse(old), Growth.parse(new))
            self._dragged = (old, new)

    def _drop(self) -> None:
        """Take the step of an unfinished drag back."""
        if self._dragged:
            self._dragged = None
            self.session.undo()

    def _reach(self, wanted: set[Growth]) -> None:
        """Bring the session to the ticks of the ruler in one step, named by what changed."""
        if wanted == set(self.session.space.ticks):
            self._dragged = None
            return
        self._drop()
        ticks = set(self.session.space.ticks)
        gone, new = sorted(ticks - wanted), sorted(wanted - ticks)
        if len(gone) == 1 and len(new) == 1:
            self.session.move_tick(gone[0], new[0])
        elif len(gone) == 1 and not new:
            self.session.remove_tick(gone[0])
        elif len(new) == 1 and not gone:
            self.session.add_tick(new[0])
        elif gone or new:
            self.session.set_ticks(sorted(wanted))

    def _try(self, step: Callable[[], None]) -> None:
        before, self._is_busy = self._is_busy, True
        try:
            with self.ruler.hold_sync():
                step()
        except ScalkitError as error:
            self.refresh()
            self.ruler.refuse(error)
        else:
            self.ruler.problem = ""
        finally:
            self._is_busy = before


def link(ruler: TickRuler, session: RulerSession) -> RulerLink:
    """Link a ruler to a session and return what ends the link.

    Parameters
    ----------
    ruler : TickRuler
    session : Session
        Any object with the properties and methods of `RulerSession`.
    """
    return RulerLink(ruler, session)
