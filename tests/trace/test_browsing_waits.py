"""What is chosen of results and what follows: sums by hand, folds, searches; pairs and traffic."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from scalkit.errors import DataError, UsageError
from scalkit.trace import TraceBuilder, analyse, read_result, write_result
from scalkit.trace.results.pairs import causes, pairs
from scalkit.trace.views.explorer import Browsing


def chain(folder: Path) -> xr.Dataset:
    """Return the waits of a trace of 3 locations, in which location k waits ``10 * (k + 1)`` ns for k + 1, the last for nobody.

    All get in the region ``solve``, and 8 bytes more each; before, the one that is waited for was in a region of its own.
    Location 0 sends 5 bytes to the last one, which waits 7 ns for them.
    """
    locations = 3
    trace = TraceBuilder(locations)
    begin = 100
    for k in range(locations):
        trace.enter(k, "late", 0)
        trace.leave(k, "late", begin - 10)
        trace.enter(k, "solve", begin - 10)
        after = begin + 10 * (k + 1)
        call = trace.call(k, "ARMCI_Get", begin, after + 5)
        trace.transfer(k, "get", call, (k + 1) % locations if k + 1 < locations else k, size=8 * (k + 1), blocking=True)
        trace.leave(k, "solve", after + 10)
        begin = after
    last = begin + 100
    trace.transfer(0, "send", trace.call(0, "MPI_Send", last + 7, last + 9), locations - 1, size=5, blocking=True)
    receive = trace.call(locations - 1, "MPI_Recv", last, last + 10)
    trace.transfer(locations - 1, "receive", receive, 0, size=5, blocking=True)
    return analyse(trace.write(folder))


@pytest.fixture
def ds(tmp_path: Path) -> xr.Dataset:
    return chain(tmp_path / "chain")


def path_of(browsing: Browsing, end: str) -> int:
    return next(k for k, name in enumerate(browsing.tree.names) if name.endswith(end))


def test_traffic_is_noted_and_survives_the_file(ds: xr.Dataset, tmp_path: Path) -> None:
    write_result(ds, tmp_path / "w.nc")
    assert read_result(tmp_path / "w.nc").identical(ds)
    columns = [ds[f"traffic_{name}"].values.tolist() for name in ("location", "peer", "operations", "bytes")]
    assert columns == [[0, 0, 1, 2], [1, 2, 2, 2], [1, 0, 1, 1], [8, 0, 16, 24]]
    assert ds["traffic_messages"].values.tolist() == [0, 1, 0, 0]
    assert ds["traffic_message_bytes"].values.tolist() == [0, 5, 0, 0]
    assert int(ds["traffic_bytes"].sum()) == int(ds["severity"].sel(metric="rma_bytes").sum())


def test_pairs_and_causes_are_sums(ds: xr.Dataset) -> None:
    every = np.arange(3)
    waits = pairs(ds, "waiting", ["wait_for_progress"])
    assert waits.matrix(every, every, 3, 3).tolist() == [[0, 10, 0], [0, 0, 20], [0, 0, 0]]
    assert waits.matrix(np.array([0, 0, -1]), np.array([-1, 0, 0]), 1, 1).tolist() == [[30]]
    both = pairs(ds, "waiting", ["wait_for_progress", "late_sender", "no such"])
    assert both.matrix(every, every, 3, 3).tolist() == [[0, 10, 0], [0, 0, 20], [7, 0, 0]]
    assert pairs(ds, "message_bytes").matrix(every, every, 3, 3).sum() == 5
    found = causes(ds, ["wait_for_progress"])
    names = ds["path_name"].values
    assert [(k, str(names[p]), v) for k, p, v in found.itertuples(index=False)] == [
        (2, "program/late", 20),
        (1, "program/late", 10),
    ]
    assert causes(ds, ["wait_for_progress"], waited=[0])["ns"].tolist() == [10]
    assert causes(ds, ["wait_for_progress"], caused=[0])["ns"].tolist() == []
    with pytest.raises(UsageError, match=r"what is 'noise'; it may be waiting, operations, bytes, messages, message_bytes\."):
        pairs(ds, "noise")


def test_it_begins_where_most_waiting_is(ds: xr.Dataset) -> None:
    browsing = Browsing(ds)
    assert browsing.metric == "wait_for_progress"
    assert browsing.tree.labels[browsing.paths[0]] == ("ARMCI_Get", "")
    assert browsing.by_location().tolist() == [10, 20, 0]
    spread = browsing.spread()
    assert spread.to_dict() == {0: 10, 1: 20, 2: 0}


def test_totals_of_every_metric_are_those_of_the_result(ds: xr.Dataset) -> None:
    browsing = Browsing(ds)
    for node in browsing.metrics:
        wanted = sum(int(ds["severity"].sel(metric=name).sum()) for name in node.members)
        assert browsing.total(node.name) == wanted, node.name
    assert browsing.total("waiting") == 37
    assert {one.name for one in browsing.metrics if one.parent == "waiting for messages"} == {"late_sender", "late_receiver"}


def test_a_folded_path_stands_for_all_below_it_and_choices_sum(ds: xr.Dataset) -> None:
    browsing = Browsing(ds)
    browsing.choose_metric("waiting")
    program, solve, get, receive = (path_of(browsing, end) for end in ("program", "solve", "ARMCI_Get", "MPI_Recv"))
    own, whole = browsing.by_path()
    assert [own[k] for k in (program, solve, get, receive)] == [0, 0, 30, 7]
    assert [whole[k] for k in (program, solve, get, receive)] == [37, 30, 30, 7]
    browsing.choose_paths([get, receive])
    assert browsing.by_location().tolist() == [10, 20, 7]
    browsing.fold(solve)
    assert browsing.paths == (receive, solve), "which stands for what was chosen below it"
    assert browsing.by_location().tolist() == [10, 20, 7]
    browsing.fold(solve)
    assert browsing.by_location().tolist() == [0, 0, 7], "unfolded it stands for itself"
    browsing.fold_all()
    assert [row.key for row in browsing.rows()] == [program, solve, receive], "the largest first, none without a value"
    browsing.unfold_all()
    rows = browsing.rows()
    assert [row.key for row in rows] == [program, solve, get, receive]
    assert [(row.level, row.is_open) for row in rows] == [(1, True), (2, True), (3, None), (2, None)]
    browsing.choose_paths([])
    assert browsing.paths == (program,)


def test_search_unfolds_what_is_above(ds: xr.Dataset) -> None:
    browsing = Browsing(ds)
    browsing.fold_all()
    assert browsing.search("armci GET") == 1
    assert [browsing.tree.labels[row.key][0] for row in browsing.rows()] == ["program", "solve", "ARMCI_Get"]
    assert browsing.search("nothing like it") == 0
    assert browsing.rows() == []
    assert browsing.search(" ") == len(browsing.tree)


def test_chosen_locations_are_spread(ds: xr.Dataset) -> None:
    browsing = Browsing(ds)
    browsing.choose_locations([1])
    assert browsing.spread().mean() == 10, "one alone is not spread: all are"
    browsing.choose_locations([0, 1])
    assert browsing.spread().to_dict() == {0: 10, 1: 20}


def test_selections_are_plain_and_refused_as_a_whole(ds: xr.Dataset) -> None:
    browsing = Browsing(ds)
    browsing.select({"metric": "time", "locations": [2, 2, 0]})
    before = browsing.selection()
    assert before == {"metric": "time", "paths": [path_of(browsing, "ARMCI_Get")], "locations": [2, 0], "causers": []}
    for wanted, said in (
        ({"metric": "tme"}, r"there is no metric 'tme'; there are time, waiting, "),
        ({"metric": "visits", "paths": [99]}, r"there is no call path 99; there are 0 to \d+\."),
        ({"metric": "visits", "locations": [3]}, r"there is no process 3; there are 0 to 2\."),
        ({"metric": "visits", "causers": [-1]}, r"there is no process -1; there are 0 to 2\."),
        ({"metric": "visits", "locations": "x"}, r"locations of a selection are 'x'; they may be a list of numbers\.$"),
        ({"metric": "visits", "paths": 3}, r"paths of a selection are 3; they may be a list of numbers\.$"),
        ({"process": 1}, r"a selection has no 'process'; it may have metric, paths, locations, causers\."),
    ):
        with pytest.raises(UsageError, match=f"^{said}"):
            browsing.select(wanted)
        assert browsing.selection() == before


def test_what_is_no_result_is_refused(ds: xr.Dataset, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"shows what scalkit\.trace\.analyse returns, .*, got int\."):
        Browsing(3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"got another Dataset\."):
        Browsing(ds.drop_vars("parent"))
    with pytest.raises(UsageError, match=r"is a folder; name the file that 'scalkit trace analyse .* --out FILE' writes\."):
        Browsing(tmp_path)
    with pytest.raises(DataError, match=r"cannot read .*nothing\.nc as an analysis"):
        Browsing(tmp_path / "nothing.nc")
    with pytest.raises(DataError, match=r"call path 0 \(program\) stands before the one above it; analyse the trace anew\."):
        Browsing(ds.assign(parent=("path", np.arange(ds.sizes["path"]))))


def test_nobody_waits(tmp_path: Path) -> None:
    trace = TraceBuilder(1)
    trace.call(0, "MPI_Win_flush", 0, 10)
    browsing = Browsing(analyse(trace.write(tmp_path / "t")))
    assert browsing.metric == "time"
    assert browsing.by_location().tolist() == [10]
    assert browsing.pairs().matrix(np.zeros(1, int), np.zeros(1, int), 1, 1).tolist() == [[0]]
