"""Parameters as papermill passes them: a text for a list, and names that a notebook does not have."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalkit.bundled import bundled
from scalkit.errors import UsageError
from scalkit.reports.columns import open_columns
from scalkit.reports.inputs import listed, require_known_parameters
from scalkit.reports.page import open_page

CELLS = ["", "%config x", "runs: list = []\ntitle = ''", "# Parameters\nruns = '/a'\n"]


def test_a_text_is_one_path() -> None:
    run = str(bundled("data/quickstart"))
    page = open_page(run, rules="MPI_Reduce <= MPI_Allreduce", fail_on="undecided")  # type: ignore[arg-type]
    assert page.named == (run,)
    assert page.fail_on == ("undecided",)
    assert page.rules == ("MPI_Reduce <= MPI_Allreduce",)
    assert len(open_columns(run).pages) == 1  # type: ignore[arg-type]
    assert listed(Path("a")) == [Path("a")]
    assert listed(("a", "b")) == ["a", "b"]


def test_parameters_that_a_notebook_has_pass() -> None:
    require_known_parameters(CELLS)
    require_known_parameters([*CELLS, "other = 1"])
    require_known_parameters([])
    require_known_parameters(["# Parameters\nalone = 1"])


def test_an_unknown_parameter_is_named() -> None:
    with pytest.raises(UsageError, match=r"no parameter .titel.; did you mean .title."):
        require_known_parameters([*CELLS[:3], "# Parameters\ntitel = 'x'"])
