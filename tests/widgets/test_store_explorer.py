"""The explorer of a store: what is chosen decides what is shown, whatever the page asks for."""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from test_explorer import bare, press

import scalkit as sk
from scalkit.errors import StoreError, UsageError
from scalkit.store.filed.dataset import runs_of
from scalkit.store.runs.content import encoded
from scalkit.store.views.explorer import Browsing
from scalkit.widgets import StoreExplorer

Wire = list[tuple[str, str, dict[str, Any]]]
DATA = Path(__file__).resolve().parents[2] / "data"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explored") / "results"
    store = sk.store.open(path)
    for machine in ("a", f"b {HOSTILE}"):
        for op, slower in (("MPI_Gather", 1.0), ("Gather_send_recv", 1.5), ("MPI_Comm_dup", 3.0)):
            for run in range(3):
                y = [[slower * (1 + run / 100) * k * 1e-6] * 3 for k in (1, 2, 4)]
                ds = sk.measurements([2, 4, 8], y, name=op)
                ds = ds.assign_attrs(started=f"2019-03-1{run}T00:00:00Z")
                for one in runs_of(ds, {"machine": machine, "site": "lab"}, {}):  # put refuses such names
                    store.folder.add(one.run_id, encoded(one))
    return path


@pytest.fixture
def explorer(wire: Wire, folder: Path) -> StoreExplorer:
    return StoreExplorer(folder)


def test_it_begins_with_the_newest_platform_and_an_operation_that_has_substitutes(explorer: StoreExplorer) -> None:
    assert len(explorer.browsing.run_ids) == 9
    assert [key.op for key in explorer.browsing.chosen] == ["MPI_Gather"]
    assert "18 runs, 9 chosen" in bare(explorer.runs)
    assert len(explorer.suites.order) == 3
    assert explorer.picture.alt.startswith("run time over p, a line each: MPI_Gather")


def test_runs_suites_and_plot_are_linked(explorer: StoreExplorer) -> None:
    assert "<img" not in str([explorer.runs.row0, explorer.suites.row0, explorer.runs.pieces, explorer.picture.figure["data"]])
    press(explorer.suites, "filter", text="send_recv")
    press(explorer.suites, "check", key="0")
    assert [key.op for key in explorer.browsing.chosen] == ["MPI_Gather", "Gather_send_recv"]
    assert "Gather_send_recv takes 1.5 times as much as MPI_Gather" in bare(explorer.downloads)
    press(explorer.runs, "none")
    assert explorer.browsing.chosen == ()
    assert (explorer.suites.order, explorer.picture.layout.display) == ([], "none")
    assert "Choose a suite." in bare(explorer.downloads)
    press(explorer.runs, "check", key="0")
    press(explorer.suites, "filter", text="")
    assert len(explorer.browsing.run_ids) == len(explorer.suites.order) == 1
    for key in ("-1", "999", "x", "²", ""):
        press(explorer.runs, "check", key=key)
        press(explorer.suites, "check", key=key)
    assert len(explorer.browsing.run_ids) == 1


def test_filters(explorer: StoreExplorer) -> None:
    press(explorer.runs, "filter", text="machine=a")
    assert len(explorer.runs.order) == 9
    press(explorer.runs, "filter", text="2019-03-12 LAB")
    assert len(explorer.runs.order) == 6
    press(explorer.runs, "only-machine", key="a")
    assert len(explorer.runs.order) == 3
    press(explorer.runs, "filter", text="colour=red")
    assert "to choose by; known are run, run_id" in bare(explorer.runs)
    assert len(explorer.runs.order) == 3
    press(explorer.runs, "filter", text='"open')
    assert "has an open quote; close it." in bare(explorer.runs)
    press(explorer.runs, "only-machine", key="*")
    press(explorer.runs, "sort", key="Started")
    started = [explorer.runs.trait_values()[f"row{k}"]["cells"][1] for k in explorer.runs.order]
    assert started == sorted(started)
    press(explorer.runs, "filter", text="nothing at all")
    assert explorer.runs.order == []


