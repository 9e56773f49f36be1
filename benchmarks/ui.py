"""Times the notebook app in a real JupyterLab in Chromium: edits, start, traffic, memory of kernels.

An edit is an arrow key on a tick of the ruler, or the release of a tick that was dragged with the mouse. It ends with the last
change of the app's part of the page: marks are taken in the page, from the event of the key or the pointer to the last mutation
below the cell's output, and to the frame after it. The rulers are shared by all functions, so that every edit judges all of
them. The same is done with plotly's FigureWidget in place of PlotView, in the
same JupyterLab, one after the other. Timings need a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "widgets"))

SETTLED_MS, MOVES = 400, 8

DATA = """import numpy as np
import scalkit as sk
rng = np.random.default_rng({seed})
p = 2.0 ** np.arange(1, 9)
shapes = [1 + np.log2(p), 3 + p**0.5, 5 + p, 1 + np.log2(p) * p**0.25]
from scalkit.measure import combine
names = [f"simulated_{{k:03d}}" for k in range({functions})]
data = combine([
    sk.measurements(p, 1e-6 * shapes[k % 4][:, None] * np.exp(0.02 * rng.standard_normal((8, 5))), name=name)
    for k, name in enumerate(names)
])
session = sk.Session(data, {{name: "log(p)" for name in names}})
session.select(names[0])"""

APP = """app = sk.explore(session)
app"""

PEER = """import ipywidgets, plotly.graph_objects as go
import scalkit.widgets.explorer.explorer as module
from scalkit import plots

class FigurePanel(ipywidgets.Box):
    def __init__(self, session):
        self.session = session
        self.figures = [go.FigureWidget(f(session.verdict)) for f in (plots.fit, plots.divergence)]
        super().__init__(self.figures)
        session.observe(self._told)
    def _told(self, changed):
        if not changed & {"selected", "result"}:
            return
        for shown, new in zip(self.figures, (plots.fit, plots.divergence)):
            figure = new(self.session.verdict)
            with shown.batch_update():
                shown.update(figure.to_dict(), overwrite=True)
    def close(self):
        self.session.unobserve(self._told)
        super().close()

