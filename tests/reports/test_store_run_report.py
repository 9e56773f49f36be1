"""The report about one run of a store: one page that loads nothing and names user, machine, switches, suites and caveats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shown import figures, words
from tabs import violations
from waiting import PATIENCE_S

import scalkit as sk
from scalkit.cli import main
from scalkit.errors import DataError, ReportError
from scalkit.plots.store.suites import quartiles
from scalkit.reports import write_report
from scalkit.reports.pages.store_run import RunPage, open_run
from scalkit.reports.sections.store_run import _data
from scalkit.store.filed.dataset import runs_of
from scalkit.store.runs.content import encoded

DATA = Path(__file__).resolve().parents[2] / "data"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> sk.store.Store:
    store = sk.store.open(tmp_path_factory.mktemp("reported") / "results")
    store.put(DATA / "libraries-times/mpich-5.0.2", user="A. Nonymous", licence="CC0-1.0", machine="vm")
    store.put(DATA / "simulated/juqueen")
    points = [[p, size] for p in (2, 4) for size in (8, 512)]
    ds = sk.measurements(points, [[1e-6 * k] * 12 for k in range(1, 5)], parameter=["p", "S"], name=HOSTILE)
    (run,) = runs_of(ds, {"machine": HOSTILE}, {"user": HOSTILE, "notes": HOSTILE})  # put refuses such names
    store.folder.add(run.run_id, encoded(run))
    return store


@pytest.fixture(scope="module")
def page(store: sk.store.Store) -> RunPage:
    return open_run(str(store.path), store.runs(label="b7c5d20f-r00")["run_id"].item())


def test_who_where_when_with_what(page: RunPage) -> None:
    said = " ".join(words(page, name) for name in ("top", "store_run.circumstances", "store_run.switches"))
    for text in (
        *("user A. Nonymous", "machine vm", "licence CC0-1.0", "Intel(R) Xeon(R)", "MPICH Version: 5.0.2"),
        *("arguments / max_reps 400", "arguments / seed 20261121", "Launches: 5", "CLOCK_MONOTONIC"),
    ):
        assert text in said


def test_every_suite_has_a_plot_and_its_quartiles(page: RunPage, store: sk.store.Store) -> None:
    assert len(page.suites) == store.runs(label="b7c5d20f-r00")["suites"].item()
    assert len(figures(page, "store_run.cards")) == len(page.cards)
    assert words(page, "store_run.overview").count(" processes 2 to 32 ") == len(page.suites)
    (suite,) = (one for one in page.suites if one["op"] == "MPI_Bcast")
    row = suite.rows[1]
    every = store.table(page.run_id).to_pylist()
    (full,) = (one for one in every if one["raw_hash"] == row["raw_hash"])
    kept = np.delete(full["raw"], sorted({*full["late_at"], *full["overrun_at"]}))
    first, third = np.quantile(kept, [0.25, 0.75]) * 1e-9
    drawn = quartiles([suite.drawn("real")])
    middle = drawn.data[0].y[1]
    assert drawn.data[0].error_y.array[1] == pytest.approx(third - middle, rel=1e-4, abs=2e-9)
    assert drawn.data[0].error_y.arrayminus[1] == pytest.approx(middle - first, rel=1e-4, abs=2e-9)
    assert drawn.layout.meta["alt"].startswith("Medians, quartiles and least values of the run time over p: 8 B")
    assert f"{row['n_kept']} of {row['n']}" in words(page, "store_run.cards")
    with pytest.raises(DataError, match=r"^a figure of quartiles needs a suite, got none\.$"):
        quartiles([])


def test_what_limits_the_meaning_is_said(page: RunPage, store: sk.store.Store, tmp_path: Path) -> None:
    caveats = " ".join(page.caveats)
    assert "With p = 4, 8, 16, 32 there were more processes than cores: these times tell about the scheduler" in caveats
    assert "began late or outlasted the window" in caveats
    simulated = open_run(str(store.path), store.runs(clock="simulated")["run_id"].iloc[0])
    assert "These times are simulated, not measured" in " ".join(simulated.caveats)
    assert "simulated, not measured" in words(simulated, "top")
    assert simulated.answer.endswith("Simulated, not measured.")
    mine = sk.store.open(tmp_path / "mine")
    (run_id,) = mine.put(sk.measurements([2, 4], [[1e-6] * 3, [2e-6] * 3], name="MPI_Scan")).added
    mine.retract(run_id, "wrong clock")
    told = open_run(str(mine.path), run_id).caveats
    assert told[0] == "This run is retracted or flagged: wrong clock. It is in no answer of the store."
    assert "2 times have fewer than 10 repetitions that count." in told
    with pytest.raises(DataError, match=r"^the store '.*' has no runs; file some with 'scalkit store put'\.$"):
        open_run(str(mine.path))


def test_times_of_root_and_of_each_process(page: RunPage) -> None:
    (suite,) = (one for one in page.suites if one["op"] == "MPI_Bcast")
    for row in suite.rows:
        row |= {"root_raw": [1000, 3000, 2000], "process_med": [500, 4000]}  # type: ignore[operator]
    try:
        assert suite.root.tolist() == [pytest.approx(2e-6)] * 5
        head, rows = _data(suite)
        assert head[-3:] == ["root's median", "processes' medians", "ended by"]
        assert rows[0][-3:-1] == ("2 µs", "500 ns to 4 µs")
        assert len(quartiles([suite.drawn("real")]).data) == 3
    finally:
        for row in suite.rows:
            row |= {"root_raw": None, "process_med": None}  # type: ignore[operator]


@pytest.mark.browser
def test_page_asks_for_nothing_fits_and_runs_no_text(store: sk.store.Store, tmp_path: Path, chromium: Any) -> None:
    from playwright.sync_api import expect

    run_id = store.runs(machine=HOSTILE)["run_id"].item()
    out = tmp_path / "run.html"
    assert main(["store", "publish", str(store.path), "--run", run_id[:9], "--out", str(out), "--json"]) == 0
    with pytest.raises(ReportError, match=r"would replace run\.html in .*; choose another name or allow it"):
        write_report("run", out, store=str(store.path), run=run_id)
    text = out.read_text(encoding="utf-8")
    assert HOSTILE not in text
    assert len(text) < 1.6e6
    assert [one.name for one in tmp_path.iterdir()] == ["run.html"]
    for width, scheme in ((360, "dark"), (1280, "light")):
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
        tab, requests, errors = context.new_page(), [], []
        tab.on("request", lambda request, seen=requests: seen.append(request.url))
        tab.on("pageerror", lambda error, seen=errors: seen.append(str(error)))
        tab.on("dialog", lambda dialog, seen=errors: (seen.append(dialog.message), dialog.dismiss()))
        tab.goto(out.as_uri())
        tab.wait_for_selector("html[data-figures=drawn]", state="attached", timeout=1000 * PATIENCE_S)
        assert (requests, errors) == ([out.as_uri()], [])
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.locator(".plot:has(.main-svg)").count() == 1
        assert tab.locator("details summary", has_text="Data, p = ").count() == 2
        assert violations(tab) == []
        tab.locator("a[href='#suite-0']").first.click()
        expect(tab.locator("#suite-0 h3")).to_be_in_viewport()
        context.close()


def test_commands_say_what_is_wrong(store: sk.store.Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", tmp_path / "run.html"]
    for arguments, said in (
        ([store.path, "--run", "zz", *out], "there is no run 'zz' in"),
        ([tmp_path / "none", "--run", "zz", *out], "there is no store at"),
    ):
        assert main(["store", "publish", *map(str, arguments)]) == 2
        assert f"scalkit store: {said}" in capsys.readouterr().err


def test_the_template_shows_a_run_of_scalkit_by_itself() -> None:
    shown = open_run("")
    assert shown.store == "the store of scalkit"
    assert json.dumps(shown.record["measured"]["switches"])
    assert shown.suites
