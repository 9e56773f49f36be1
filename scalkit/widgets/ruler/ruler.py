"""The ruler of ticks: which growths are tried, to be changed with the mouse or the keyboard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import anywidget
import traitlets as t

from scalkit.errors import ExpectationError, ScalkitError
from scalkit.growth import Growth
from scalkit.judge import Expectation, SearchSpace
from scalkit.session import Session
from scalkit.support.arguments import each_of, require_kind
from scalkit.support.markup import block, formula, paragraph
from scalkit.widgets.base.cells import CellWidget, Fallback
from scalkit.widgets.base.templates import source
from scalkit.widgets.ruler.axis import AnyVerdict, Axis, marks
from scalkit.widgets.ruler.link import RulerLink, shown_of

_COARSE, _FINEST = (1, 2, 3, 4), 24
_HISTORY = 200


class Ruler(Fallback, CellWidget, anywidget.AnyWidget):
    """A search space as a ruler: ticks are dragged, added and deleted in the page, and Python knows them.

    Parameters
    ----------
    space : SearchSpace, optional
        The ticks to begin with; around the expectation by default.
    expectation : Expectation or str, optional
        Marked on the ruler, its deviation limits shaded.
    verdict : Verdict or AlongVerdict, optional
        Marks the best tick too and says how probable each is; it knows its space and expectation.
    session : Session, optional
        Linked to it: every gesture becomes a step of the session.
    ticks : iterable of Growth or str, optional
        In place of `space`.
    parameter : str, optional
        Name of the parameter, where neither a space nor an expectation says it, ``"p"`` by default; of a session over several
        parameters, whose ruler it is.
    **traits
        Values of the traits below, such as `readonly` or `label`.

    Attributes
    ----------
    ticks : list of dict
        ``{"growth": "p^(1/2)*log(p)", "row": 1, "at": "1/2"}`` in the order of growth; row 0 holds the powers of the
        leading class, row 1 the same times the next lower class, row 2 all else. Exponents are texts, never floats. It may
        be set to growths or texts as well.
    expectation, best : str
        Growths as text; empty if there is none.
    limits : list of str
        The lower and the upper deviation limit, or nothing.
    weights : dict
        Probability of a growth, by its text.
    denominators : list of int
        Of the exponents at which a moved tick comes to rest; by default those of the ticks and their doubles, so that there is
        room between any two.
    selected, hover : str
        The tick with the focus and the one below the pointer; empty if there is none.
    preview : dict
        ``{"from": ..., "to": ...}`` while a tick is dragged, a few times a second, with ``"final": True`` at the end, and empty
        after a drag that was given up.
    can_undo, can_redo : bool
        Whether there is a step to take back, or to make again.
    requests : list of dict
        What the page asks for besides: ``{"n": 1, "type": "undo"}``, ``"redo"``, or ``"add"`` with a ``"text"``; each `n` once.
    readonly : bool
    problem : str
        Why the last edit was refused; empty if it was not.
    absent : str
        Why there is no ruler at the moment, which the page shows in its place; empty if there is one.
    label : str
        What screen readers call the ruler.

    Raises
    ------
    ExpectationError
        If a tick cannot be read, or there is neither a space nor anything to make it from.
    """

    _esm = source(
        "base/kernel.js",
        "ruler/growth.js",
        "ruler/layout.js",
        "ruler/edit.js",
        "ruler/dom.js",
        "ruler/tools.js",
        "ruler/ruler.js",
    )
    _css = source("base/kernel.css", "ruler/ruler.css")

    ticks: t.List[Any] = t.List().tag(sync=True)
    expectation = t.Unicode("").tag(sync=True)
    limits = t.List(t.Unicode()).tag(sync=True)
    best = t.Unicode("").tag(sync=True)
    weights = t.Dict().tag(sync=True)
    denominators = t.List(t.Int(min=1, max=1000), default_value=[1, 2, 3, 4]).tag(sync=True)
    selected = t.Unicode("").tag(sync=True, echo_update=False)
    hover = t.Unicode("").tag(sync=True, echo_update=False)
    preview = t.Dict().tag(sync=True)
    readonly = t.Bool(False).tag(sync=True)
    requests: t.List[Any] = t.List().tag(sync=True)
    parameter = t.Unicode("p").tag(sync=True)
    axis = t.Dict().tag(sync=True)
    span = t.List(t.Int(), default_value=[0, 2]).tag(sync=True)
    can_undo = t.Bool(False).tag(sync=True)
    can_redo = t.Bool(False).tag(sync=True)
    problem = t.Unicode("").tag(sync=True)
    absent = t.Unicode("").tag(sync=True)
    label = t.Unicode("Search space").tag(sync=True)
    link: RulerLink | None = None
    _follows = True
    _answered = 0

    def __init__(
        self,
        space: SearchSpace | None = None,
        expectation: Expectation | str | None = None,
        verdict: AnyVerdict | None = None,
        *,
        session: Session | None = None,
        ticks: Iterable[Growth | str] | None = None,
        parameter: str | None = None,
        **traits: Any,
    ) -> None:
        require_kind(space, SearchSpace | None, "the space", "write SearchSpace.around(Expectation('log(p)'))")
        require_kind(session, Session | None, "the session", "write Session(data, 'log(p)')")
        if session is not None:
            space, expectation, verdict = shown_of(session, parameter)
            space = space or SearchSpace.of([Growth()], "ruler", parameter or session.parameters[0])
        expected = Expectation(expectation) if isinstance(expectation, str) else expectation
        shown = marks(verdict, expected)
        if verdict is not None:
            space, expected = space or verdict.space, verdict.expectation
        space = _space(space, expected, ticks, parameter)
        self._name, self._axis = space.name, Axis.of(space.ticks, space.parameter)
        self._done: list[tuple[Growth, ...]] = []
        self._undone: list[tuple[Growth, ...]] = []
        self._from_page = self._is_stepping = False
        super().__init__(**{"parameter": space.parameter, **shown, **traits})
        self._follows = "denominators" not in traits
        self.ticks = list(space.ticks)
        self.observe(self._remember, "ticks")
        if session is not None:
            self.link = RulerLink(self, session, parameter)
        self._enter_cell()

    @property
    def growths(self) -> tuple[Growth, ...]:
        """The ticks as growths, ascending."""
        return tuple(Growth(tick["growth"]) for tick in self.ticks)

    @property
    def space(self) -> SearchSpace:
        """The ticks as a search space; its name ends in ``+`` after a change by hand. It may be set."""
        return SearchSpace.of(self.growths, self._name, self.parameter)

    @space.setter
    def space(self, space: SearchSpace) -> None:
        self._name = space.name
        if space.parameter == self.parameter and space.ticks == self.growths:
            return
        with self.hold_sync():
            is_new = space.parameter != self.parameter
            if is_new:
                self.parameter = space.parameter
                self.show(None)
            self.ticks = list(space.ticks)
            self._name = space.name
            if is_new:
                self._done, self._undone = [], []
                self._tell_steps()

    def show(self, verdict: AnyVerdict | None, expectation: Expectation | None = None) -> Ruler:
        """Mark what a verdict says: its expectation, the best tick, the probabilities; the ticks stay. Return the ruler.

        `verdict`: None takes the marks of the last one away.
        `expectation`: what to mark where there is no verdict.
        """
        with self.hold_sync():
            for name, value in marks(verdict, expectation).items():
                setattr(self, name, value)
        return self

    def undo(self) -> Ruler:
        """Take the last change of the ticks back; without one nothing happens. Return the ruler."""
        return self._step(self._done, self._undone)

    def redo(self) -> Ruler:
        """Make the last change that was taken back again; without one nothing happens. Return the ruler."""
        return self._step(self._undone, self._done)

    def add(self, tick: Growth | str) -> Ruler:
        """Add a tick. Return the ruler."""
        self.ticks = [*self.growths, Growth(tick, self.parameter)]
        return self

    def _fallback_text(self) -> str:
        expected = f" around {self.expectation}" if self.expectation else ""
        return f"{len(self.ticks)} ticks{expected}" if not self.absent else self.absent

    def _fallback_html(self) -> str:
        return block(paragraph(self._fallback_text()), f"<p>{', '.join(map(formula, self.growths))}</p>")

    def close(self) -> None:
        """Close the widget and end its link to a session."""
        if self.link is not None:
            self.link.close()
        super().close()

    def refuse(self, error: Exception) -> None:
        """Say in the page why an edit was refused, and show there what holds in Python."""
        self.problem = str(error)
        self.send_state(["ticks", "selected"])

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take what the page sends; what is wrong is refused in words, and the page shown what holds."""
        self._from_page = True
        edits = {name: value for name, value in sync_data.items() if not (self.readonly and name in ("ticks", "preview"))}
        try:
            if "ticks" in edits and self.problem:
                self.problem = ""
            super().set_state(edits)
        except t.TraitError as error:
            self.refuse(error)
        finally:
            self._from_page = False
        self._answer()

    @t.validate("ticks")
    def _check_ticks(self, proposal: Any) -> list[dict[str, str | int]]:
        try:
            growths = [Growth(_text(tick), self.parameter) for tick in proposal["value"]]
            space = SearchSpace.of(growths, "ruler", self.parameter)
        except ScalkitError as error:
            if self._from_page:
                raise t.TraitError(str(error)) from error
            raise
        if not self._from_page:
            self._axis = Axis.of([*space.ticks, *self._marked], self.parameter)
        places = [(growth, *self._axis.place(growth)) for growth in space.ticks]
        return [{"growth": str(growth), "row": row, "at": str(at)} for growth, row, at in places]

    @property
    def _marked(self) -> list[Growth]:
        return [Growth(text, self.parameter) for text in (self.expectation, self.best) if text]

    @t.observe("ticks")
    def _measure(self, change: Any) -> None:
        self.span = list(self._axis.span([*self.growths, *self._marked]))
        self.axis = self._axis.to_dict()
        if self._follows:
            used = {Fraction(str(tick["at"])).denominator for tick in self.ticks}
            finer = {factor * d for d in used for factor in (1, 2) if factor * d <= _FINEST}
            self.denominators = sorted({*_COARSE, *finer})

    def _remember(self, change: Any) -> None:
        if self._is_stepping or self.link is not None or change["old"] == change["new"]:
            return
        self._done = [*self._done[1 - _HISTORY :], tuple(Growth(tick["growth"]) for tick in change["old"])]
        self._undone = []
        self._tell_steps()
        self._name = f"{self._name.removesuffix('+')}+"

    def _step(self, source: list[tuple[Growth, ...]], target: list[tuple[Growth, ...]]) -> Ruler:
        if source:
            self._is_stepping = True
            target.append(self.growths)
            self.ticks = list(source.pop())
            self._is_stepping = False
            self._tell_steps()
        return self

    def _tell_steps(self) -> None:
        self.can_undo, self.can_redo = bool(self._done), bool(self._undone)

    def _answer(self) -> None:
        """Do what the page asked for and was not done yet."""
        for request in self.requests:
            n = request.get("n") if isinstance(request, Mapping) else None
            if isinstance(n, int) and n > self._answered:
                self._answered = n
                try:
                    self._do(request.get("type"), request.get("text"))
                except ScalkitError as error:
                    self.refuse(error)

    def _do(self, kind: object, text: object) -> None:
        if self.readonly or kind not in ("undo", "redo", "add"):
            return
        self.problem = ""
        if kind == "add":
            growth = Growth(str(text or ""), self.parameter)
            self.add(growth)
            self.selected = str(growth)
            return
        target = self if self.link is None else self.link
        (target.undo if kind == "undo" else target.redo)()


def _space(
    space: SearchSpace | None, expectation: Expectation | None, ticks: Iterable[Growth | str] | None, parameter: str | None
) -> SearchSpace:
    if space is not None:
        return space
    if ticks is not None:
        name = parameter or (expectation.parameter if expectation else "p")
        return SearchSpace.of([Growth(tick, name) for tick in each_of(ticks, object, "the ticks", "give growths")], "ruler", name)
    if expectation is not None:
        return SearchSpace.around(expectation)
    raise ExpectationError("a ruler needs a space, ticks or an expectation; write Ruler(expectation='log(p)').")


def _text(tick: object) -> object:
    return tick.get("growth", "") if isinstance(tick, Mapping) else tick
