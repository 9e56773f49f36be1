"""Finding what is shipped: in the checkout first, then inside the package."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scalkit.errors import ReportError
from scalkit.reports import bundled


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
