"""What is published: a zip that is a store, says what it is, and can be checked; a page without server and markup of others."""

from __future__ import annotations

import hashlib
import json
import zipfile
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import scalkit as sk
from scalkit.cli import main
from scalkit.errors import DataError, ReportError, StoreError, UsageError
from scalkit.plots.store.site import page, write_page
from scalkit.store.filed.dataset import runs_of
from scalkit.store.runs.content import encoded

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> sk.store.Store:
    store = sk.store.open(tmp_path_factory.mktemp("published") / "results")
    for place, op in enumerate(("MPI_Gather", "Gather_send_recv")):
        for run in range(3):
            y = [[(1 + place + 0.01 * run) * k * 1e-6] * 3 for k in (1, 2, 4)]
            ds = sk.measurements([2, 4, 8], y, name=op).assign_attrs(title=f"r{run}{op}")
            store.put(ds, machine="vm", site="lab", licence="CC-BY-4.0", contributor="A. Nonymous")
    return store


def test_the_bundle_is_a_store_and_says_what_it_is(store: sk.store.Store, tmp_path: Path) -> None:
    done = store.publish(tmp_path / "b.zip", title="Gathers | of # us", page=page(store))
    assert (done.runs, done.size) == (6, (tmp_path / "b.zip").stat().st_size)
    assert done.sha256 == hashlib.sha256((tmp_path / "b.zip").read_bytes()).hexdigest()
    again = sk.store.open(tmp_path / "b.zip")
    assert set(again.runs()["run_id"]) == set(store.runs()["run_id"])
    assert sk.store.validate(tmp_path / "b.zip").ok
    with zipfile.ZipFile(tmp_path / "b.zip") as made:
        content = {name: made.read(name) for name in made.namelist()}
    assert len(content) == done.files
    sums = dict(line.split("  ")[::-1] for line in content["sha256sums.txt"].decode().splitlines())
    assert set(sums) == set(content) - {"sha256sums.txt"}
    assert all(hashlib.sha256(content[name]).hexdigest() == sum_ for name, sum_ in sums.items())
    readme = content["README.md"].decode()
    assert readme.startswith("# Gathers \\| of \\# us\n")
    assert "\n6 runs, measured, not simulated, of 1 platform (" in readme
    citation = content["CITATION.cff"].decode()
    assert "A. Nonymous" in citation
    assert 'license: "CC-BY-4.0"' in citation


def test_retractions_travel_and_hide(store: sk.store.Store, tmp_path: Path) -> None:
    mine = sk.store.open(tmp_path / "mine")
    mine.merge(store.path)
    gone = mine.folder.run_ids()[0]
    mine.retract(gone, "wrong clock")
    mine.publish(tmp_path / "b.zip")
    again = sk.store.open(tmp_path / "b.zip")
    assert gone not in set(again.runs()["run_id"])
    assert again.retractions()[0]["reason"] == "wrong clock"
    with zipfile.ZipFile(tmp_path / "b.zip") as made:
        readme = made.read("README.md").decode()
    assert "\n1 further run was retracted or flagged: " in readme


def test_a_zip_is_known_by_its_name(store: sk.store.Store, tmp_path: Path) -> None:
    store.publish(tmp_path / "first.zip")
    again = sk.store.open(tmp_path / "first.zip")
    assert repr(again) == f"<scalkit Store '{tmp_path / 'first.zip'}', 6 runs, read only>"
    with pytest.raises(StoreError, match=r"first\.zip' is a zip, which is only read; 'scalkit store merge FOLDER "):
        again.put("runs/here")
    assert "<title>Results: first</title>" in page(again)
    again.publish(tmp_path / "second.zip")
    with zipfile.ZipFile(tmp_path / "second.zip") as made:
        texts = {name: made.read(name).decode() for name in made.namelist() if not name.endswith(".parquet")}
    assert texts["README.md"].startswith("# Results of first\n")
    assert 'sk.store.open("second.zip")' in texts["README.md"]
    assert not any("scalkit-store-" in text.replace("scalkit-store-json", "") for text in texts.values())


