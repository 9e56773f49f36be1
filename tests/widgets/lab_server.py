"""A JupyterLab of its own: own settings, own kernels, no news, nothing asked of the network."""

from __future__ import annotations

import ast
import json
import os
import secrets
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import psutil

sys.path.append(str(Path(__file__).resolve().parents[1]))  # benchmarks have no paths of pytest
from waiting import PATIENCE_S, wait_until

_RUN_ALL = """async (path) => {
  const app = window.jupyterapp, panel = await app.commands.execute('docmanager:open', { path, factory: 'Notebook' });
  await panel.context.ready; await panel.context.sessionContext.ready;
  app.shell.collapseLeft();
  await app.commands.execute('notebook:run-all-cells');
}"""


_SETTLE = """async () => {
  // A kernel that was killed does not answer, nor does a page have one that is not a notebook.
  const kernel = window.jupyterapp?.shell.currentWidget?.context?.sessionContext?.session?.kernel;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  let hasChanged = true;
  const changes = new MutationObserver(() => { hasChanged = true; });
  for (const one of document.querySelectorAll('.sk-part, .sk-plot, .sk-ruler, .sk-timeline'))
    changes.observe(one, { subtree: true, childList: true, attributes: true, characterData: true });
  const shown = () => [...document.querySelectorAll('.sk-part, .sk-plot, .sk-ruler, .sk-timeline, .tick')];
  const places = () => JSON.stringify(shown().map((one) => one.getBoundingClientRect()));
  for (let before = ''; hasChanged || before !== places();) {
    hasChanged = false;
    before = places();
    // The answer comes after all that Python had to say until now.
    if (kernel && !['dead', 'unknown'].includes(kernel.status)) await kernel.requestKernelInfo();
    for (let k = 0; k < 10; k++) await frame();
  }
  changes.disconnect();
}"""


def settle(page: Any) -> None:
    """Wait until Python has told the page everything, and what scalkit shows is still."""
    page.evaluate(_SETTLE)


_IS_UNDER = """(node, [x, y]) => document.elementFromPoint(x, y)?.closest('.sk-ruler')?.contains(node) ?? false"""


