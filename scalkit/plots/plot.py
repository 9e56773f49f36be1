"""The figure for whatever is given: a result, a verdict, a rule, a comparison, a session, measurements."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import xarray as xr

from scalkit.errors import UsageError
from scalkit.front import measurements_in
from scalkit.judge import RuleResult, Validation, Verdict
from scalkit.judge.baseline.comparison import Comparison
from scalkit.judge.fit.piecewise import Piecewise
from scalkit.judge.several.along import AlongVerdict
from scalkit.judge.several.verdict import SeveralVerdict
from scalkit.measure.pattern_records import SHARES
from scalkit.plots.measured import measured
from scalkit.plots.traces.master_worker import master_worker
from scalkit.plots.traces.matrix import trace_matrix
from scalkit.plots.verdicts.changes import changes
from scalkit.plots.verdicts.divergence import divergence
from scalkit.plots.verdicts.effects import effects
from scalkit.plots.verdicts.fit import fit
from scalkit.plots.verdicts.pieces import pieces
from scalkit.plots.verdicts.rule import rule
from scalkit.session import Session
from scalkit.support.text import brief
from scalkit.trace.results.dataset import is_result

_KNOWN = (
    "measurements (a path, a DataFrame, a dict of arrays or a Dataset), a result of sk.validate, "
    "a verdict, a verdict along a parameter, a rule, a comparison, a piecewise model, a session, "
    "a result of sk.trace.analyse, an assessment of guidelines, identified algorithms, "
    "a folklore check"
)
_OTHERS = {
    ("guidelines", "Assessment"): ("guidelines.map", "guideline_map"),
    ("perfmodels", "Identified"): ("models.algorithms", "algorithms"),
    ("perfmodels", "Folklore"): ("models.folklore", "folklore"),
}
"""Figures of other systems, by package and class: loading all of them with every figure would take long."""


def plot(subject: Any) -> go.Figure:
    """Return the figure for what is given.

    Parameters
    ----------
    subject : Validation, Verdict, SeveralVerdict, AlongVerdict, RuleResult, Comparison, Piecewise, Session, Dataset or others
        Of guidelines an `Assessment`, of performance models `Identified` and `Folklore`.
        A result with one verdict is drawn as that verdict. One with several is drawn as an overview
        of their divergences, or of the effects where there are several parameters. The result of
        an analysis of a trace is drawn as the matrix of who waited for whom.

    Returns
    -------
    plotly.graph_objects.Figure

    Raises
    ------
    UsageError
        If it is none of these; the sentence lists what can be plotted.
    DataError
        If there is nothing in it to draw.
    """
    match subject:
        case Validation() if len(subject) == 1:
            return fit(subject.verdicts[0])
        case Validation():
            return effects(subject) if subject.over_several else divergence(subject)
        case Verdict() | SeveralVerdict():
            return fit(subject)
        case AlongVerdict():
            return fit(subject.whole, subject.parameter)  # type: ignore[arg-type]
        case RuleResult():
            return rule(subject)
        case Comparison():
            return changes(subject)
        case Piecewise():
            return pieces(subject)
        case Session():
            return plot(subject.verdict or subject.data)
        case xr.Dataset() if is_result(subject):
            return trace_matrix(subject)
        case xr.Dataset() if "parameter" in subject.attrs:
            return master_worker(subject) if set(SHARES) <= set(subject.data_vars) else measured(subject)
        case str() | os.PathLike() | list() | pd.DataFrame() | pd.Series() | Mapping() | xr.DataArray():
            return plot(measurements_in(subject))
    kind = type(subject)
    home = _OTHERS.get((kind.__module__.removeprefix("scalkit.").partition(".")[0], kind.__name__))
    if home is None:
        raise UsageError(f"{brief(subject)} cannot be plotted; what can be: {_KNOWN}.")
    module, function = home
    figure: go.Figure = getattr(importlib.import_module(f"scalkit.plots.{module}"), function)(subject)
    return figure
