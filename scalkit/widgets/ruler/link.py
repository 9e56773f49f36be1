"""Links a ruler to a session: gestures become steps of the session, its state and results are shown on the ruler."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scalkit.errors import ScalkitError
from scalkit.growth import Growth
from scalkit.judge import Expectation, SearchSpace
from scalkit.session import Session
from scalkit.widgets.ruler.axis import AnyVerdict

if TYPE_CHECKING:
    from scalkit.widgets.ruler.ruler import Ruler


_SHOWN = frozenset({"data", "selected", "ruler", "expectation", "statistic", "excluded", "result", "history"})


class RulerLink:
    """Connection of a ruler and a session, until `close`.

    Notes
    -----
    While a tick is dragged, the session follows a few times a second. The whole drag becomes one
    step of the session; a cancelled drag becomes none.
    """

    def __init__(self, ruler: Ruler, session: Session, parameter: str | None) -> None:
        self.ruler, self.session = ruler, session
        self._parameter = parameter
        self._is_busy = self._follows_drag = False
        self._dragged: tuple[Growth, Growth] | None = None
        ruler.observe(self._ticks_changed, "ticks")
        ruler.observe(self._preview_changed, "preview")
        session.observe(self._session_changed)
        self.refresh()

    def close(self) -> None:
        """End the link; the ruler and the session remain usable."""
        self.ruler.unobserve(self._ticks_changed, "ticks")
        self.ruler.unobserve(self._preview_changed, "preview")
        self.session.unobserve(self._session_changed)
        self.ruler.link = None

    def refresh(self) -> None:
        """Show the state of the session on the ruler."""
        before, self._is_busy = self._is_busy, True
        try:
            with self.ruler.hold_sync():
                self._refresh()
        finally:
            self._is_busy = before

    def _refresh(self) -> None:
        space, expectation, verdict = shown_of(self.session, self._parameter)
        self.ruler.absent = "" if space is not None else self.session.problem or "There is no expectation, so no ruler."
        if space is not None and not self._follows_drag:
            self.ruler.space = space
        self.ruler.show(verdict, expectation)
        self.ruler.can_undo, self.ruler.can_redo = bool(self.session.history), bool(self.session.undone)

    def undo(self) -> None:
        """Take the last step of the session back, if there is one."""
        if self.session.history:
            self._try(self.session.undo)

    def redo(self) -> None:
        """Make the last step of the session that was taken back again, if there is one."""
        if self.session.undone:
            self._try(self.session.redo)

    def _session_changed(self, changed: frozenset[str]) -> None:
        if changed & _SHOWN:
            self.refresh()

    def _ticks_changed(self, change: Any) -> None:
        if not self._is_busy and change["old"] != change["new"]:
            self._try(lambda: self._reach({self._growth(tick["growth"]) for tick in change["new"]}))

    def _preview_changed(self, change: Any) -> None:
        if self._is_busy:
            return
        old, new = (str(change["new"].get(end, "")) for end in ("from", "to"))
        if not (old and new):
            self._try(self._give_up)
        elif not change["new"].get("final"):
            self._try(lambda: self._drag(self._growth(old), self._growth(new)))
        elif self._dragged:
            self._try(lambda: self._drop(self._growth(old), self._growth(new)))

    def _growth(self, text: str) -> Growth:
        return Growth(text, self.ruler.parameter)

    def _drag(self, old: Growth, new: Growth) -> None:
        """Let the session follow a drag that goes on; the first position begins a step."""
        there = old
        if self._dragged and self._dragged[0] == old:
            there = self._dragged[1]
        else:
            self._give_up()
            self.session.begin_step(f"move tick {old}")
        self._dragged = (old, there)
        if there != new:
            # The page shows the dragged tick itself. Ticks sent now may arrive after the tick was
            # let go: they would take it away for a moment, and with it focus and selection.
            self._follows_drag = True
            try:
                self.session.move_tick(there, new, self.ruler.parameter)
            finally:
                self._follows_drag = False
            self._dragged = (old, new)

    def _drop(self, old: Growth, new: Growth) -> None:
        """End a drag where it is."""
        self._drag(old, new)
        self._dragged = None
        self.session.end_step(f"move tick {old} to {new}")

    def _give_up(self) -> None:
        """Bring the session back to where an unfinished drag began."""
        if self._dragged:
            (old, new), self._dragged = self._dragged, None
            if old != new:
                self.session.move_tick(new, old, self.ruler.parameter)
            self.session.end_step()

    def _reach(self, wanted: set[Growth]) -> None:
        """Bring the session to the ticks of the ruler in one step, named by what changed."""
        dragged, self._dragged = self._dragged, None
        ticks = set(self._ticks())
        gone, new = sorted(ticks - wanted), sorted(wanted - ticks)
        parameter = self.ruler.parameter
        try:
            if len(gone) == 1 and len(new) == 1:
                self.session.move_tick(gone[0], new[0], parameter)
            elif len(gone) == 1 and not new:
                self.session.remove_tick(gone[0], parameter)
            elif len(new) == 1 and not gone:
                self.session.add_tick(new[0], parameter)
            elif gone or new:
                self.session.set_ticks(sorted(wanted), parameter)
        finally:
            if dragged:
                there = new[0] if gone == [dragged[1]] and len(new) == 1 else dragged[1]
                self.session.end_step(f"move tick {dragged[0]} to {there}")

    def _ticks(self) -> tuple[Growth, ...]:
        space, _, _ = shown_of(self.session, self._parameter)
        return () if space is None else space.ticks

    def _try(self, step: Callable[[], object]) -> None:
        before, self._is_busy = self._is_busy, True
        try:
            with self.ruler.hold_sync():
                step()
                self.ruler.problem = ""
        except ScalkitError as error:
            self.refresh()
            self.ruler.refuse(error)
        finally:
            self._is_busy = before


def shown_of(session: Session, parameter: str | None) -> tuple[SearchSpace | None, Expectation | None, AnyVerdict | None]:
    """Return space, expectation and verdict of what a session has selected, along one of its parameters."""
    space = session.space if parameter is None else session.spaces.get(parameter)
    if space is None:
        return None, None, None
    expectation, verdict, along = session.expectation, session.verdict, space.parameter
    return space, expectation.along[along] if expectation else None, verdict.along[along] if verdict else None
