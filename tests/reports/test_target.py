"""Where a report goes: refused before the work starts, written whole or not at all."""

from __future__ import annotations

import os
import re
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from scalkit.errors import ReportError
from scalkit.reports.write import Target


def _refused(message: str) -> AbstractContextManager[object]:
    return pytest.raises(ReportError, match=f"^{re.escape(message)}$")


def test_names_stand_beside_each_other(tmp_path: Path) -> None:
    target = Target.of(tmp_path / "my.report.html")
    assert [path.name for path in target.files] == ["my.report.verdict.json", "my.report.junit.xml", "my.report.html"]


def test_existing_report_is_refused_and_allowed_by_force(tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    out.write_text("old")
    (tmp_path / "r.junit.xml").write_text("old")
    message = (
        f"the report {out} would replace r.junit.xml, r.html in {tmp_path}; choose another name or allow it "
        "(force=True, --force)."
    )
    with _refused(message):
        Target.of(out)
    assert Target.of(out, force=True).html == out


def test_missing_folder_is_named(tmp_path: Path) -> None:
    out = tmp_path / "none" / "r.html"
    with _refused(f"cannot write the report {out}: there is no folder {out.parent}; create it or choose another."):
        Target.of(out)


def test_folder_as_report_is_refused(tmp_path: Path) -> None:
    with _refused(f"cannot write the report {tmp_path}: it is a folder; name a file in it, such as report.html."):
        Target.of(tmp_path)


def test_unwritable_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Root may write everywhere, so the answer of the system is replaced.
    monkeypatch.setattr("os.access", lambda path, mode: False)
    out = tmp_path / "r.html"
    with _refused(f"cannot write the report {out}: the folder {tmp_path} is not writable; choose another."):
        Target.of(out)


def test_write_leaves_nothing_behind_when_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = Target.of(tmp_path / "r.html")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    message = f"cannot write the report {target.html}: No space left on device; make room or choose another place."
    with _refused(message):
        target.write(dict.fromkeys(target.files, "x"))
    assert list(tmp_path.iterdir()) == []


def test_write_replaces_and_respects_the_mask(tmp_path: Path) -> None:
    target = Target.of(tmp_path / "r.html")
    target.write({path: path.name for path in target.files})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {p.name: p.name for p in target.files}
    reference = tmp_path / "plain"
    reference.write_text("x")
    assert target.html.stat().st_mode == reference.stat().st_mode


def test_device_as_report_is_refused() -> None:
    with _refused("cannot write the report /dev/null: it is no ordinary file; choose another name."):
        Target.of("/dev/null", force=True)


def test_what_is_no_ordinary_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "r.junit.xml")
    out = tmp_path / "r.html"
    with _refused(f"cannot write the report {out}: beside it r.junit.xml is no ordinary file; rename one of them."):
        Target.of(out, force=True)


@pytest.mark.parametrize("done", [0, 1, 2])
def test_interruption_restores_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: int) -> None:
    target = Target.of(tmp_path / "r.html")
    target.junit_xml.write_text("old")
    real, calls = os.replace, []

    def interrupted(source: Path, to: Path) -> None:
        calls.append(to)
        if len(calls) == done + 1:
            raise KeyboardInterrupt
        real(source, to)

    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        target.write(dict.fromkeys(target.files, "new"))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"r.junit.xml": "old"}
