"""The content of a report on performance models: measurements over processes and message sizes, judged by the best growths."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from scalkit import measure
from scalkit.bundled import bundled
from scalkit.perfmodels.collectives.study import EXPECTED
from scalkit.reports.inputs import named_parameters, to_plain
from scalkit.reports.page import Page, open_page
from scalkit.reports.template import Template, listed


def models_template() -> Template:
    """Return the notebook of reports on performance models, ``94_models.ipynb``."""
    return Template("models", bundled("notebooks/94_models.ipynb"))


def bundled_models(what: Literal["runs", "message"]) -> Any:
    """Return where the bundled simulation over processes and sizes is, or the model of a message of the same machine."""
    if what == "message":
        return str(bundled("data/models/simulated-juropa.csv"))
    return [str(bundled("data/models/simulated-juropa-trees.nc"))]


def open_models(runs: Sequence[str], expectations: str | Mapping[str, Any] = "", **options: Any) -> Page:
    """Return the content of a report, see `scalkit.reports.page.open_page`.

    `runs`: over processes and message sizes.
    `expectations`: by default the growth of the best known algorithm for each function.
    `**options`: of `open_page`.
    """
    if not expectations:
        data = measure.read(listed(runs), parameter=named_parameters(options.get("parameter", "")))
        there = [str(name) for name in data["function"].values]
        plain = to_plain({name: EXPECTED[name] for name in there if name in EXPECTED})
        assert plain is not None
        expectations = plain
    return open_page(runs, expectations, **options)