parts = [module.DataPicker, module.HistoryBar, module.ModelTable, module.VerdictBadge, module.ExpectationEditor]
ruler = module.Ruler(session=session, parameter="p", label="Ruler of p")
app = ipywidgets.VBox([*(part(session) for part in parts), ruler, FigurePanel(session), module.HypothesisList(session)])
app"""

WATCH = """(selector) => {
  const root = document.querySelector(selector);
  const seen = window.__seen = { begun: 0, last: 0, count: 0 };
  new MutationObserver(() => { seen.last = performance.now(); seen.count += 1; })
    .observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  for (const kind of ["keydown", "pointerup"])
    addEventListener(kind, () => { seen.begun = performance.now(); seen.count = 0; }, { capture: true });
}"""

EDIT = """(settled) => new Promise((resolve) => {
  const asked = performance.now(), seen = window.__seen;
  seen.begun = 0; seen.last = asked;
  let framed = 0, of = asked;
  const look = () => {
    const now = performance.now();
    if (seen.last !== of) { of = seen.last; framed = now; }
    if (now - Math.max(seen.last, seen.begun) > settled && (seen.begun || now - asked > 10 * settled))
      resolve({ last: of - seen.begun, frame: framed - seen.begun, count: seen.count });
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})"""


class Wire:
    """Counts what goes over the websockets of a page, in bytes."""

    def __init__(self, page: Any) -> None:
        self.bytes = 0
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        for event in ("Network.webSocketFrameSent", "Network.webSocketFrameReceived"):
            session.on(event, self._frame)

    def _frame(self, event: Any) -> None:
        frame = event["response"]
        size = len(frame["payloadData"])
        self.bytes += size * 3 // 4 if frame["opcode"] == 2 else size

    def taken(self) -> int:
        found, self.bytes = self.bytes, 0
        return found


def watch_edits(page: Any, wire: Wire, edits: int) -> dict[str, float]:
    """Move ticks, one after the other and to where none was, and return milliseconds and bytes of an edit."""
    ticks = page.locator(".sk-ruler [role=slider]")
    page.evaluate(WATCH, ".jp-OutputArea-output:has(.sk-ruler)")
    page.wait_for_timeout(1000)
    wire.taken()
    times, frames, sizes, key = [], [], [], "ArrowRight"
    for k in range(edits + 3):
        if k % MOVES == 0:
            ticks.nth(2 + k // MOVES % (ticks.count() - 4)).focus()
            page.wait_for_timeout(SETTLED_MS)
        found = _watched(page, lambda: page.keyboard.press(key))  # noqa: B023
        size = wire.taken()
        if not found["count"]:  # the end of the ruler
            key = "ArrowLeft" if key == "ArrowRight" else "ArrowRight"
        elif k >= 3:
            times.append(found["last"])
            frames.append(found["frame"])
            sizes.append(size)
    return {
        "median_ms": statistics.median(times),
        "p95_ms": float(np.quantile(times, 0.95)),
        "p95_frame_ms": float(np.quantile(frames, 0.95)),
        "bytes_of_an_edit": max(sizes),
    }


def watch_drags(page: Any, drags: int) -> dict[str, float]:
    """Drag ticks with the mouse, a little to one side or the other, and return milliseconds from the release on."""
    ticks, times = page.locator(".sk-ruler [role=slider]"), []
    for k in range(drags):
        box = ticks.nth(3 + k % (ticks.count() - 6)).bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        aside = (9 + k % 5) * (1 if k % 2 else -1)
        page.mouse.move(x, y)
        page.mouse.down()
        for step in (0.3, 0.7, 1.0):  # released right after the last step, which is not judged yet
            page.wait_for_timeout(60)
            page.mouse.move(x + aside * step, y)
        found = _watched(page, page.mouse.up)
        if found["count"]:
            times.append(found["last"])
    return {"drags": len(times), "drag_median_ms": statistics.median(times), "drag_p95_ms": float(np.quantile(times, 0.95))}


def _watched(page: Any, act: Callable[[], object]) -> dict[str, float]:
    waiting = page.evaluate_handle(f"() => {{ window.__done = ({EDIT})({SETTLED_MS}); }}")
    act()
    found: dict[str, float] = page.evaluate("() => window.__done")
    waiting.dispose()
    return found


def app_row(browser: Any, lab: Any, functions: int, cell: str, seed: int, edits: int) -> dict[str, float]:
    """Start the app in a fresh notebook and page, and edit."""
    context = browser.new_context(viewport={"width": 1280, "height": 1600})
    page = context.new_page()
    page.set_default_timeout(120_000)
    wire = Wire(page)
    name = f"ui_{functions}_{abs(hash(cell)) % 10**6}.ipynb"
    lab.notebook(name, DATA.format(seed=seed, functions=functions), "import scalkit.widgets, scalkit.plots", cell)
    lab.open(page, name)
    page.wait_for_selector(".sk-ruler [role=slider]")
    page.wait_for_function("() => document.querySelectorAll('.js-plotly-plot .main-svg').length >= 2")
    page.wait_for_timeout(1500)
    loaded = wire.taken()
    page.evaluate(
        """async () => {
          const panel = window.jupyterapp.shell.currentWidget, cells = panel.content.widgets;
          panel.content.activeCellIndex = cells.length - 1;
          cells[cells.length - 1].model.sharedModel.source += '\\n';
        }"""
    )
    start = page.evaluate(
        """async () => {
          const begun = performance.now();
          for (const one of document.querySelectorAll('.sk-plot, .sk-ruler')) one.dataset.old = '1';
          window.jupyterapp.commands.execute('notebook:run-cell');
          const isThere = () => document.querySelector('.sk-ruler:not([data-old]) [role=slider]') &&
            document.querySelectorAll('.js-plotly-plot .main-svg').length >= 2 &&
            !document.querySelector('.sk-ruler[data-old]');
          while (!isThere()) await new Promise((go) => requestAnimationFrame(go));
          return performance.now() - begun;
        }"""
    )
    page.wait_for_timeout(1500)
    found = watch_edits(page, wire, edits) | watch_drags(page, edits)
    context.close()
    return {"functions": functions, "start_ms": start, "load_bytes": loaded, **found}


def first_start(browser: Any, lab: Any, k: int) -> float:
    """Return milliseconds from running the app's cell in a fresh kernel, imports and all, until all is drawn."""
    context = browser.new_context(viewport={"width": 1280, "height": 1600})
    page = context.new_page()
    page.set_default_timeout(120_000)
    name = f"first_{k}.ipynb"
    lab.notebook(name, f"import scalkit as sk\napp = sk.explore({str(ROOT / 'data' / 'quickstart')!r}, 'mpi')\napp")
    lab.open(page, name, run=False)
    found = page.evaluate(
        """async (path) => {
          const app = window.jupyterapp, panel = await app.commands.execute('docmanager:open', { path, factory: 'Notebook' });
          await panel.context.ready; await panel.context.sessionContext.ready;
          const kernel = panel.context.sessionContext.session.kernel;
          await kernel.requestExecute({ code: '1' }).done;
          const begun = performance.now();
          app.commands.execute('notebook:run-all-cells');
          const isThere = () => document.querySelectorAll('.sk-plot[data-drawn]').length === 2;
          while (!isThere()) await new Promise((go) => requestAnimationFrame(go));
          return performance.now() - begun;
        }""",
        name,
    )
    context.close()
    return float(found)


def kernels(copies: int) -> dict[str, float]:
    """Start copies of the quickstart notebook's kernel, run all of its cells in each, and return their memory."""
    import nbformat
    from jupyter_client.manager import start_new_kernel

    notebook = nbformat.read(ROOT / "notebooks" / "00_quickstart.ipynb", as_version=4)
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    running = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(copies):
            manager, client = start_new_kernel(kernel_name="python3", cwd=folder, stderr=subprocess.DEVNULL)
            running.append((manager, client))
            for source in sources[:-1]:  # the last one writes a report, in a process of its own
                answer = client.execute(source, reply=True, timeout=120)
                if answer["content"]["status"] != "ok":
                    raise RuntimeError(answer["content"]["evalue"])
        found = [memory(manager.provisioner.process.pid) for manager, _ in running]
        for manager, client in running:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
    pss, rss = np.array(found).T
    return {"copies": copies, "pss_mb": float(pss.mean()), "rss_mb": float(rss.mean()), "total_mb": float(pss.sum())}


def memory(pid: int) -> tuple[float, float]:
    """Return the proportional and the resident set size in MB."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    values = {line.split(":")[0]: int(line.split()[1]) / 1000 for line in lines}
    return values["Pss"], values["Rss"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edits", type=int, default=100)
    parser.add_argument("--functions", type=int, nargs="+", default=[1, 200])
    parser.add_argument("--starts", type=int, default=5, help="fresh kernels that the app is started in")
    parser.add_argument("--kernels", type=int, default=30, help="copies of the quickstart's kernel, 0 for none")
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--chromium", default="chromium", help="Chromium (default: the one in PATH)")
    parser.add_argument("--no-peer", action="store_true", help="without plotly's FigureWidget")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    import shutil

    from lab_server import LabServer
    from playwright.sync_api import sync_playwright

    cells: dict[str, str] = {"scalkit": APP} if args.no_peer else {"scalkit": APP, "FigureWidget": PEER}
    found: dict[str, Any] = {"edits": args.edits, "seed": args.seed, "rows": []}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        lab = LabServer(Path(folder))
        try:
            lab.wait()
            path = shutil.which(args.chromium)
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
            found["first_start_ms"] = statistics.median(first_start(browser, lab, k) for k in range(args.starts))
            if not args.json:
                print(f"first start, with imports: {found['first_start_ms']:.0f} ms (median of {args.starts})", flush=True)
            for functions in args.functions:
                for name, cell in cells.items():
                    row = app_row(browser, lab, functions, cell, args.seed, args.edits)
                    found["rows"].append({"plots": name, **row})
                    if not args.json:
                        tell(name, row)
            browser.close()
        finally:
            lab.stop()
    if args.kernels:
        begun = time.monotonic()
        found["kernels"] = kernels(args.kernels)
        if not args.json:
            k = found["kernels"]
            print(
                f"{k['copies']} kernels: {k['pss_mb']:.0f} MB each (resident {k['rss_mb']:.0f} MB), "
                f"{k['total_mb']:.0f} MB in all, after {time.monotonic() - begun:.0f} s"
            )
    if args.json:
        print(json.dumps(found, indent=1))


def tell(name: str, row: dict[str, float]) -> None:
    print(
        f"{row['functions']:4} functions, {name:12}  edit: median {row['median_ms']:6.1f} ms, p95 {row['p95_ms']:6.1f} ms "
        f"(next frame {row['p95_frame_ms']:6.1f} ms), {row['bytes_of_an_edit'] / 1e3:6.1f} kB   "
        f"drag: median {row['drag_median_ms']:6.1f} ms, p95 {row['drag_p95_ms']:6.1f} ms   "
        f"start {row['start_ms']:6.0f} ms   load {row['load_bytes'] / 1e6:5.2f} MB",
        flush=True,
    )


if __name__ == "__main__":
    main()
