"""The app in a notebook: a session with everything to look at it and to change it."""

from typing import Any

import ipywidgets

from scalkit.errors import UsageError
from scalkit.judge import Validation
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.plots.verdicts.rival_curves import term_of
from scalkit.session import Session
from scalkit.session.compare import session_html
from scalkit.support.arguments import require_kind
from scalkit.widgets.base.cells import CellWidget, Fallback, close_tree, in_one_piece
from scalkit.widgets.explorer.data_picker import DataPicker
from scalkit.widgets.explorer.expectation_editor import ExpectationEditor
from scalkit.widgets.explorer.model_table import ModelTable
from scalkit.widgets.explorer.plot_panel import PlotPanel
from scalkit.widgets.explorer.report_panel import ReportPanel
from scalkit.widgets.explorer.rule_matrix import RuleMatrix
from scalkit.widgets.explorer.session_bar import CodePanel, HistoryBar, SessionBar
from scalkit.widgets.explorer.verdict_badge import Headline, HypothesisList, VerdictBadge
from scalkit.widgets.ruler.ruler import Ruler


class Explorer(Fallback, CellWidget, ipywidgets.VBox):  # type: ignore[misc]
    """Shows measurements, expectations, rulers and verdicts; every change is a step of the session that can be undone.

    Parameters
    ----------
    session : Session

    Attributes
    ----------
    session : Session
        What is shown; another one after one was opened. It may be set.
    headline, data_picker, history_bar, table, verdict, editor, hypotheses, rules, report, code, session_bar : widgets
        The parts.
    plots : PlotPanel
    rulers : tuple of Ruler
        One for each parameter.

    Notes
    -----
    When a cell of a notebook is run again, what it showed before is closed.
    """

    def __init__(self, session: Session) -> None:
        require_kind(session, Session, "the session", "give one, or call sk.explore(data, 'log p')")
        super().__init__(layout=ipywidgets.Layout(width="100%", overflow="visible"))
        self.add_class("sk-app")
        self._session = session
        with in_one_piece():
            self._build()
        self._enter_cell()

    @property
    def session(self) -> Session:
        """What is shown."""
        return self._session

    @session.setter
    def session(self, session: Session) -> None:
        self._session.unobserve(self._told)
        self._session = session
        self._rebuild()

    @property
    def result(self) -> Validation:
        """What `scalkit.validate` gives for what was chosen."""
        return self._session.result

    def close(self) -> None:
        """Close the widget with all its parts; the session lives on."""
        if self.comm is not None:
            self._session.unobserve(self._told)
            self._unlink()
        super().close()

    def _fallback_text(self) -> str:
        return self._session.result.headline

    def _fallback_html(self) -> str:
        return session_html(self._session)

    def _build(self) -> None:
        session = self._session
        self.headline, self.history_bar = Headline(session), HistoryBar(session)
        self.data_picker = DataPicker(session, title="Data, and how they are judged")
        self.table, self.verdict = ModelTable(session), VerdictBadge(session)
        self.editor, self.hypotheses = ExpectationEditor(session), HypothesisList(session)
        self.rulers = tuple(Ruler(session=session, parameter=name, label=f"Ruler of {name}") for name in session.parameters)
        self.plots = PlotPanel(session)
        self.rules, self.report = RuleMatrix(session), ReportPanel(session)
        self.code = CodePanel(session)
        self.session_bar = SessionBar(session, self._load, title="Save and open")
        self._parameters = session.parameters
        self._link()
        session.observe(self._told)
        now = (self.verdict, self.editor, self.plots, *self.rulers, self.hypotheses)
        folded = (self.data_picker, self.rules, self.report, self.code, self.session_bar)
        self.children = (
            _box("sk-top", self.headline, self.history_bar),
            _box("sk-columns", _box("sk-list", self.table), _box("sk-now", *now)),
            _box("sk-drawer", *folded),
        )

    def _link(self) -> None:
        """Let a term or a point that is pointed at in one view be seen in the others."""
        self.plots.fit.observe(self._chosen, "clicked")
        terms = self.hypotheses
        self._links: list[Any] = [ipywidgets.jslink((terms, name), (self.plots.fit, name)) for name in ("hover", "term")]
        if len(self.rulers) == 1:
            (ruler,) = self.rulers
            self._links += [
                ipywidgets.jslink((terms, "hover"), (ruler, "hover")),
                ipywidgets.jslink((terms, "term"), (ruler, "selected")),
            ]
        else:
            terms.observe(self._mark_ticks, ["hover", "term"])

    def _unlink(self) -> None:
        for link in self._links:
            link.close()
        self._links = []

    def _mark_ticks(self, change: Any) -> None:
        """Mark on each of several rulers the tick that a term has along its parameter."""
        verdict, text = self._session.verdict, change["new"]
        models: tuple[Any, ...] = (verdict.model, *verdict.rivals) if isinstance(verdict, SeveralVerdict) else ()
        model = next((one for one in models if term_of(one) == text), None)
        for ruler in self.rulers:
            tick = model.leading(ruler.parameter) if model is not None else None
            shown = str(tick) if tick in ruler.growths else ""
            ruler.set_trait("hover" if change["name"] == "hover" else "selected", shown)

    def _rebuild(self) -> None:
        before: tuple[Any, ...] = self.children
        self._unlink()
        with in_one_piece():
            self._build()
        for part in before:
            close_tree(part)
            part.close()

    def _chosen(self, change: Any) -> None:
        """Take a point of the fit that was pressed: the setting nearest to it."""
        x = change["new"].get("x")
        near = [one for one in self._session.settings if isinstance(one, float) and isinstance(x, int | float)]
        self.data_picker.show_point(min(near, key=lambda one: abs(one - x), default=None))

    def _told(self, changed: frozenset[str]) -> None:
        if "data" in changed and self._session.parameters != self._parameters:
            self._session.unobserve(self._told)
            self._rebuild()

    def _load(self, session: Session) -> None:
        path = self.session_bar.path
        self.session = session
        self.session_bar.path = path
        self.session_bar.refresh()


def _box(name: str, *parts: ipywidgets.Widget) -> ipywidgets.VBox:
    """Return parts in a box whose place the style sheet decides."""
    box = ipywidgets.VBox(parts, layout=ipywidgets.Layout(overflow="visible"))
    box.add_class(name)
    return box


def explore(data: object, expectations: object | None = None, **options: Any) -> Explorer:
    """Return the app on measurements, a result or a session, to be shown in a notebook.

    Parameters
    ----------
    data : Dataset of measurements, path, sequence of paths, DataFrame, dict of arrays, Validation or Session
        A session, or what `scalkit.Session` takes.
    expectations : str, path, mapping, ExpectationSet or Baseline, optional
        As for `scalkit.Session`, which says what holds by default. A result and a session bring theirs along.
    **options
        Further arguments of `scalkit.Session`, such as ``statistic="median"`` and ``parameter="n"``.

    Raises
    ------
    ScalkitError
        If there is no session to be made of what was given.
    """
    if not isinstance(data, Session):
        return Explorer(Session(data, expectations, **options))
    if expectations is not None or options:
        raise UsageError("a session brings its expectations along; write explore(session), or explore(data, expectations).")
    return Explorer(data)