def test_what_cannot_be_published(store: sk.store.Store, tmp_path: Path) -> None:
    empty = sk.store.open(tmp_path / "empty")
    empty.folder.prepare()
    with pytest.raises(DataError, match="has no runs; there is nothing to publish"):
        empty.publish(tmp_path / "b.zip")
    with pytest.raises(StoreError, match=r"cannot write '.*b\.zip': No such file"):
        store.publish(tmp_path / "none" / "b.zip")
    with pytest.raises(UsageError, match=r"^a bundle is a zip, and '.*b\.txt' has another ending; let it end with \.zip\.$"):
        store.publish(tmp_path / "b.txt")
    assert main(["store", "publish", str(store.path), "--out", str(tmp_path / "b.txt")]) == 2
    mixed = sk.store.open(tmp_path / "mixed")
    mixed.merge(store.path)
    mixed.put(sk.measurements([2, 4], [1e-6, 2e-6], name="x"), machine="b", licence="MIT")
    with pytest.raises(UsageError, match=r"the licences CC-BY-4\.0, MIT; name the one"):
        mixed.publish(tmp_path / "b.zip")
    with pytest.raises(ReportError, match=r"cannot write '.*'"):
        write_page(store, store.path / "scalkit-store.json" / "x.html")
    assert list(tmp_path.glob(".b.zip*")) == []


def test_commands(store: sk.store.Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "b.zip"
    assert main(["store", "publish", str(store.path), "--out", str(out), "--author", "Me"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith(f"wrote {out}: 6 runs, ")
    assert told[1] == f"SHA-256 {hashlib.sha256(out.read_bytes()).hexdigest()}"
    assert "index.html" in zipfile.ZipFile(out).namelist()
    assert main(["store", "publish", str(store.path), "--out", str(tmp_path / "p.html"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"path": str(tmp_path / "p.html"), "runs": 6}


@pytest.mark.browser
def test_the_page_opens_without_a_network_and_runs_no_text(tmp_path: Path, chromium: Any) -> None:
    store = sk.store.open(tmp_path / "hostile")
    for op in ("MPI_Gather", "Gather_send_recv", HOSTILE):
        for run in range(3):
            ds = sk.measurements([2, 4, 8], [[k * (1 + run) * 1e-6] * 3 for k in (1, 2, 4)], name=op)
            measured = {"machine": f"vm {HOSTILE}", "site": HOSTILE}  # put refuses such names
            for one in runs_of(ds.assign_attrs(title=HOSTILE), measured, {}):
                store.folder.add(one.run_id, encoded(one))
    path = write_page(store, tmp_path / "page.html", HOSTILE)
    tab = chromium.new_context(offline=True).new_page()
    trouble: list[str] = []
    tab.on("pageerror", lambda error: trouble.append(str(error)))
    tab.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
    tab.on("console", lambda said: trouble.append(said.text) if said.type == "error" else None)
    tab.goto(path.as_uri())
    tab.wait_for_selector("#plot .main-svg")
    assert tab.locator("#runs input").count() == 9
    for k in range(9):
        tab.locator("#runs input").nth(k).check()
    for k in range(3):
        tab.locator("#operations input").nth(k).check()
    tab.select_option("#together", "yes")
    tab.wait_for_function("() => document.querySelectorAll('#plot .legend .traces').length === 3")
    with tab.expect_download() as waited:
        tab.click("#svg")
    drawing = Path(waited.value.path()).read_text()
    assert drawing.startswith("<svg")
    assert f"MPI_Gather, collective on vm {HOSTILE}" in unescape(unescape(drawing))
    assert "<img" not in drawing
    assert tab.locator("img").count() == 0
    assert HOSTILE in tab.locator("h1").inner_text()
    assert "MPI_Gather" in tab.locator("h3").first.inner_text()
    tab.click("#no-runs")
    assert tab.locator("#said").inner_text() == "Choose runs and operations."
    assert trouble == []
    tab.context.close()
