"""The notebook on the choice of an operation runs by itself and says what the store says."""

from __future__ import annotations

from pathlib import Path

import pytest

import scalkit as sk
from scalkit.lessons.which_operation import bundled_store, which_operation
from scalkit.reports import bundled
from scalkit.reports.kernel import execute


@pytest.mark.slow
def test_notebook(tmp_path: Path) -> None:
    done = execute(bundled("notebooks/which_operation.ipynb"), {}, tmp_path)
    outputs = [one for cell in done.cells if cell.cell_type == "code" for one in cell.outputs]
    assert [one.text for one in outputs if one.get("name") == "stderr"] == []
    shown = "\n".join(str(text) for one in outputs for text in one.get("data", {}).values())
    for sentence in which_operation(bundled_store()).sentences:
        assert sentence in shown
    assert "C to paste" in shown
    assert "StoreExplorer" in shown


def test_a_store_of_ones_own(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    for op, slower in (("MPI_Gather", 2.0), ("Gather_send_recv", 1.0)):
        for run in range(3):
            ds = sk.measurements([2, 4], [[slower * (1 + run / 100) * 1e-6] * 3] * 2, name=op)
            store.put(ds, machine="vm")
    found = which_operation(bundled_store(tmp_path / "s"))
    assert found.sentences == ("MPI_Gather: Gather_send_recv is the best everywhere.",)
    store.retract(store.suites(op="Gather_send_recv")["run_id"].iloc[0], "x")
    empty = sk.store.open(tmp_path / "e")
    assert str(which_operation(empty)) == "No operation was measured beside a substitute."
