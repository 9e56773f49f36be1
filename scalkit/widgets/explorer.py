"""The app in a notebook: a session with everything to look at it and to change it."""

from __future__ import annotations

from typing import Any

import ipywidgets

from scalkit.errors import UsageError
from scalkit.session import Session
from scalkit.session.shown import session_html
from scalkit.validation import Validation
from scalkit.widgets.cells import Cells, close_tree, running_cell
from scalkit.widgets.code_panel import CodePanel
from scalkit.widgets.data_picker import DataPicker
from scalkit.widgets.expectation_editor import ExpectationEditor
from scalkit.widgets.fallback import Fallback
from scalkit.widgets.history_bar import HistoryBar
from scalkit.widgets.hypothesis_list import HypothesisList
from scalkit.widgets.model_table import ModelTable
from scalkit.widgets.plot_panel import PlotPanel
from scalkit.widgets.ruler import TickRuler
from scalkit.widgets.session_bar import SessionBar
from scalkit.widgets.verdict_badge import VerdictBadge

__all__ = ["Explorer"]

_CELLS = Cells()


class Explorer(Fallback, ipywidgets.VBox):  # type: ignore[misc]
    """Shows measurements, expectations, rulers and verdicts; every change is a step of the session that can be undone.

    Parameters
    ----------
    data : Session, Dataset of measurements, path or sequence of paths
        A session, or what `scalkit.Session` takes.
    expectations : str, path, mapping or ExpectationSet, optional
        As for `scalkit.Session`, which says what holds by default; not beside a session.
    **options
        Further arguments of `scalkit.Session`, such as ``statistic="median"``.

    Attributes
    ----------
    session : Session
        What is shown; another one after one was opened. It may be set.
    data_picker, history_bar, session_bar, table, verdict, editor, hypotheses, code : widgets
        The parts.
    plots : PlotPanel
    rulers : tuple of TickRuler
        One for each parameter.

    Raises
    ------
    ScalkitError
        If there is no session to be made of what was given.

    Notes
    -----
    When a cell of a notebook is run again, what it showed before is closed.
    """

    def __init__(self, data: object, expectations: object | None = None, **options: Any) -> None:
        session = _session(data, expectations, options)
        super().__init__(layout=ipywidgets.Layout(width="100%", overflow="visible"))
        self._session = session
        self._build()
        _CELLS.enter(*running_cell(), self)

    @property
    def session(self) -> Session:
        """What is shown."""
        return self._session

    @session.setter
    def session(self, session: Session) -> None:
        before: tuple[Any, ...] = self.children
        self._session = session
        self._build()
        for part in before:
            close_tree(part)
            part.close()

    @property
    def result(self) -> Validation:
        """What `scalkit.validate` gives for what was chosen."""
        return self._session.result

    def close(self) -> None:
        """Close the widget with all its parts; the session lives on."""
        _CELLS.leave(self)
        if self.comm is not None:
            close_tree(self)
        super().close()

    def _build(self) -> None:
        session = self._session
        self.data_picker, self.history_bar = DataPicker(session), HistoryBar(session)
        self.session_bar = SessionBar(session, self._load)
        self.table, self.verdict = ModelTable(session), VerdictBadge(session)
        self.editor, self.hypotheses = ExpectationEditor(session), HypothesisList(session)
        self.plots, self.code = PlotPanel(session), CodePanel(session)
        self.rulers = tuple(
            TickRuler(session=session, parameter=name, label=f"Ruler of {name}") for name in session.parameters
        )
        self.children = (
            self.data_picker,
            self.history_bar,
            self.table,
            self.verdict,
            self.editor,
            *self.rulers,
            self.plots,
            self.hypotheses,
            self.code,
            self.session_bar,
        )

    def _fallback_text(self) -> str:
        return self._session.result.headline

    def _fallback_html(self) -> str:
        return session_html(self._session)

    def _load(self, session: Session) -> None:
        self.session = session


def _session(data: object, expectations: object | None, options: dict[str, Any]) -> Session:
    if not isinstance(data, Session):
        return Session(data, **options) if expectations is None else Session(data, expectations, **options)
    if expectations is not None or options:
        raise UsageError(
            "a session brings its expectations along; write Explorer(session), or Explorer(data, expectations)."
        )
    return data
