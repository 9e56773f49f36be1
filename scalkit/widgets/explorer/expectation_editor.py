"""What is expected of the selected function, and how far it may deviate: typed as text, shown as a formula."""

from collections.abc import Mapping
from functools import reduce
from operator import mul

from scalkit.growth import Growth
from scalkit.judge import Expectation
from scalkit.judge.several.expectation import SeveralExpectation
from scalkit.widgets.base.part import Action, Part
from scalkit.widgets.base.templates import drawn


class ExpectationEditor(Part):
    """Fields for expectation and deviation of the selected function, with the current formula."""

    shown = frozenset({"selected", "expectation"})

    def _drawn(self) -> dict[str, str]:
        now, session = self.session.expectation, self.session
        problem = session.problem if now is None and not self.problem else ""
        along = now.along if isinstance(now, SeveralExpectation) else {"": now}
        return drawn("expectation_editor.html", session=session, now=now, deviation=_own(now), along=along, problem=problem)

    def _actions(self) -> dict[str, Action]:
        return {"expect": self._expect}

    def _expect(self, values: Mapping[str, str]) -> None:
        text, deviation = values.get("expectation", "").strip(), values.get("deviation", "").strip()
        session = self.session
        if deviation:
            session.expect(text, deviation)
            return
        session.begin_step(f"expect {text} of {session.selected[0]}")
        try:
            session.expect(text)
            if _own(session.expectation):
                session.set_deviation(None)
        finally:
            session.end_step()


def _own(expectation: Expectation | SeveralExpectation | None) -> str:
    """Return the deviation that was given, as text; empty if it is automatic."""
    if isinstance(expectation, SeveralExpectation):
        own = expectation.own_deviations.values()
        return str(reduce(mul, own, Growth())) if own else ""
    return str(expectation.deviation) if expectation is not None and expectation.has_own_deviation else ""
