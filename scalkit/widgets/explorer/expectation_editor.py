"""What is expected of the selected function, and how far it may deviate: typed as text, shown as a formula."""

from collections.abc import Mapping
from functools import reduce
from operator import mul

from scalkit.errors import ScalkitError
from scalkit.growth import Growth
from scalkit.judge import Expectation
from scalkit.judge.several.expectation import SeveralExpectation
from scalkit.widgets.base.part import Action, Part
from scalkit.widgets.base.templates import drawn

AnyExpectation = Expectation | SeveralExpectation


class ExpectationEditor(Part):
    """Fields for expectation and deviation of the selected function; what is typed is shown as a formula or said to be wrong."""

    shown = frozenset({"selected", "expectation"})
    _typed: Mapping[str, str] | None = None

    def _drawn(self) -> dict[str, str]:
        now, session = self.session.expectation, self.session
        shown, problem, is_wrong = now, "" if now is not None else session.problem, False
        if self.problem:
            shown, problem = None, ""
        elif self._typed is not None:
            try:
                shown = self._read(self._typed)
            except ScalkitError as error:
                shown, problem, is_wrong = None, str(error), True
        along = shown.along if isinstance(shown, SeveralExpectation) else {"": shown}
        values = {"shown": shown, "along": along, "problem": problem, "is_wrong": is_wrong}
        return drawn("expectation_editor.html", session=session, now=now, deviation=_own(now), **values)

    def _actions(self) -> dict[str, Action]:
        return {"typing": self._type, "expect": self._expect}

    def _type(self, values: Mapping[str, str]) -> None:
        self._typed = values

    def _expect(self, values: Mapping[str, str]) -> None:
        self._typed = values
        text, deviation = values.get("expectation", "").strip(), values.get("deviation", "").strip()
        session = self.session
        if deviation:
            session.expect(text, deviation)
        else:
            session.begin_step(f"expect {text} of {session.selected[0]}")
            try:
                session.expect(text)
                if _own(session.expectation):
                    session.set_deviation(None)
            finally:
                session.end_step()
        self._typed = None

    def _told(self, changed: frozenset[str]) -> None:
        if changed & self.shown:
            self._typed = None
        super()._told(changed)

    def _read(self, values: Mapping[str, str]) -> AnyExpectation:
        text, deviation = values.get("expectation", "").strip(), values.get("deviation", "").strip() or None
        names = self.session.parameters
        if len(names) > 1:
            return SeveralExpectation(text, deviation, names)
        return Expectation(text, deviation).in_parameter(names[0])


def _own(expectation: AnyExpectation | None) -> str:
    """Return the deviation that was given, as text; empty if it is automatic."""
    if isinstance(expectation, SeveralExpectation):
        own = expectation.own_deviations.values()
        return str(reduce(mul, own, Growth())) if own else ""
    return str(expectation.deviation) if expectation is not None and expectation.has_own_deviation else ""
