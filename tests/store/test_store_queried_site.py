"""The site of a store in Chromium: it asks the Parquet files by ranges, or whole, and no other host."""

from __future__ import annotations

import csv
import functools
import hashlib
import http.server
import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scalkit as sk
from scalkit.cli import main
from scalkit.errors import StoreError
from scalkit.plots.store.site import write_site
from scalkit.store.filed.dataset import runs_of
from scalkit.store.runs.content import encoded

Visit = Callable[..., Any]
AXE = Path(__file__).resolve().parents[1] / "vendor/axe.min.js"
VENDOR = Path(sk.__file__).parent / "plots/store/queried/vendor"
HOSTILE = "<img src=x onerror=alert(1)>%{x}&amp;</script>"


class _Plain(http.server.SimpleHTTPRequestHandler):
    """Python's own server, which answers a question for a range with the whole file."""

    def log_message(self, *_: object) -> None:
        pass


class _Ranges(_Plain):
    """A server that knows ranges, as those of the web do."""

    asked: list[str]

    def send_head(self) -> Any:
        place, wanted = Path(self.translate_path(self.path)), self.headers.get("Range", "")
        found = re.fullmatch(r"bytes=(\d*)-(\d*)", wanted)
        if not found or not place.is_file():
            return super().send_head()
        self.asked.append(f"{place.name} {wanted}")
        content = place.read_bytes()
        first = int(found[1]) if found[1] else max(0, len(content) - int(found[2]))
        last = int(found[2]) if found[1] and found[2] else len(content) - 1
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{len(content)}")
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        self.wfile.write(content[first : last + 1])
        return None


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> sk.store.Store:
    """Two operations on two machines over processes and sizes, three runs each; one machine is simulated."""
    store = sk.store.open(tmp_path_factory.mktemp("sites") / "results")
    points = [[p, size] for p in (2, 4) for size in (8, 64, 512)]
    for machine, simulated, factor in (("vm", 0, 1.0), ("cluster", 1, 0.1)):
        for op, slower in (("MPI_Gather", 1.0), ("Gather_send_recv", 2.0)):
            for run in range(3):
                times = [[slower * factor * p * (1 + run / 100) * 1e-6 * size] * 5 for p, size in points]
                ds = sk.measurements(points, times, parameter=["p", "S"], name=op)
                store.put(ds.assign_attrs(simulated=simulated), machine=machine, licence="CC-BY-4.0")
    return store