def test_suites_are_found_by_words_and_values(wire: Wire, tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    points = [[p, size] for p in (2, 4, 22) for size in (8, 512)]
    for op in ("MPI_Gather", "Gather_send_recv"):
        ds = sk.measurements(points, [1e-6 * k for k in range(1, 7)], parameter=["p", "S"], name=op)
        store.put(ds, machine="vm with 2 cores")
    explorer = StoreExplorer(store)
    for text, found in (("gather p=2", 2), ("gather p = 2", 2), ("send p=*", 3), ("op=mpi_*", 3), ("2", 6), ("p=3", 0)):
        press(explorer.suites, "filter", text=text)
        assert len(explorer.suites.order) == found, text
    press(explorer.suites, "filter", text="p=4")
    press(explorer.suites, "none")
    press(explorer.suites, "check", key="0")
    press(explorer.suites, "filter", text="p=2 mpi")
    press(explorer.suites, "check", key="0")
    assert "MPI_Gather, p = 2 takes 0.333 to 0.5 times as much as MPI_Gather, p = 4" in bare(explorer.downloads)


def test_runs_of_a_platform_can_be_taken_apart(wire: Wire, tmp_path: Path) -> None:
    """Different suites of two runs of one platform, as before and after a switch, in one plot."""
    store = sk.store.open(tmp_path / "s")
    tree = {"/a": ("MPI_Gather", 1.0), "/b": ("Gather_send_recv", 2.0)}
    for date, faster in (("2019-03-10", 1.0), ("2019-03-12", 0.5)):
        parts = [
            sk.measurements([2, 4, 8], [slower * faster * p * 1e-6 for p in (2, 4, 8)], name=op) for op, slower in tree.values()
        ]
        both = xr.concat(parts, "function").assign_attrs(parts[0].attrs | {"started": f"{date}T08:00:00Z", "title": date})
        store.put(both, machine="vm")
    explorer = StoreExplorer(store)
    assert [curve.fixed for curve in explorer._comparison.curves] == [""]
    assert explorer.suites.row0["cells"][3] == '<span class="num">2</span>'
    press(explorer.suites, "by", key="run")
    assert len(explorer.suites.order) == 4
    assert [key.op for key in explorer.browsing.chosen] == ["MPI_Gather"] * 2
    press(explorer.suites, "filter", text="send_recv 2019-03-10")
    press(explorer.suites, "check", key="0")
    press(explorer.suites, "filter", text="mpi_gather 2019-03-10 root=")
    press(explorer.suites, "check", key="0")
    after, before = store.runs()["run_id"]
    labels = [f"MPI_Gather, run {after[:8]}, 2019-03-12 08:00", f"Gather_send_recv, run {before[:8]}, 2019-03-10 08:00"]
    assert [curve.label for curve in explorer._comparison.curves] == labels
    assert "takes 4 times as much as MPI_Gather, run" in bare(explorer.downloads)
    press(explorer.suites, "by", key="campaign")  # what no campaign has measured is by itself, too
    assert [key.group for key in explorer.browsing.chosen] == [after, before]
    press(explorer.suites, "by", key="platform")
    assert [(key.op, key.group) for key in explorer.browsing.chosen] == [("MPI_Gather", ""), ("Gather_send_recv", "")]
    press(explorer.suites, "by", key="day")
    assert "runs cannot be grouped by &#x27;day&#x27;; choose from platform, campaign, run." in bare(explorer.suites)


def test_campaigns_can_be_taken_apart(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    store.put(DATA / "quickstart", machine="vm")
    store.put(DATA / "simulated" / "daint", machine="vm")
    browsing = Browsing(store)
    browsing.choose_runs(browsing.all_runs["run_id"])
    browsing.group_by("campaign")
    gathers = [key for key in browsing.choices() if key.op == "MPI_Bcast" and key.metric == "time"]
    campaigns = {key.group: browsing.runs_of(key) for key in gathers}
    assert {group: len(runs) for group, runs in campaigns.items()} == {
        group: (store.runs()["campaign"] == group).sum() for group in campaigns
    }
    assert all(browsing.runs_words(key).startswith(f"campaign {key.group}, 20") for key in gathers)


def test_it_starts_without_what_it_does_not_need(folder: Path) -> None:
    code = (
        "import sys; from scalkit.widgets import StoreExplorer; StoreExplorer(sys.argv[1]);"
        "print(sorted({'xarray', 'scipy', 'scalkit.session', 'scalkit.fit', 'scalkit.trace'} & set(sys.modules)))"
    )
    for _ in range(2):  # the first time makes the index, for which repetitions are summed up
        done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_store_is_made_where_none_is(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("x")
    for name in ("empty", "other", "none"):
        expected = rf"^there is no store at '.*{name}'; name the folder that 'scalkit store put' made, or a zip of it\.$"
        with pytest.raises(StoreError, match=expected):
            StoreExplorer(tmp_path / name)
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["empty", "notes.txt", "other"]


def test_downloads(explorer: StoreExplorer, wire: Wire) -> None:
    press(explorer.downloads, "save", key="csv")
    (saved,) = [data["content"]["saved"] for _, _, data in wire if "saved" in data.get("content", {})]
    assert saved["name"] == "comparison.csv"
    assert base64.b64decode(saved["base64"]).startswith(b"label,op,platform,")
    press(explorer.downloads, "save", key="exe")
    assert sum("saved" in data.get("content", {}) for _, _, data in wire) == 1


@pytest.mark.slow
def test_report_of_a_chosen_run(explorer: StoreExplorer, wire: Wire) -> None:
    run_id = explorer.browsing.run_ids[0]
    press(explorer.reports, "report", run="not chosen")
    assert "choose a run first" in bare(explorer.reports)
    press(explorer.reports, "report", run=run_id)
    assert explorer.reports.is_running
    assert "Drawing every suite" in bare(explorer.reports)
    press(explorer.reports, "report", run=run_id)
    assert "a report is being written; wait for the end, or cancel it." in bare(explorer.reports)
    assert explorer.reports.wait()
    (saved,) = [data["content"]["saved"] for _, _, data in wire if "saved" in data.get("content", {})]
    assert saved["name"] == f"run-{run_id[:12]}.html"
    page = base64.b64decode(saved["base64"]).decode()
    assert "Result data base: one run" in page
    assert run_id in page
    (explorer.store.folder.runs / f"{run_id}.parquet").rename(explorer.store.path / "elsewhere")
    try:
        press(explorer.reports, "report", run=run_id)
        assert explorer.reports.wait()
        assert "no report was written: scalkit store: there is no run" in bare(explorer.reports)
    finally:
        (explorer.store.path / "elsewhere").rename(explorer.store.folder.runs / f"{run_id}.parquet")
    press(explorer.runs, "none")
    assert "report" not in bare(explorer.reports).lower()


def test_what_cannot_be_one_picture_is_said(wire: Wire, tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    store.put(sk.measurements([2, 4], [1e-6, 2e-6], name="f"), machine="a")
    store.put(sk.measurements([2, 4], [8.0, 16.0], name="f", metric="object_memory"), machine="a")
    explorer = StoreExplorer(store)
    press(explorer.suites, "check", key="1")
    assert "choose curves that have the same." in bare(explorer.downloads)
    assert explorer.picture.layout.display == "none"
    press(explorer.suites, "none")
    assert "choose curves" not in bare(explorer.downloads)


def test_a_zip_a_folder_that_cannot_be_written_and_an_empty_store(wire: Wire, folder: Path, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "s"), "zip", folder)
    zipped = StoreExplorer(archive)
    assert zipped.store.readonly
    assert len(zipped.browsing.all_runs) == 18
    readonly = StoreExplorer(sk.store.open(folder, readonly=True))
    assert readonly.picture.alt == zipped.picture.alt
    empty = StoreExplorer(sk.store.open(tmp_path / "empty"))
    assert (empty.runs.order, empty.suites.order, empty.browsing.comparison()) == ([], [], None)
    with pytest.raises(UsageError, match=r"an explorer shows a store, or its folder or zip, got int\."):
        StoreExplorer(3)  # type: ignore[arg-type]


def test_without_a_page_it_is_a_table(explorer: StoreExplorer) -> None:
    assert "18 runs" in explorer._fallback_text()
    assert "&lt;img" in explorer._fallback_html()
    assert "<img" not in explorer._fallback_html()


def test_a_choice_survives_where_the_runs_have_it(folder: Path) -> None:
    browsing = Browsing(sk.store.open(folder))
    browsing.begin()
    of_gather = [one for one in browsing.all_runs["run_id"] if "MPI_Gather" in set(browsing.store.suites(one)["op"])]
    browsing.choose_runs(of_gather)
    assert [key.op for key in browsing.chosen] == ["MPI_Gather"]
    browsing.choose_runs(set(browsing.all_runs["run_id"]) - set(of_gather))
    assert browsing.chosen == ()
