"""Steps that can be undone: each has a name and the state before it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scalkit.errors import UsageError
from scalkit.session.state import State


@dataclass(frozen=True)
class Step:
    """One step: its name, and the state on its other side."""

    name: str
    state: State


@dataclass(frozen=True)
class History:
    """The present state, the steps that led to it, and those that were undone.

    `past`: oldest first; each with the state before it.
    `future`: what `redo` does next comes last; each with the state after it.
    """

    present: State
    past: tuple[Step, ...] = ()
    future: tuple[Step, ...] = ()

    def did(self, name: str, state: State) -> History:
        """Return the history after one more step; a step that changes nothing is none."""
        if state == self.present:
            return self
        return History(state, (*self.past, Step(name, self.present)))

    def joined(self, name: str, since: int) -> History:
        """Return the history where all steps after the first `since` are one; one that ends where it began is none."""
        if len(self.past) <= since:
            return self
        before = self.past[since].state
        kept = self.past[:since]
        return replace(self, past=kept if before == self.present else (*kept, Step(name, before)))

    def undo(self) -> History:
        """Return the history before the last step.

        Raises UsageError if there is none.
        """
        if not self.past:
            raise UsageError("there is no step to undo; nothing was changed yet.")
        last = self.past[-1]
        return History(last.state, self.past[:-1], (*self.future, Step(last.name, self.present)))

    def redo(self) -> History:
        """Return the history after the step that was undone last.

        Raises UsageError if there is none.
        """
        if not self.future:
            raise UsageError("there is no step to redo; undo one first.")
        last = self.future[-1]
        return History(last.state, (*self.past, Step(last.name, self.present)), self.future[:-1])
