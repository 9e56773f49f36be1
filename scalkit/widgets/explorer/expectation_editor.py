"""What is expected of the selected function, and how far it may deviate: typed as text, shown as a formula."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import mul

from scalkit.errors import ScalkitError
from scalkit.growth import Growth
from scalkit.markup import esc, formula
from scalkit.validation import Expectation
from scalkit.validation.several.expectation import SeveralExpectation
from scalkit.widgets.base.part import Action, Part

AnyExpectation = Expectation | SeveralExpectation


class ExpectationEditor(Part):
    """Fields for expectation and deviation of the selected function; what is typed is shown as a formula or said to be wrong.

    Parameters
    ----------
    session : Session
    **traits
        Values of the traits.
    """

    shown = frozenset({"selected", "expectation"})
    _typed: Mapping[str, str] | None = None

    def _drawn(self) -> dict[str, str]:
        now = self.session.expectation
        names = ", ".join(self.session.parameters)
        text = "" if now is None else str(now.growth)
        # Named by its function: what was typed for one is never left in the field for another.
        form = (
            f'<form data-typing="typing" data-submit="expect" data-of="{esc(self.session.selected[0])}">'
            f"<label><strong>Expected</strong> to grow as {_field('expectation', text, f'in terms of {names}')}</label>"
            f"<label>give or take {_field('deviation', _own(now), 'automatic')}</label>"
            '<button type="submit" title="Judge against this expectation (Enter)">Expect</button></form>'
        )
        return {"form": form, "said": self._said(now)}

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

    def _said(self, now: AnyExpectation | None) -> str:
        """Return what is typed as a formula with its limits, or why it is none."""
        if self.problem:
            return ""
        if self._typed is None:
            return _preview(now) if now is not None else f"<p>{esc(self.session.problem)}</p>"
        try:
            return _preview(self._read(self._typed))
        except ScalkitError as error:
            return f'<p class="trouble">{esc(error)}</p>'

    def _read(self, values: Mapping[str, str]) -> AnyExpectation:
        text, deviation = values.get("expectation", "").strip(), values.get("deviation", "").strip() or None
        names = self.session.parameters
        if len(names) > 1:
            return SeveralExpectation(text, deviation, names)
        return Expectation(text, deviation).in_parameter(names[0])


def _field(name: str, value: str, hint: str) -> str:
    return (
        f'<input name="{name}" data-key="{name}" value="{esc(value)}" placeholder="{esc(hint)}" autocomplete="off" '
        'spellcheck="false">'
    )


def _own(expectation: AnyExpectation | None) -> str:
    """Return the deviation that was given, as text; empty if it is automatic."""
    if isinstance(expectation, SeveralExpectation):
        own = expectation.own_deviations.values()
        return str(reduce(mul, own, Growth.constant())) if own else ""
    return str(expectation.deviation) if expectation is not None and expectation.has_own_deviation else ""


def _preview(expectation: AnyExpectation) -> str:
    head = (
        f'<math><mi>O</mi><mo stretchy="false">(</mo>{expectation.growth.to_mathml()}<mo stretchy="false">)</mo></math>'
    )
    along = expectation.along if isinstance(expectation, SeveralExpectation) else {"": expectation}
    limits = "; ".join(
        f"{f'along {esc(name)} ' if name else ''}{formula(one.limits[0])} to {formula(one.limits[1])}"
        for name, one in along.items()
    )
    return f'<p>{head} <span class="quiet">matches approximately from {limits}</span></p>'
