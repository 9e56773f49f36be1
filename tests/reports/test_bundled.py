"""Finding what is shipped: in the checkout first, then inside the package."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import scalkit as sk
from scalkit.errors import ReportError
from scalkit.reports import bundled
from scalkit.support.bundled import here_or_bundled


def test_checkout_is_found() -> None:
    assert bundled("notebooks/90_report.ipynb") == Path(__file__).resolve().parents[2] / "notebooks/90_report.ipynb"


def test_package_serves_without_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "scalkit"
    (package / "_shipped/notebooks").mkdir(parents=True)
    (package / "_shipped/notebooks/x.ipynb").write_text("{}")
    monkeypatch.setitem(bundled.__globals__, "_PACKAGE", package)
    assert bundled("notebooks/x.ipynb") == package / "_shipped/notebooks/x.ipynb"


def test_missing_file_names_both_places() -> None:
    root = Path(__file__).resolve().parents[2]
    message = (
        f"cannot find 'notebooks/none.ipynb' of scalkit, looked for {root}/notebooks/none.ipynb or "
        f"{root}/scalkit/_shipped/notebooks/none.ipynb; install scalkit again."
    )
    with pytest.raises(ReportError, match=f"^{re.escape(message)}$"):
        bundled("notebooks/none.ipynb")


def test_shipped_data_are_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert here_or_bundled(Path("data/quickstart")) == bundled("data/quickstart")
    assert here_or_bundled(Path("data/../pyproject.toml")) == Path("data/../pyproject.toml")
    assert here_or_bundled(Path("data/none")) == Path("data/none")
    assert set(sk.read("data/quickstart")) == set(sk.read(bundled("data/quickstart")))
    Path("data/quickstart").mkdir(parents=True)
    assert here_or_bundled(Path("data/quickstart")) == Path("data/quickstart")
