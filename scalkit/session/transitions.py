"""How a session goes from one state to another, also to other measurements."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Self

from scalkit.errors import UsageError
from scalkit.session.queries import SessionView
from scalkit.session.state import History, Source, State, aspects, open_source
from scalkit.validation.judge.judge import Judge, Outcome
from scalkit.validation.judge.measured import Setting


class SessionSteps(SessionView):
    """What the steps of a session have in common: each is done once its result is there, and then told of."""

    _opened: dict[str, tuple[Judge, Source]]
    """What judges the measurements of a state, by `State.data`."""

    def use_data(self, data: object) -> Self:
        """Judge other measurements by what was chosen: expectations, rulers, rules and the statistic stay.

        Settings that are left out stay so, as far as they are measured. What is selected stays if it was measured.

        `data`: what `scalkit.read` takes or returns, for example the folder that is being measured into, again.
        Raises ScalkitError if there are no measurements, or what was chosen does not fit them; the session stays as it
        was.
        """
        ds, source = open_source(data)
        key = "" if source.sha256 == self._opened[""][1].sha256 else source.sha256
        if key == self.state.data:
            return self
        if key not in self._opened:
            self._opened[key] = (Judge(ds, self._judge.expected), source)
        judge = self._opened[key][0]
        try:
            return self._do(f"measurements {source}", replace(self.state, data=key, excluded=_there(self.state, judge)))
        finally:
            self._forget()

    def _do(self, step: str, state: State) -> Self:
        return self._go(self._history.did(step, state))

    def _go(self, history: History) -> Self:
        """Make a history the present one, once its result is there, and tell of it."""
        before, after = self._history.present, history.present
        if history is self._history:
            return self
        with without_pauses():
            judge, source = self._opened[after.data]
            outcome = self._outcome if after == before else judge.result(after)
            changed = aspects(before, after)
            if after.data != before.data:
                self._opened[before.data] = (self._judge, self._source)
                self._judge, self._source = judge, source
                if self._selected not in judge.names:
                    self._selected = outcome.worst or judge.names[0]
                    changed |= {"selected"}
            self._outcome, self._history = outcome, history
            self._observers.tell(changed)
        return self

    def _outcome_of(self, state: State) -> Outcome:
        return self._opened[state.data][0].result(state)

    def _snapshot(self, name: str) -> State:
        if name not in self._snapshots:
            raise UsageError(
                f"there is no snapshot {name!r:.60}; there are {', '.join(self._snapshots) or 'none, make one first'}."
            )
        return self._snapshots[name]

    def _forget(self) -> None:
        """Let go of measurements that no step and no snapshot leads to."""
        history = self._history
        states = (history.present, *(step.state for step in (*history.past, *history.future)), *self._snapshots.values())
        needed = {"", *(state.data for state in states)}
        self._opened = {key: one for key, one in self._opened.items() if key in needed}


def _there(state: State, judge: Judge) -> dict[str, tuple[Setting, ...]]:
    """Return what is left out of a state, as far as it was measured; all that is left of a function stays."""
    found = {}
    for function, settings in state.excluded.items():
        if function not in judge.functions:
            continue
        measured = judge.measured.settings(function)
        gone = tuple(one for one in settings if one in measured)
        if gone and len(gone) < len(measured):
            found[function] = gone
    return found


@contextmanager
def without_pauses() -> Iterator[None]:
    """Let the collector wait until the block has ended; one that is switched off stays so."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
