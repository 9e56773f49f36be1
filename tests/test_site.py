"""The documentation site is built without a warning and without a network, and asks no other server for anything."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scalkit.cli import docs, main

DOCS = Path(__file__).resolve().parents[1] / "docs"
FETCHED = re.compile(
    r"""<(?:script|img|iframe|link(?=[^>]*(?:stylesheet|preload|icon|preconnect)))[^>]*(?:src|href)=["'](?:https?:)?//[^"']*"""
)
NO_NETWORK = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    words = ["-W", "--keep-going", "-q", "-b", "html", "-d", str(folder / "trees"), str(DOCS), str(folder / "html")]
    environment = os.environ | NO_NETWORK | {"PYTHONPATH": str(DOCS.parent)}
    done = subprocess.run([sys.executable, "-m", "sphinx", *words], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return folder / "html"


def test_every_page_of_docs_is_in_the_site(site: Path) -> None:
    pages = [path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*") if path.suffix in (".md", ".rst")]
    assert [page for page in pages if not (site / page).is_file()] == []
    assert (site / "gallery.html").read_text(encoding="utf-8").count("Plotly.newPlot") >= 10


def test_no_page_asks_another_server(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert FETCHED.findall(page.read_text(encoding="utf-8")) == [], page
    for style in (site / "_static").rglob("*.css"):
        assert not re.search(r"""(?:@import|url\()\s*["']?https?:""", style.read_text(encoding="utf-8")), style


def test_the_command_opens_what_was_built(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(docs, "_SITE", site)
    assert main(["docs", "howto/ci", "--no-open"]) == 0
    assert capsys.readouterr().out == f"{site / 'howto/ci.html'}\n"
    assert main(["docs", "howto/none"]) == 2
    assert "no page 'howto/none'; leave it out" in capsys.readouterr().err
    monkeypatch.setattr(docs, "_SITE", site / "none")
    assert main(["docs"]) == 2
    assert "in a checkout 'make docs' builds it" in capsys.readouterr().err