def grab(page: Any, tick: Any) -> tuple[float, float]:
    """Press the mouse on a tick of a ruler; return the place.

    JupyterLab scrolls while it measures cells, so the mouse is pressed only where the tick is found once the page is still.
    """
    places: list[tuple[float, float]] = []

    def is_found() -> bool:
        tick.scroll_into_view_if_needed()
        settle(page)
        box = tick.bounding_box()
        places.append((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
        return bool(tick.evaluate(_IS_UNDER, list(places[-1])))

    wait_until(is_found, "a tick that the mouse can reach")
    page.mouse.move(*places[-1])
    page.mouse.down()
    return places[-1]


class LabServer:
    """A server below `folder`; notebooks go to `root`."""

    def __init__(self, folder: Path, *more: str) -> None:
        self.folder, self.root = folder, folder / "root"
        self.root.mkdir()
        self.token, self.url = secrets.token_hex(16), ""
        self.clients: dict[str, Any] = {}
        self._opened = ""
        self._runtime = folder / "runtime"
        options = [
            "--no-browser",
            "--allow-root",
            "--ip=127.0.0.1",
            f"--port={free_port()}",  # or another one, if somebody else was faster
            f"--IdentityProvider.token={self.token}",
            f"--ServerApp.root_dir={self.root}",
            "--LabApp.expose_app_in_browser=True",
            "--LabApp.extension_manager=readonly",
            *more,
        ]
        self.log = (folder / "lab.log").open("w")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            env=self._environment(),
            stdout=self.log,
            stderr=subprocess.STDOUT,
            cwd=folder,
        )

    def _environment(self) -> dict[str, str]:
        settings = self.folder / "settings" / "@jupyterlab" / "apputils-extension"
        settings.mkdir(parents=True)
        (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false", "checkForUpdates": false}')
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "JPY_"))}
        return kept | {
            "JUPYTER_CONFIG_DIR": str(self.folder / "config"),
            "JUPYTER_DATA_DIR": str(self.folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(self._runtime),
            "JUPYTERLAB_SETTINGS_DIR": str(self.folder / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(self.folder / "workspaces"),
            "IPYTHONDIR": str(self.folder / "ipython"),
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        }

    def api(self, path: str) -> Any:
        """Return the answer of the server's REST interface."""
        request = urllib.request.Request(f"{self.url}/{path}", headers={"Authorization": f"token {self.token}"})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def wait(self) -> None:
        """Wait until it answers."""
        try:
            wait_until(self._answers, "JupyterLab", self.process)
        except (RuntimeError, TimeoutError) as error:
            raise RuntimeError(f"{error}:\n{(self.folder / 'lab.log').read_text()[-3000:]}") from error

    def _answers(self) -> bool:
        """Return whether the server answers at the address that it wrote to a file."""
        try:
            told = json.loads((self._runtime / f"jpserver-{self.process.pid}.json").read_text())
            self.url = f"http://127.0.0.1:{told['port']}"
            self.api("api/status")
        except (OSError, ValueError):
            return False
        return True

    def notebook(self, name: str, *cells: str) -> str:
        """Write a notebook of code cells and return its path on the server."""
        import nbformat.v4 as nb

        made = nb.new_notebook(cells=[nb.new_code_cell(cell) for cell in cells])
        made.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        (self.root / name).write_text(json.dumps(made))
        return name

    def open(self, page: Any, name: str, *, run: bool = True) -> None:
        """Open a notebook alone, without those of the last time, and run all its cells unless told not to."""
        self._go(page, f"{name}?reset&")
        if run:
            page.evaluate(_RUN_ALL, name)

    def reopen(self, page: Any, name: str) -> None:
        """Load the page of a notebook again, as a person does who comes back to it."""
        self._go(page, f"{name}?")

    def _go(self, page: Any, asked: str) -> None:
        self._opened = asked.partition("?")[0]
        page.goto(f"{self.url}/lab/tree/{asked}token={self.token}")
        page.wait_for_function("() => window.jupyterapp && window.jupyterapp.restored.then(() => true)")

    def value(self, expression: str) -> Any:
        """Return the value of an expression, as JSON, from the kernel of the notebook that was opened last."""
        from jupyter_client.blocking.client import BlockingKernelClient

        sessions = [one for one in self.api("api/sessions") if one["path"] == self._opened]
        kernel = sessions[-1]["kernel"]["id"]
        if kernel not in self.clients:
            client = self.clients[kernel] = BlockingKernelClient(connection_file=str(self._runtime / f"kernel-{kernel}.json"))
            client.load_connection_file()
            client.start_channels()
        asked = {"value": f"__import__('json').dumps({expression})"}
        answer = self.clients[kernel].execute("", user_expressions=asked, reply=True, timeout=PATIENCE_S)
        found = answer["content"]["user_expressions"]["value"]
        assert found["status"] == "ok", found
        return json.loads(ast.literal_eval(found["data"]["text/plain"]))

    def stop(self) -> None:
        """End the server, which ends its kernels."""
        for client in self.clients.values():
            client.stop_channels()
        end_server(self.process)
        self.log.close()


def end_server(server: subprocess.Popen[Any]) -> None:
    """End a server of Jupyter, which ends its kernels.

    It is killed as soon as they have ended: a server with a kernel that was busy may go on for ever.
    """
    kernels = psutil.Process(server.pid).children(recursive=True) if server.poll() is None else []
    server.terminate()
    wait_until(lambda: server.poll() is not None or not any(map(_lives, kernels)), "the end of the kernels")
    server.kill()
    server.wait()


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def free_port() -> int:
    """Return a port that nobody listens to now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
