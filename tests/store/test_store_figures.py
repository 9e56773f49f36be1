"""Figures 3 and 4 of the paper: rivals over processes and over the size, by the time of all, of root, and of every process."""

from pathlib import Path

import numpy as np
import pytest
from store_paper import gathers

import scalkit as sk
from scalkit.cli import main
from scalkit.errors import DataError
from scalkit.plots.store.suites import joint

RIVALS = ["MPI_Gather", "Gather_send_recv", "Gather_isend_irecv_waitall"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> sk.store.Store:
    return gathers(tmp_path_factory.mktemp("paper") / "results")


def test_rivals_over_the_processes_at_256_bytes(store: sk.store.Store) -> None:
    """Figure 3, left."""
    found = store.compare([f"op={op},msg_By=256" for op in RIVALS[:2]], where={"pattern": "collective"})
    assert {curve.x_name for curve in found.curves} == {"p"}
    assert found.curves[0].x.tolist() == [2, 4, 8]
    assert [round(one.ratio, 1) for one in found.ratios] == [1.5] * 3


def test_times_of_root_over_the_size(store: sk.store.Store) -> None:
    """Figure 3, right: with 8 processes root alone is done before the others are."""
    whole = store.compare(RIVALS, where={"p": 8})
    found = store.compare(RIVALS, where={"p": 8}, statistic="root")
    assert [curve.x.tolist() for curve in found.curves] == [[64, 256, 1024]] * 3
    for all_of_it, root in zip(whole.curves, found.curves, strict=True):
        np.testing.assert_allclose(root.values, all_of_it.values / 2, rtol=1e-3)
    assert len(found.ratios) == 6
    picture = joint(found)
    assert len(picture.data) == 3
    assert picture.layout.yaxis.title.text.endswith(" of root alone")
    assert " of root alone over message size" in picture.layout.meta["alt"]


def test_times_of_every_process_side_by_side(store: sk.store.Store) -> None:
    """Figure 4: a point for each process, a line for each implementation."""
    found = store.compare(RIVALS, where={"p": 8, "msg_By": 1024}, statistic="processes")
    assert [curve.x.tolist() for curve in found.curves] == [list(range(8))] * 3
    first = found.curves[0]
    assert first.x_name == "process"
    assert first.values.shape == (8, 5)
    assert (np.diff(first.y) > 0).all(), "the last process was made the slowest"
    assert first.fixed == "p = 8, 1024 B"
    picture = joint(found)
    assert [len(line.x) for line in picture.data] == [8] * 3
    assert picture.layout.xaxis.type == "linear"
    assert "of each process over process" in picture.layout.meta["alt"]
    assert "process,7," in found.to_csv()


def test_what_cannot_be_drawn_of_processes(store: sk.store.Store) -> None:
    with pytest.raises(DataError, match=r"^'op=MPI_Gather' has 9 settings; times of processes are of one: add p=2,msg_By=64 to"):
        store.compare(["op=MPI_Gather"], statistic="processes")
    said = r"^the times of root and of the processes of 'op=MPI_Barrier' were not kept; set per_process in a campaign file\.$"
    for statistic in ("root", "processes"):
        with pytest.raises(DataError, match=said):
            store.compare(["op=MPI_Barrier"], statistic=statistic)


def test_the_command_saves_them(store: sk.store.Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "root.csv"
    asked = ["store", "compare", str(store.path), *RIVALS, "--where", "p=8", "--statistic", "root", "--out", str(out)]
    assert main(asked) == 0
    assert "times as much as MPI_Gather" in capsys.readouterr().out
    assert out.read_text().count("\n") == 10
