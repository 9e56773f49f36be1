"""The notebook on guidelines runs by itself, says what the measurements say, and sees what is planted."""

from __future__ import annotations

from pathlib import Path

import pytest
from csv_files import csv_text

from scalkit.guidelines import Assessment, assess, guidelines
from scalkit.guidelines.experiments import measured
from scalkit.guidelines.guideline import CATALOGUES
from scalkit.guidelines.tables import read_tables
from scalkit.reports import bundled
from scalkit.reports.kernel import execute


@pytest.fixture(scope="module")
def campaigns() -> dict[str, Assessment]:
    """Return the assessments of the bundled campaigns, by their folders."""
    names = ("classic", "neighbourhood", "real")
    return {name: assess(read_tables(bundled(f"data/guidelines/{name}"))) for name in names}


def shown(source: str, folder: Path) -> str:
    """Return the outputs of the notebook, which warns of nothing."""
    done = execute(bundled("notebooks/guidelines.ipynb"), {"source": source}, folder)
    outputs = [one for cell in done.cells if cell.cell_type == "code" for one in cell.outputs]
    assert [one.text for one in outputs if one.get("name") == "stderr"] == []
    texts = [one.text for one in outputs if one.output_type == "stream"]
    return "\n".join([*texts, *(str(text) for one in outputs for text in one.get("data", {}).values())])


@pytest.mark.slow
def test_notebook(tmp_path: Path, campaigns: dict[str, Assessment]) -> None:
    text = shown("", tmp_path)
    for assessment in campaigns.values():
        assert assessment.headline in text
    assert "54 of 304 tests violated (GL1, GL4, GL5, GL9, GL11)" in text, "what is planted is found"
    assert next(iter(campaigns.values())).sentence(int(next(iter(campaigns.values())).violations.index[0])) in text


@pytest.mark.slow
def test_measurements_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(csv_text(measured(read_tables(bundled("data/guidelines/real/mpich")))), encoding="utf-8")
    text = shown(str(file), tmp_path)
    assert "your measurements" in text
    assert "Call MPI_Dist_graph_create_adjacent instead of MPI_Cart_create" in text


@pytest.mark.parametrize("name", ["classic", "neighbourhood", "real"])
def test_the_bundled_campaigns_were_measured_with_three_libraries(name: str, campaigns: dict[str, Assessment]) -> None:
    data = campaigns[name].data
    assert len(data.levels["library"]) == 3
    assert not any("simulated" in caveat for caveat in data.caveats)
    is_virtual = name != "real"
    assert data.exact == is_virtual
    assert not is_virtual or campaigns[name].columns["decides"].all()


def test_every_bundled_guideline_is_measured_in_virtual_time(campaigns: dict[str, Assessment]) -> None:
    tested = {str(one.guidelines[number]) for one in campaigns.values() if one.data.exact for number in set(one.which.tolist())}
    assert tested == {str(one) for one in guidelines(CATALOGUES)}