@pytest.fixture(scope="module")
def site(store: sk.store.Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(store, tmp_path_factory.mktemp("served") / "site", "Gathers")


@pytest.fixture
def visit(chromium: Any) -> Iterator[Visit]:
    """Serve a folder and open it; return the page, what went wrong, what was asked of whom, and the ranges."""
    ends: list[Callable[[], None]] = []

    def go(folder: Path, kind: type = _Plain, **context: Any) -> tuple[Any, list[str], list[str], list[str]]:
        ranges: list[str] = []
        handler = type("Handler", (kind,), {"asked": ranges})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(folder)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        opened = chromium.new_context(accept_downloads=True, **context)
        ends.extend((opened.close, server.shutdown, server.server_close))
        tab, trouble, elsewhere = opened.new_page(), [], []
        here = f"http://127.0.0.1:{server.server_port}/"
        tab.on(
            "request", lambda asked: elsewhere.append(asked.url) if not asked.url.startswith((here, "blob:", "data:")) else None
        )
        tab.on("pageerror", lambda error: trouble.append(str(error)))
        tab.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
        tab.on("console", lambda said: trouble.append(said.text) if said.type in ("error", "warning") else None)
        tab.goto(here)
        return tab, trouble, elsewhere, ranges

    yield go
    for end in ends:
        end()


def _csv(tab: Any) -> list[dict[str, str]]:
    with tab.expect_download() as waited:
        tab.click("#csv")
    return list(csv.DictReader(Path(waited.value.path()).read_text().splitlines()))


def _lines(tab: Any, n: int) -> None:
    tab.wait_for_function(f"() => document.querySelectorAll('#plot .legend .traces').length === {n}")


@pytest.mark.browser
@pytest.mark.parametrize("kind", [_Plain, _Ranges])
def test_runs_operations_axes_and_ratios_are_chosen(kind: type, store: sk.store.Store, site: Path, visit: Visit) -> None:
    tab, trouble, elsewhere, ranges = visit(site, kind)
    _lines(tab, 2)  # one run of MPI_Gather alone has no substitute: p = 2 and p = 4
    assert tab.locator("#runs input").count() == 12
    tab.fill("#run-filter", "vm")
    for k in range(6):
        tab.locator("#runs input").nth(k).check()
    for k in range(2):
        tab.locator("#operations input").nth(k).check()
    tab.select_option("#together", "yes")
    _lines(tab, 4)
    tab.select_option("#fixed", "p = 4")
    _lines(tab, 2)
    where = {"machine": "vm", "p": 4}
    found = store.compare(["MPI_Gather", "Gather_send_recv"], where=where)
    rows = _csv(tab)
    for curve in found.curves:
        own = [row for row in rows if row["op"] == curve.op]
        assert [int(row["x"]) for row in own] == curve.x.tolist() == [8, 64, 512]
        np.testing.assert_allclose([float(row["value"]) for row in own], curve.y)
        np.testing.assert_allclose([[float(row["low"]), float(row["high"])] for row in own], np.transpose(curve.spread))
    tab.select_option("#reference", index=[row["op"] for row in rows].index("MPI_Gather") // 3 + 1)
    tab.wait_for_function("() => document.querySelector('#plot .ytitle').textContent === 'ratio'")
    np.testing.assert_allclose([float(row["value"]) for row in _csv(tab) if row["op"] == "Gather_send_recv"], 2.0)
    tab.select_option("#reference", "")
    tab.select_option("#axis", "p")
    tab.select_option("#fixed", "")
    _lines(tab, 6)
    assert {row["x"] for row in _csv(tab)} == {"2", "4"}
    shown = tab.evaluate("[...document.querySelectorAll('#plot .ytick')].map((one) => one.textContent)")
    assert len(shown) > 3
    assert all(re.fullmatch(r"[125]0{0,2} [nµm]?s", one) for one in shown)
    with tab.expect_download() as waited:
        tab.click("#svg")
    drawing = Path(waited.value.path()).read_text()
    assert drawing.startswith("<svg")
    assert re.search(r">Gather_send_recv[\w, -]*, 64 B on vm<", drawing)
    assert (trouble, elsewhere) == ([], [])
    assert bool(ranges) is (kind is _Ranges)


@pytest.mark.slow
@pytest.mark.browser
def test_only_the_rows_of_what_is_chosen_are_fetched(visit: Visit, tmp_path: Path) -> None:
    """Of a file of many groups of rows, those of other operations stay where they are."""
    store = sk.store.open(tmp_path / "s")
    sizes = [[2, 8 + k] for k in range(3000)]
    for number in range(8):
        rng = np.random.default_rng(number)
        store.put(
            sk.measurements(sizes, rng.lognormal(-12, 1, (3000, 1)), parameter=["p", "S"], name=f"op_{number}"), machine="vm"
        )
    site = write_site(store, tmp_path / "site")
    tab, trouble, _, ranges = visit(site, _Ranges)
    tab.wait_for_selector("#plot .main-svg")
    pieces = [re.fullmatch(r"points\.parquet bytes=(\d*)-(\d+)", one) for one in ranges if one.startswith("points")]
    fetched = sum(int(one[2]) - int(one[1]) + 1 if one[1] else int(one[2]) for one in pieces if one)
    whole = (site / "page/points.parquet").stat().st_size
    assert 0 < fetched < 0.45 * whole  # two of the six groups at most, and the footer
    assert trouble == []


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (700, "light"), (1280, "dark"), (1280, "light")])
def test_the_site_fits_every_screen_and_says_what_is_simulated(width: int, scheme: str, site: Path, visit: Visit) -> None:
    tab, trouble, elsewhere, _ = visit(site, viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    tab.wait_for_selector("#plot .main-svg")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    ink = tab.evaluate("getComputedStyle(document.querySelector('#plot .xtitle')).fill")
    assert ink == ("rgb(230, 233, 236)" if scheme == "dark" else "rgb(27, 31, 36)")
    tab.fill("#run-filter", "cluster")
    tab.locator("#runs input").first.check()
    assert "(simulated)" in tab.locator("#runs label").first.inner_text()
    tab.evaluate(AXE.read_text(encoding="utf-8"))
    assert [one["id"] for one in tab.evaluate("axe.run(document)")["violations"]] == []
    assert (trouble, elsewhere) == ([], [])


@pytest.mark.browser
def test_close_values_bytes_and_long_names_can_be_read(tmp_path: Path, visit: Visit) -> None:
    store = sk.store.open(tmp_path / "s")
    values = [[3001] * 3, [3002] * 3, [3005] * 3]
    store.put(
        sk.measurements([2, 4, 8], values, parameter="p", name="MPI_Comm_dup", metric="object_memory"),
        machine="a machine with a name that is longer than a telephone is wide",
    )
    tab, trouble, *_ = visit(write_site(store, tmp_path / "site"), viewport={"width": 360, "height": 800})
    tab.wait_for_selector("#plot .main-svg")
    shown = tab.evaluate("[...document.querySelectorAll('#plot .ytick')].map((one) => one.textContent)")
    assert len(set(shown)) == len(shown) > 2
    assert "3.002 kB" in shown
    assert tab.locator("#axis option").all_inner_texts() == ["processes", "message size (B)"]
    assert ", ," not in tab.locator("#runs").inner_text()
    assert tab.locator("#plot .legendtext tspan").count() > 2
    right = "(one) => one.getBoundingClientRect().right"
    assert tab.locator("#plot .legendtext").evaluate(right) <= tab.locator("#plot").evaluate(right)
    assert trouble == []


@pytest.mark.browser
def test_texts_stay_texts(tmp_path: Path, visit: Visit) -> None:
    store = sk.store.open(tmp_path / "hostile")
    for op in ("MPI_Gather", HOSTILE, "=cmd()"):
        ds = sk.measurements([2, 4, 8], [[k * 1e-6] * 3 for k in (1, 2, 4)], name=op)
        for one in runs_of(ds, {"machine": f"vm {HOSTILE}", "site": HOSTILE, "label": HOSTILE}, {}):  # put refuses such names
            store.folder.add(one.run_id, encoded(one))
    tab, trouble, elsewhere, _ = visit(write_site(store, tmp_path / "site", HOSTILE))
    tab.wait_for_selector("#plot .main-svg")
    for k in range(3):
        tab.locator("#runs input").nth(k).check()
    for k in range(3):
        tab.locator("#operations input").nth(k).check()
    _lines(tab, 3)
    assert tab.locator("h1").inner_text() == HOSTILE
    assert tab.locator("img").count() == 0
    assert HOSTILE in tab.locator("#plot .legend").text_content()
    assert {row["op"] for row in _csv(tab)} == {"MPI_Gather", HOSTILE, "'=cmd()"}
    assert (trouble, elsewhere) == ([], [])


@pytest.mark.browser
def test_what_the_server_lacks_is_one_sentence(store: sk.store.Store, tmp_path: Path, visit: Visit) -> None:
    site = write_site(store, tmp_path / "site")
    (site / "page/points.parquet").unlink()
    tab, *_ = visit(site)
    tab.wait_for_function("() => document.getElementById('said').textContent.includes('404')")
    assert tab.locator("#said").inner_text() == "page/points.parquet cannot be read: the server says 404."
    (site / "page/suites.parquet").write_bytes(b"no table at all")
    tab, *_ = visit(site)
    tab.wait_for_function("() => document.getElementById('said').textContent.includes('parquet')")


def test_a_site_is_a_store_and_is_written_whole(
    store: sk.store.Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "made" / "my site"
    (tmp_path / "made/my site.part").mkdir(parents=True)
    (tmp_path / "made/my site.part/mine.txt").write_text("not to be lost")
    assert main(["store", "publish", str(store.path), "--out", f"{out}/", "--no-plots", "--title", "Mine"]) == 0
    assert f"python3 -m http.server --directory '{out}/'" in capsys.readouterr().out
    assert "this folder is a store" in (out / "README.md").read_text()
    assert 'sk.store.open("my site")' in (out / "README.md").read_text()
    assert "<title>Mine</title>" in (out / "index.html").read_text()
    assert sk.store.open(out, readonly=True).runs().equals(store.runs())
    assert sk.store.validate(out).ok
    assert sorted(one.name for one in out.parent.iterdir()) == ["my site", "my site.part"]
    assert (out.parent / "my site.part/mine.txt").exists()
    with pytest.raises(StoreError, match=r"^'.*site' is not empty; name an empty or a new folder for the site\.$"):
        write_site(store, out)
    assert main(["store", "publish", str(store.path), "--out", str(tmp_path / "b.txt")]) == 2
    assert "is neither a zip, a page nor a folder; let it end with .zip, .html or /." in capsys.readouterr().err


def test_the_vendored_library_is_what_was_published() -> None:
    name, digest = re.search(r"`(hyparquet-\S+\.tgz)`.*`([0-9a-f]{64})`", (VENDOR / "README.md").read_text()).groups()
    assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest
    assert "MIT License" in (VENDOR / "hyparquet.LICENSE").read_text()


@pytest.mark.browser
def test_two_virtual_clocks_of_one_platform_are_two_curves(visit: Visit, tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    for latency_s in (1e-6, 5e-6):
        machine = {"network": "mine", "L_s": latency_s, "o_s": 3e-7, "g_s": 1e-7, "G_s_per_B": 8e-11, "per_node": 1}
        ds = sk.measurements([2, 4, 8], [latency_s, 2 * latency_s, 3 * latency_s], name="MPI_Barrier")
        store.put(ds.assign_attrs(clock="virtual", virtual=json.dumps(machine)), machine="cluster")
    tab, trouble, _, _ = visit(write_site(store, tmp_path / "site"))
    for k in range(2):
        tab.locator("#runs input").nth(k).check()
    tab.select_option("#together", "yes")
    _lines(tab, 2)
    assert trouble == []
