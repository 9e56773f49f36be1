"""The notebook on the choice of an operation runs by itself and says what the store says."""

from __future__ import annotations

from pathlib import Path

import pytest

import scalkit as sk
from scalkit.reports import bundled
from scalkit.reports.kernel import execute


def shown(source: str, folder: Path) -> str:
    """Return the outputs of the notebook, which warns of nothing."""
    done = execute(bundled("notebooks/which_operation.ipynb"), {"source": source}, folder)
    outputs = [one for cell in done.cells if cell.cell_type == "code" for one in cell.outputs]
    assert [one.text for one in outputs if one.get("name") == "stderr"] == []
    return "\n".join(str(text) for one in outputs for text in one.get("data", {}).values())


@pytest.mark.slow
def test_notebook(tmp_path: Path) -> None:
    text = shown("", tmp_path)
    store = sk.store.open(bundled("data/store"), readonly=True)
    for best in store.advise("MPI_Gather").portable:
        assert f"<td>{best.choice}</td>" in text
    assert "C to paste" in text


@pytest.mark.slow
def test_a_store_of_ones_own(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    for op, slower in (("MPI_Gather", 2.0), ("Gather_send_recv", 1.0)):
        for run in range(3):
            ds = sk.measurements([2, 4], [[slower * (1 + run / 100) * 1e-6] * 3] * 2, name=op)
            store.put(ds, machine="vm")
    assert "<td>MPI_Gather</td>\n      <td>real</td>\n      <td>Gather_send_recv</td>\n      <td>1.0</td>" in shown(
        str(tmp_path / "s"), tmp_path
    )
