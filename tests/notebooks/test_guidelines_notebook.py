"""The notebook on guidelines runs by itself, says what the measurements say, and sees what is planted."""

from __future__ import annotations

import ast
from pathlib import Path

import nbformat
import pytest

from scalkit.guidelines import CATALOGUES, assess, guidelines, measured
from scalkit.guidelines.tables import csv_text, example_table
from scalkit.lessons.guidelines_here import Finding, Findings, guideline_findings
from scalkit.reports import bundled
from scalkit.reports.kernel import execute

LOGIC = (ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.For, ast.While, ast.If, ast.comprehension, ast.With, ast.Try)


def test_the_notebook_holds_calls_and_no_logic() -> None:
    cells = nbformat.read(bundled("notebooks/guidelines.ipynb"), 4).cells
    sources = [cell.source for cell in cells if cell.cell_type == "code"]
    assert [type(n).__name__ for source in sources for n in ast.walk(ast.parse(source)) if isinstance(n, LOGIC)] == []


@pytest.fixture(scope="module")
def bundled_findings() -> Findings:
    return guideline_findings()


@pytest.mark.slow
def test_notebook(tmp_path: Path, bundled_findings: Findings) -> None:
    done = execute(bundled("notebooks/guidelines.ipynb"), {}, tmp_path)
    outputs = [one for cell in done.cells if cell.cell_type == "code" for one in cell.outputs]
    assert [one.text for one in outputs if one.get("name") == "stderr"] == []
    shown = "\n".join(str(text) for one in outputs for text in one.get("data", {}).values())
    for finding in bundled_findings.of:
        for sentence in finding.sentences:
            assert sentence.replace("<=", "&lt;=") in shown
    control = assess(example_table(), "neighbourhood")
    assert control.headline.startswith("32 of ")
    assert control.headline in shown
    assert "GuidelineBrowser" in shown


def test_findings_say_what_is_violated_and_what_is_not(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(csv_text(measured(example_table())), encoding="utf-8")
    (mine,) = guideline_findings(file).of
    assert mine.is_simulated
    assert mine.sentences[0].startswith("Simulated: ")
    gl4 = next(one for one in mine.sentences if one.startswith("GL4: "))
    assert gl4.startswith("GL4: MPI_Neighbor_allgather <= MPI_Neighbor_alltoall: 16 violations, the largest by 1.1")
    assert any("Call MPI_Neighbor_alltoall instead of MPI_Neighbor_allgather" in one for one in mine.advice)
    fine = tmp_path / "fine.csv"
    rows = [f"MPI_{name},2,{run},{1 + run / 100},True" for name in ("Gather", "Allgather") for run in range(12)]
    fine.write_text("operation,p,run,time,oversubscribed\n" + "\n".join(rows) + "\n", encoding="utf-8")
    (calm,) = guideline_findings(fine).of
    assert calm.sentences == (
        "Measured: 2 experiments in 12 runs.",
        "1 of 1 test had more processes than cores, or other programs beside them: they tell of the scheduler as much as of the "
        "library, and do not decide.",
        "Among those that do not, no guideline is violated: 1 compliant.",
    )
    assert calm.advice == ("Nothing has to be replaced.",)


def test_tables_have_a_column_for_each_level() -> None:
    table = {"operation": ["a", "b"] * 2, "library": ["<x>", "<x>", "y", "y"], "run": [0] * 4, "time": [1.0] * 4}
    shown = Findings((Finding("mine", "", assess(table, "a <= b"), {}),)).by("library")._repr_html_()
    assert '<th scope="col">&lt;x&gt;</th><th scope="col">y</th>' in shown
    assert shown.count("0/1 (0/1)") == 2
    without = Findings((Finding("mine", "", assess(table, ["a <= b"]), {}),)).by("colour")._repr_html_()
    assert "0/2 (0/2)" in without


@pytest.mark.parametrize("place", range(3))
def test_what_comes_with_scalkit_was_measured_with_three_libraries(place: int, bundled_findings: Findings) -> None:
    found = bundled_findings.of[place]
    assert not found.is_simulated
    assert len(found.found.data.levels["library"]) == 3
    assert found.facts["mpi_library"].count(";") == 2
    is_virtual = "virtual time" in found.name
    assert found.found.data.exact == is_virtual
    assert found.sentences[0].startswith("In virtual time on cluster (L 1.00 us, o 300 ns, " if is_virtual else "Measured: ")
    assert not is_virtual or found.found.columns["decides"].all()


def test_every_bundled_guideline_is_measured_in_virtual_time(bundled_findings: Findings) -> None:
    tested = {
        str(one.found.guidelines[number])
        for one in bundled_findings.of
        if one.found.data.exact
        for number in set(one.found.which.tolist())
    }
    assert tested == {str(one) for one in guidelines(CATALOGUES)}
