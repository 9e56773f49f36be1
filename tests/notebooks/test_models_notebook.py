"""The notebook on models of MPI runs by itself on a real kernel, says what it should, and warns of nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from lessons.models import PENCILS, PLANES, choice_of, crossings, fft_sliders, transforms
from scalkit.perfmodels import PointToPoint, bluegene_p
from scalkit.reports import bundled
from scalkit.reports.kernel import execute

MESSAGE = PointToPoint(bluegene_p()["point-to-point"])
SAYS = [
    "allreduce, rabenseifner",
    "named right",
    "MPI_Bcast takes O(S log P)",
    "90 % within",
    "MPI_Allreduce takes O(S + log P)",
    "At N = 512, P = 256: planes",
    "linear (15 of 36)",
    "Cannot tell whether MPI_Bcast takes",
]


@pytest.mark.slow
def test_the_notebook_runs(tmp_path: Path) -> None:
    done = execute(bundled("notebooks/models_of_mpi.ipynb"), {}, tmp_path)
    outputs = [one for cell in done.cells if cell.cell_type == "code" for one in cell.outputs]
    assert [one.text for one in outputs if one.get("name") == "stderr"] == []
    shown = "\n".join(str(text) for one in outputs for text in one.get("data", {}).values())
    assert [text for text in SAYS if text not in shown] == []
    plots = [one for one in outputs if "application/vnd.plotly.v1+json" in one.get("data", {})]
    assert len(plots) >= 6


def test_planes_win_until_there_are_no_more_of_them() -> None:
    models = transforms(MESSAGE, 512)
    assert crossings(models, 512, [4, 64, 256, 1024, 4096]) == ["planes from P = 4", "pencils from P = 1024"]
    assert choice_of(models, {"N": 512, "P": 256}).startswith("At N = 512, P = 256: planes ")
    assert choice_of(models, {"N": 512, "P": 1024}).endswith("; planes impossible.")


def test_the_composition_is_what_it_says() -> None:
    """Two transposes among sqrt(P), each process with N^3/P numbers of 16 bytes in sqrt(P) blocks."""
    models = transforms(MESSAGE, 256)
    N, P = 256, 64
    block = 16 * N**3 / P
    assert models[PLANES](N=N, P=P) == pytest.approx((P - 1) * MESSAGE(S=block / P))
    assert models[PENCILS](N=N, P=P) == pytest.approx(2 * 7 * MESSAGE(S=block / 8))


def test_sliders_say_what_they_show() -> None:
    from scalkit.errors import UsageError

    sliders = fft_sliders(MESSAGE, [64, 256, 1024], [4, 64, 1024], N=256, P=64)
    assert sliders.said.startswith("At N = 256, P = 64: planes ")
    before = sliders.view.figure
    sliders.sliders["N"].value = 64
    assert sliders.said.startswith("At N = 64, P = 64: ")
    assert sliders.view.figure != before
    assert sliders.view.figure["layout"]["shapes"][0]["x0"] == 64
    with pytest.raises(UsageError, match="N cannot start at 5; choose one of its values"):
        fft_sliders(MESSAGE, [64, 256], [4, 64], N=5)
