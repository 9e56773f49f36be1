"""Stores on a server: what `data/store` says over the wire, and what is said where the wire or the server fails."""

from __future__ import annotations

import functools
import gc
import http.server
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from waiting import wait_until

import scalkit as sk
from scalkit.cli import main
from scalkit.errors import MissingPackageError, StoreError
from scalkit.store.submissions.containers import Policy
from scalkit.store.wire import fetched, shown

DATA = Path(__file__).resolve().parents[2] / "data/store"


class _Server(http.server.SimpleHTTPRequestHandler):
    """A folder over HTTP; `cut` names files that break off, `broken` those that the server fails to send."""

    cut: ClassVar[set[str]] = set()
    broken: ClassVar[set[str]] = set()
    leads: ClassVar[dict[str, str]] = {}
    page: ClassVar[bytes] = b""

    def send_head(self):
        if self.path.strip("/").partition("/")[0] in self.leads:
            self.send_response(302)
            self.send_header("Location", self.leads[self.path.strip("/").partition("/")[0]])
            self.end_headers()
            return None
        if self.page:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(self.page)
            return None
        path = Path(self.translate_path(self.path))
        if path.name in self.broken:
            self.send_error(500)
            return None
        if path.name in self.cut:
            content = path.read_bytes()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2])
            self.close_connection = True
            return None
        return super().send_head()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """Serve zips of stores from this machine; return the URL of each."""
    running = []

    def start(folder: Path, *, cut: set[str] | None = None, broken: set[str] | None = None) -> str:
        """Serve a folder; return the URL of the zip of a store of that name."""
        shutil.make_archive(str(folder), "zip", folder)
        kind = type("Server", (_Server,), {"cut": cut or set(), "broken": broken or set()})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(kind, directory=str(folder.parent)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        running.append(server)
        return f"http://127.0.0.1:{server.server_port}/{folder.name}.zip"

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A store of three of the runs of `data/store`, one of them retracted."""
    store = sk.store.open(tmp_path / "small")
    for file in sorted((DATA / "runs").iterdir())[:3]:
        shutil.copy(file, store.folder.runs)
    store.retract(store.runs()["run_id"].iloc[0], "a wrong clock", by="me")
    return tmp_path / "small"


@pytest.mark.slow
def test_the_store_of_scalkit_says_the_same_over_the_wire(serve: Callable[..., str], tmp_path: Path) -> None:
    here = sk.store.open(DATA, readonly=True)
    url = serve(shutil.copytree(DATA, tmp_path / "copy"))
    there = sk.store.open(url)
    assert there.readonly
    assert here.runs().equals(there.runs())
    assert here.advise("MPI_Gather").to_json() == there.advise("MPI_Gather").to_json()
    assert sk.store.validate(url).ok
    copy = there.path
    del there

    def is_gone() -> bool:
        gc.collect()
        return not copy.exists()

    wait_until(is_gone, "the end of the copy")  # a thread that read may hold it for a moment longer


def test_commands_take_a_url(serve: Callable[..., str], small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = serve(small)
    assert main(["store", "runs", url]) == 0
    over_the_wire = capsys.readouterr().out
    assert main(["store", "runs", str(small)]) == 0
    assert over_the_wire == capsys.readouterr().out
    assert main(["store", "merge", str(tmp_path / "mine"), url]) == 0
    assert "3 added, 0 there already, 0 refused, 1 statement taken over" in capsys.readouterr().out
    assert main(["store", "validate", url]) == 0
    assert url in capsys.readouterr().out
    run = next((small / "runs").iterdir()).stem
    for words in (["retract", url, run, "--reason", "x"], ["merge", url, str(small)], ["put", url, str(small)]):
        assert main(["store", *words]) == 2
        assert "is on a server, which is only read; 'scalkit store merge FOLDER http://127.0.0.1" in capsys.readouterr().err


def test_a_published_zip_can_be_opened(serve: Callable[..., str], small: Path, tmp_path: Path) -> None:
    url = serve(small)
    sk.store.open(small).publish(tmp_path / "published.zip")
    assert len(sk.store.open(url.replace("small", "published"))) == 2


def test_nothing_that_is_sent_is_believed(serve: Callable[..., str], small: Path) -> None:
    """A flipped bit, a file under another name, a trusted signer and an index of the sender's: named, or not looked at."""
    first, second, _ = sorted((small / "runs").iterdir())
    content = bytearray(first.read_bytes())
    content[100] ^= 1
    first.write_bytes(content)
    shutil.copy(second, second.with_name("0" * 32 + ".parquet"))
    (small / "index").mkdir()
    (small / "index/points.parquet").write_text("nonsense")
    store = sk.store.open(serve(small))
    assert len(store.problems) == 2
    assert any(first.name in text for text in store.problems)
    assert any("its content is that of run " in text for text in store.problems)
    assert set(store.points()["run_id"]) == set(store.runs()["run_id"])


def test_what_fails_is_one_sentence(serve: Callable[..., str], small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut, broken = serve(small, cut={"small.zip"}), serve(small, broken={"small.zip"})
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        silent = f"http://127.0.0.1:{taken.getsockname()[1]}/s.zip"
        said = {
            cut.replace("small", "nowhere"): "there is nothing at '{}' (404); check the address.",
            cut.replace(".zip", "/"): "there is no zip at '{}'; name one that 'scalkit store publish' wrote.",
            silent: "cannot read '{}': ",
            cut: "cannot read '{}': it breaks off; ",
            broken: "cannot read '{}': the server says 500; ",
            "nonsense://host/store": "cannot read '{}': Protocol not known: nonsense; name an https or s3 URL.",
        }
        for url, sentence in said.items():
            assert main(["store", "runs", url]) == 2
            out, err = capsys.readouterr()
            assert out == ""
            assert err.startswith(f"scalkit store: {sentence.format(url)}")
            assert err.count("\n") == 1
            assert "Traceback" not in err


def test_where_a_server_leads_elsewhere_or_answers_all_with_a_page(
    serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch, small: Path
) -> None:
    monkeypatch.setattr(_Server, "leads", {"file": "file:///etc/passwd", "circle": "/circle"})
    url = serve(small).removesuffix("/small.zip")
    for name, said in (("file", "it leads to another kind of address"), ("circle", "it leads from one address to the next .*")):
        with pytest.raises(StoreError, match=rf"^cannot read '{url}/{name}': {said}; try again, or "):
            sk.store.open(f"{url}/{name}")
    monkeypatch.setattr(_Server, "page", b"<!DOCTYPE html><title>Welcome</title>")
    with pytest.raises(StoreError, match=rf"^there is no zip at '{url}/a\.zip'; name one that "):
        sk.store.open(f"{url}/a.zip")


def test_no_more_is_fetched_than_the_limits_allow(serve: Callable[..., str], small: Path) -> None:
    with (
        pytest.raises(StoreError, match=r"^'.*small\.zip' has more than 0 MB, too much for a store\.$"),
        fetched(serve(small), Policy(max_total_bytes=3000)),
    ):
        pass


def test_a_url_in_capitals(serve: Callable[..., str], small: Path) -> None:
    store = sk.store.open(serve(small).replace("http:", "HTTP:"))
    assert (len(store), store.readonly) == (2, True)
    with pytest.raises(StoreError, match="is on a server, which is only read"):
        store.put(small)


def test_urls_that_lead_to_files_of_this_machine_are_refused(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links are followed behind such a URL; they are refused where the folder itself is named."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    for url in (small.as_uri(), f"local://{small}"):
        with pytest.raises(StoreError, match=r"^'.*' leads to files of this machine; name the folder or the zip itself\.$"):
            sk.store.open(url)
    for url in (f"simplecache::{small.as_uri()}", f"zip://s.zip::{small.as_uri()}", "simplecache::https://host/store"):
        with pytest.raises(StoreError, match=r"^'.*' is a chain of addresses; name an https or s3 URL\.$"):
            sk.store.open(url)
    assert list(here.iterdir()) == []


def test_a_password_is_never_shown() -> None:
    assert shown("https://me:secret@host/results?token=1") == "https://host/results"
    with socket.socket() as silent:  # nobody listens at its port
        silent.bind(("127.0.0.1", 0))
        with pytest.raises(StoreError) as caught:
            sk.store.open(f"http://me:secret@127.0.0.1:{silent.getsockname()[1]}/store")
    assert "secret" not in str(caught.value)


def test_missing_packages_are_named_with_the_command() -> None:
    without = "import sys\nsys.modules[{!r}] = None\nimport scalkit as sk\ntry:\n    sk.store.open({!r})\n"
    told = "except sk.errors.MissingPackageError as error:\n    print(error)\n"
    for package, url, command in (
        ("fsspec", "https://host/store", "pip install 'scalkit[remote]'"),
        ("s3fs", "s3://bucket/store", "python -m pip install s3fs"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", without.format(package, url) + told], capture_output=True, text=True, check=True
        )
        assert f" need {package}, which is not installed here; install it with: " in done.stdout
        assert done.stdout.strip().endswith(command)
    assert issubclass(MissingPackageError, ImportError)
