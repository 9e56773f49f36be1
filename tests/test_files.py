"""A file appears only when it is complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalkit.errors import DataError
from scalkit.support.files import whole_file


def test_what_was_there_stays_until_all_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("before")
    with whole_file(path, DataError) as part:
        part.write_text("after")
        assert path.read_text() == "before"
    assert path.read_text() == "after"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), ValueError("bad")])
def test_nothing_is_half_written(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "a.json"
    path.write_text("before")
    with pytest.raises(DataError if isinstance(error, OSError) else type(error)) as found:
        _write_half(path, error)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    if isinstance(error, OSError):
        assert str(found.value) == (f"cannot write {path}: No space left on device; make room or choose another place.")


def test_a_place_that_is_no_place(tmp_path: Path) -> None:
    with (
        pytest.raises(DataError, match=r"^cannot write it: No such file or directory; say another\.$"),
        whole_file(tmp_path / "none" / "a", DataError, "say another", what="it") as part,
    ):
        part.write_text("x")


def _write_half(path: Path, error: BaseException) -> None:
    with whole_file(path, DataError) as part:
        part.write_text("half")
        raise error
