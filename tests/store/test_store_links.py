"""A store that somebody else made cannot show or change a file outside it: links and the like are refused by name."""

from __future__ import annotations

import os
import shutil
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_submissions import good

import scalkit as sk
from scalkit.errors import DataError, StoreError
from scalkit.store.directory import Directory, ForeignFileError

DATA = Path(__file__).resolve().parents[2] / "data"
ALLOWED = "only plain files and folders are allowed there: put a copy in its place, or delete it."


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a store with a retracted run, and beside it a folder of a user with a file that is older than a day."""
    store = sk.store.open(good(tmp_path / "s"))
    store.retract(store.folder.run_ids()[0], "wrong clock")
    private = tmp_path / "private"
    private.mkdir()
    (private / "thesis.txt").write_text("years of work")
    os.utime(private / "thesis.txt", (0, 0))
    return store.path


def _linked_folder(name: str) -> Callable[[Path], str]:
    def make(store: Path) -> str:
        if (store / name).exists():
            shutil.rmtree(store / name)
        (store / name).symlink_to(store.parent / "private")
        return name

    return make


def _linked_file(folder: str) -> Callable[[Path], str]:
    def make(store: Path) -> str:
        path = next((store / folder).iterdir())
        path.unlink()
        path.symlink_to(store.parent / "private" / "thesis.txt")
        return f"{folder}/{path.name}"

    return make


def _hard_link(store: Path) -> str:
    path = next((store / "runs").iterdir())
    os.link(path, store.parent / "private" / "run")
    return f"runs/{path.name}"


def _linked_marker(store: Path) -> str:
    (store / "scalkit-store.json").rename(store.parent / "marker")
    (store / "scalkit-store.json").symlink_to(store.parent / "marker")
    return "scalkit-store.json"


def _pipe(store: Path) -> str:
    name = f"statements/{'0' * 32}.json"
    os.mkfifo(store / name)
    return name


def _socket(store: Path) -> str:
    before = Path.cwd()
    os.chdir(store / "runs")  # the path of a socket has at most 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(f"{'0' * 32}.parquet")
    finally:
        os.chdir(before)
    return f"runs/{'0' * 32}.parquet"


CASES: dict[str, tuple[Callable[[Path], str], str]] = {
    "temporary files": (_linked_folder("tmp"), "a symbolic link"),
    "runs": (_linked_folder("runs"), "a symbolic link"),
    "statements": (_linked_folder("statements"), "a symbolic link"),
    "a run": (_linked_file("runs"), "a symbolic link"),
    "a statement": (_linked_file("statements"), "a symbolic link"),
    "the marker": (_linked_marker, "a symbolic link"),
    "another name of a run": (_hard_link, "a hard link: one of 2 names of a file"),
    "a pipe": (_pipe, "a named pipe"),
    "a socket": (_socket, "a socket"),
}


def _contents(folder: Path) -> dict[str, str]:
    return {str(path): path.read_text(errors="replace") for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("case", CASES)
def test_a_store_with_links_is_refused_and_nothing_outside_is_touched(place: Path, case: str) -> None:
    make, kind = CASES[case]
    name = make(place)
    before = _contents(place.parent / "private")
    mine = sk.store.open(place.parent / "mine")
    for readonly in (True, False):
        with pytest.raises(ForeignFileError) as error:
            sk.store.open(place, readonly=readonly)
        assert str(error.value) == f"{name!r} in {str(place)!r} is {kind}; {ALLOWED}"
    merged = mine.merge(place)
    assert merged.added == ()
    assert {code for one in merged.refused for code, _ in one.refused} <= {"link", "special-file"}
    assert any(kind in text for one in merged.refused for _, text in one.refused)
    assert _contents(place.parent / "private") == before


def _put(store: sk.store.Store) -> object:
    return store.put(sk.measurements([2, 4], [1e-6, 2e-6], name="f"))


def _retract(store: sk.store.Store) -> object:
    return store.retract(store.folder.run_ids()[0], "wrong again")


@pytest.mark.parametrize(("folder", "change"), [("tmp", _put), ("runs", _put), ("statements", _retract)])
def test_a_link_that_appears_in_an_open_store_is_not_followed(
    place: Path, folder: str, change: Callable[[sk.store.Store], object]
) -> None:
    store = sk.store.open(place)
    _linked_folder(folder)(place)
    before = _contents(place.parent / "private")
    with pytest.raises(StoreError, match=f"^'{folder}' in '.*' is a symbolic link; "):
        change(store)
    assert _contents(place.parent / "private") == before


def test_a_file_that_is_replaced_keeps_its_other_names(tmp_path: Path) -> None:
    directory = Directory(tmp_path / "d")
    directory.create()
    directory.write({"runs/a": b"first"})
    os.link(tmp_path / "d/runs/a", tmp_path / "elsewhere")
    directory.write({"runs/a": b"second"})
    assert (tmp_path / "elsewhere").read_bytes() == b"first"
    assert directory.read("runs/a") == b"second"


def test_the_path_that_a_user_names_may_be_a_link(place: Path) -> None:
    link = place.parent / "link"
    link.symlink_to(place)
    store = sk.store.open(link)
    store.restore(store.folder.run_ids()[0], "the clock was right")
    assert len(sk.store.open(place)) == 1


def test_a_link_in_a_zip_is_refused(place: Path) -> None:
    archive = place.parent / "s.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        link = zipfile.ZipInfo("s/statements/x.json")
        link.external_attr = 0o120777 << 16
        opened.writestr(link, "/etc/passwd")
    with pytest.raises(DataError, match=r"'s/statements/x\.json' is a link; only files are allowed"):
        sk.store.open(archive)


def _linked_run_file(campaign: Path, private: Path) -> str:
    (campaign / "1.jsonl").symlink_to(private / "thesis.txt")
    return "1.jsonl"


def _pipe_as_run_file(campaign: Path, _private: Path) -> str:
    os.mkfifo(campaign / "1.jsonl")
    return "1.jsonl"


def _linked_description(campaign: Path, private: Path) -> str:
    (campaign / "campaign.toml").unlink()
    (campaign / "campaign.toml").symlink_to(private / "thesis.txt")
    return "campaign.toml"


def _dangling_description(campaign: Path, private: Path) -> str:
    (campaign / "campaign.toml").unlink()
    (campaign / "campaign.toml").symlink_to(private / "none")
    return "campaign.toml"


@pytest.mark.parametrize("change", [_linked_run_file, _pipe_as_run_file, _linked_description, _dangling_description])
def test_a_link_or_pipe_in_a_campaign_is_refused(place: Path, change: Callable[[Path, Path], str]) -> None:
    campaign = Path(shutil.copytree(DATA / "libraries-times" / "mpich-5.0.2", place.parent / "campaign"))
    name = change(campaign, place.parent / "private")
    store = sk.store.open(place.parent / "mine")
    for read in (store.put, sk.read):
        with pytest.raises(DataError, match=rf"^{name!r} in '.*campaign' is a (symbolic link|named pipe); only plain files "):
            read(campaign)
    assert len(store) == 0


def test_a_link_to_a_campaign_among_campaigns_is_refused(place: Path) -> None:
    every = place.parent / "campaigns"
    every.mkdir()
    (every / "linked").symlink_to(DATA / "libraries-times" / "mpich-5.0.2")
    store = sk.store.open(place.parent / "mine")
    for read in (store.put, sk.read):
        with pytest.raises(DataError, match=r"^'linked' in '.*campaigns' is a symbolic link; only plain files "):
            read(every)


def test_a_record_that_was_changed_stops_with_its_name(place: Path) -> None:
    (path,) = (place / "statements").iterdir()
    content = path.read_bytes()
    for changed in (content.replace(b"wrong", b"right"), content[:-1], b""):
        path.write_bytes(changed)
        with pytest.raises(StoreError, match=rf"^statements/{path.name} in '.*' is damaged: its content does not fit its name; "):
            sk.store.open(place)
    path.write_bytes(content)
    assert len(sk.store.open(place)) == 0


def test_reading_changes_nothing(place: Path) -> None:
    (place / "tmp" / "old").write_text("half of a run")
    os.utime(place / "tmp" / "old", (0, 0))
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    for readonly in (True, False):
        store = sk.store.open(place, readonly=readonly)
        assert (len(store), len(store.points()), sk.store.validate(place).ok) == (0, 0, True)
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*")} == before


@pytest.mark.parametrize("folder", ["runs", "statements", "signatures", "tmp"])
def test_a_file_in_place_of_a_folder_is_named(place: Path, folder: str) -> None:
    if (place / folder).exists():
        shutil.rmtree(place / folder)
    (place / folder).write_text("x")
    with pytest.raises(StoreError, match=f"^cannot read {folder} in '.*': Not a directory; check the folder and its permissions"):
        sk.store.open(place)


def test_a_store_that_vanished_is_not_made_anew(place: Path) -> None:
    store = sk.store.open(place)
    shutil.rmtree(place)
    for change in (_put, _retract, len):
        with pytest.raises(
            StoreError, match=r"^cannot (read|write|clear) .* in '.*': No such file or directory; check the folder "
        ):
            change(store)
    assert not place.exists()


def test_a_pipe_that_is_named_as_a_run_is_refused_as_one(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.parquet")
    (refused,) = sk.store.validate(tmp_path / "run.parquet").refused
    assert refused.refused[0][0] == "special-file"
