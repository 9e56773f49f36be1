"""The store: what is filed comes back, once, under a name that follows from its content."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import xarray as xr

import scalkit as sk
from scalkit.errors import DataError, StoreError, UsageError
from scalkit.store import index
from scalkit.store.filed.rows import Rows
from scalkit.store.folder import MARKER
from scalkit.store.runs.content import KEY, RunContent, content_id, decoded, encoded

DATA = Path(__file__).resolve().parents[2] / "data"
REAL = DATA / "libraries-times" / "mpich-5.0.2"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stores") / "results"
    store = sk.store.open(path)
    store.put(REAL)
    store.put(DATA / "simulated" / "daint")
    return path


@pytest.fixture
def store(filled: Path) -> sk.store.Store:
    return sk.store.open(filled)


def _without_origin(ds: xr.Dataset) -> xr.Dataset:
    ds = ds.copy()
    for key in ("inputs", "source", "campaign", "notes"):
        ds.attrs.pop(key, None)
    return ds


@pytest.mark.parametrize("folder", ["libraries-times/mpich-5.0.2", "simulated/daint"])
def test_what_is_loaded_is_what_read_gives(store: sk.store.Store, folder: str) -> None:
    read = sk.read(DATA / folder)
    campaign = json.loads(read.attrs["campaign"])["id"]
    loaded = store.load(run=list(store.runs(campaign=campaign)["run_id"]))
    loads = [ds.drop_vars("foreign_load") for ds in (loaded, read)]
    xr.testing.assert_identical(*map(_without_origin, loads))
    np.testing.assert_allclose(loaded["foreign_load"], read["foreign_load"], rtol=1e-12)


def test_loaded_measurements_are_validated_like_their_files(store: sk.store.Store) -> None:
    loaded = store.load(machine="daint*", op="MPI_Bcast")
    assert sk.validate(loaded, {"MPI_Bcast": "log(p)"})["MPI_Bcast"].match == "total"


def test_several_platforms_are_a_tree(store: sk.store.Store) -> None:
    tree = store.load(op="MPI_Bcast")
    assert [node.name for node in tree.leaves] == ["daint, simulated, 1 per node, SimGrid SMPI 3.32", "vm, MPICH 5.0.2"]


def test_repetitions_are_kept_in_order_as_whole_nanoseconds(store: sk.store.Store) -> None:
    lines = [json.loads(line) for line in (REAL / "time-p0004-r00.jsonl").read_text().splitlines()]
    label = lines[0]["run_id"]
    passes = [line for line in lines if line["rec"] == "cell" and line["op"] == "MPI_Bcast"]
    run_id = store.runs(label=label)["run_id"].item()
    rows = [row for row in store.table(run_id).to_pylist() if row["op"] == "MPI_Bcast" and row["p"] == 4]
    assert [row["raw"] for row in rows] == [[t for one in passes for t in one["t_ns"]]]
    assert rows[0]["passes"] == [one["n"] for one in passes]
    assert rows[0]["n_kept"] == rows[0]["n"] - len(set(rows[0]["late_at"]) | set(rows[0]["overrun_at"]))


def test_attributes_of_the_paper(store: sk.store.Store) -> None:
    run_id = store.runs(label="b7c5d20f-r00")["run_id"].item()
    measured = store.record(run_id)["measured"]
    assert measured["mpi_impl"] == "MPICH"
    assert measured["switches"]["arguments"]["max_reps"] == 400
    assert measured["machine_desc"]["cpu"].startswith("Intel")
    suites = store.suites(run=run_id).set_index(["op", "metric"])
    bcast = suites.loc["MPI_Bcast", "time"]
    assert (bcast["pattern"], bcast["x_name"], bcast["axis"], bcast["unit"]) == ("collective", "p", "log2", "ns")
    assert (bcast["x_min"], bcast["x_max"], bcast["points"], bcast["fixed"]) == (2, 32, 5, '{"msg_By":8}')
    assert suites.loc["Bcast_binary_tree", "time"]["role"] == "substitute"


def test_virtual_times_and_the_memory_beside_them_are_two_runs(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    found = {store.record(one)["measured"]["machine"]: one for one in store.put(DATA / "quickstart").added}
    virtual = "cluster in virtual time: L 1.00 us, o 300 ns, g 100 ns, G 80.0 ps/B; computing costs no time"
    assert set(found) == {virtual, "vm"}
    assert set(store.suites(run=found["vm"])["pattern"]) == {"memory"}
    timed = store.record(found[virtual])["measured"]
    assert (timed["nodes"], timed["processes_per_node"]) == (64, 1)


def test_filed_twice_is_one(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    first = store.put(REAL)
    assert (len(first.added), first.known) == (5, ())
    again = store.put(REAL, notes="again", user="somebody")
    assert (again.added, set(again.known)) == ((), set(first.added))
    other = store.put(REAL, machine="another")
    assert len(other.added) == 5
    assert len(store) == 10


def test_a_campaign_that_went_on_replaces_what_was_filed_before(tmp_path: Path) -> None:
    early = tmp_path / "early"
    early.mkdir()
    shutil.copy(REAL / "campaign.toml", early)
    shutil.copy(REAL / "time-p0002-r00.jsonl", early)
    store = sk.store.open(tmp_path / "s")
    first = store.put(early).added
    filed = store.put(REAL)
    assert filed.replaced == first
    assert len(store) == 5
    assert store.retractions()[0]["reason"].startswith("replaced by ")


def test_the_name_of_a_file_is_the_hash_of_its_content(store: sk.store.Store) -> None:
    for run_id in store.folder.run_ids():
        record, table = decoded((store.folder.runs / f"{run_id}.parquet"), run_id)
        assert content_id(record["measured"], table) == run_id == record["run_id"]


def test_a_dataset_and_a_tree_are_filed(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    ds = sk.measurements([2, 4, 8], [[1e-6, 2e-6], [3e-6, 4e-6], [5e-6, 6e-6]], name="MPI_Gather")
    assert len(store.put(ds, machine="mine").added) == 1
    loaded = store.load(machine="mine")
    np.testing.assert_allclose(loaded["time"].squeeze(), ds["time"].squeeze())
    tree = xr.DataTree.from_dict({"/a": ds, "/b": ds.assign(time=ds["time"] * 2)})
    assert len(store.put(tree, machine="trees").added) == 2
    with pytest.raises(DataError, match=r"has the value 0\.5; the store keeps whole numbers\.$"):
        store.put(sk.measurements([2, 4], [0.5, 1.0], metric="ratio", unit="1", name="f"))
    with pytest.raises(DataError, match=r"^'alpha' has the value 0\.25; the store keeps whole numbers\.$"):
        store.put(sk.measurements([0.25, 0.5, 1], [1e-6, 2e-6, 3e-6], parameter="alpha", name="f"))


def test_sizes_make_a_suite_over_the_size(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    points = [[p, s] for p in (2, 4) for s in (8, 64, 512)]
    store.put(sk.measurements(points, np.arange(1.0, 7.0) * 1e-6, parameter=["p", "S"], name="MPI_Bcast"))
    suites = store.suites()
    assert list(suites["x_name"]) == ["msg_By", "msg_By"]
    assert sorted(suites["fixed"]) == ['{"p":2}', '{"p":4}']
    assert list(store.points(p=4, msg_By=64)["med"]) == [5000.0]


def test_retracted_runs_are_not_answered(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    run_id, *_ = store.put(REAL).added
    store.retract(run_id[:8], "wrong clock", by="me")
    assert run_id not in set(store.runs()["run_id"])
    assert run_id in set(store.runs(retracted=True)["run_id"])
    assert len(store) == 4
    with pytest.raises(UsageError, match=r"^a retraction needs a reason; say what is wrong with the run\.$"):
        store.retract(run_id, " ")
    with pytest.raises(UsageError, match=r"^by '<me>' has markup in it\.$"):
        store.retract(run_id, "wrong clock", by="<me>")


def test_the_index_can_be_lost_broken_and_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_FRESH_WRITTEN", 0)
    store = sk.store.open(tmp_path / "s")
    store.put(REAL)
    expected = store.points().sort_values(["run_id", "op", "metric", "p"]).reset_index(drop=True)
    assert len(store.runs()) == 5
    for damage in ("none", "removed", "broken"):
        if damage == "removed":
            shutil.rmtree(store.folder.index)
        if damage == "broken":
            next(store.folder.index.rglob("runs.parquet")).write_bytes(b"PAR1")
        found = sk.store.open(tmp_path / "s").points().sort_values(["run_id", "op", "metric", "p"])
        assert found.reset_index(drop=True).equals(expected), damage


def test_many_runs_make_an_index_by_themselves(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    ds = sk.measurements([2, 4], [1e-6, 2e-6], name="f")
    for k in range(20):
        store.put(ds, machine=f"m{k}")
    assert len(store.runs()) == 20
    assert list(store.folder.index.iterdir())
    store.put(ds, machine="later")
    assert len(store.runs()) == 21


def test_damaged_files_are_named_and_the_rest_is_used(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    store.put(REAL)
    path = store.folder.runs / f"{store.folder.run_ids()[0]}.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    store = sk.store.open(tmp_path / "s")
    assert len(store.runs()) == 4
    assert len(store.problems) == 1
    assert store.problems[0].startswith(f"{path.name} cannot be read as Parquet: ")


OTHER_SCHEMAS = [(4, "file its measurements again."), (6, "update scalkit.")]


@pytest.mark.parametrize(("version", "way_on"), OTHER_SCHEMAS)
def test_a_store_of_another_schema_is_refused(tmp_path: Path, version: int, way_on: str) -> None:
    sk.store.open(tmp_path / "s").folder.prepare()
    (tmp_path / "s" / MARKER).write_text(json.dumps({"scalkit_store": 1, "schema_version": version}))
    with pytest.raises(StoreError) as error:
        sk.store.open(tmp_path / "s")
    assert str(error.value) == f"the store {str(tmp_path / 's')!r} has schema {version}, and this scalkit reads 5; {way_on}"


@pytest.mark.parametrize(("version", "way_on"), OTHER_SCHEMAS)
def test_a_file_of_another_schema_is_named(tmp_path: Path, version: int, way_on: str) -> None:
    store = sk.store.open(tmp_path / "s")
    (run_id, *_) = store.put(REAL).added
    path = store.folder.runs / f"{run_id}.parquet"
    _with_record(path, schema_version=version)
    expected = f"{path.name} has schema {version}, and this scalkit reads 5; {way_on}"
    assert sk.store.open(tmp_path / "s").problems == (expected,)


def test_a_run_that_does_not_say_its_clock_is_refused(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    (run_id, *_) = store.put(REAL).added
    path = store.folder.runs / f"{run_id}.parquet"
    measured = {**decoded(path, run_id)[0]["measured"], "clock": ""}
    _with_record(path, measured=measured)
    expected = (
        f"{path.name} does not say whether its times are of a real, a virtual or a simulated clock; file its measurements again."
    )
    again = sk.store.open(tmp_path / "s")
    assert (again.problems, len(again.runs())) == ((expected,), 4)


def test_a_run_whose_record_lacks_a_field_is_named(tmp_path: Path) -> None:
    store = sk.store.open(tmp_path / "s")
    (run_id, *_) = store.put(REAL).added
    path = store.folder.runs / f"{run_id}.parquet"
    measured = decoded(path, run_id)[0]["measured"]
    del measured["parameter"]
    _with_record(path, measured=measured)
    again = sk.store.open(tmp_path / "s")
    assert again.problems == (f"{path.name} has a record without parameter; file its measurements again.",)
    assert len(again.runs()) == 4


def _with_record(path: Path, **changed: object) -> None:
    """Write a run with another record."""
    record, table = decoded(path, path.name)
    with pq.ParquetWriter(path, table.schema, store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({KEY: json.dumps({**record, **changed}).encode()})


def test_read_only_writes_nothing(filled: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(filled, copy)
    (copy / "tmp" / "x.parquet.host.1.ab").write_text("")
    before = sorted(copy.rglob("*"))
    store = sk.store.open(copy, readonly=True)
    assert len(store.runs()) == 8
    with pytest.raises(StoreError, match=r"^the store '.*' was opened to be read only; open it without readonly=True\.$"):
        store.put(REAL)
    assert sorted(copy.rglob("*")) == before


def test_a_zip_is_read(filled: Path, tmp_path: Path) -> None:
    path = tmp_path / "results.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for one in filled.rglob("*"):
            if one.is_file() and "index" not in one.parts:
                archive.write(one, Path("results") / one.relative_to(filled))
    store = sk.store.open(path)
    assert store.readonly
    assert len(store.runs()) == 8


def test_folders_that_are_no_store(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(StoreError, match=r"^'.*' is no store and not empty; name an empty or a new folder\.$"):
        sk.store.open(tmp_path)
    with pytest.raises(StoreError, match=r"^there is no store at '.*'; name the folder of one, or a zip of it, or make one: "):
        sk.store.open(tmp_path / "none", readonly=True)
    with pytest.raises(StoreError, match=r"^'.*file\.txt' is a file and no zip; name the folder of a store, or a zip of one\.$"):
        sk.store.open(tmp_path / "file.txt")
    with pytest.raises(DataError, match=r"^there is nothing at '.*none'; name a campaign folder or a run file\.$"):
        sk.store.open(tmp_path / "s").put(tmp_path / "none")


def test_only_filing_makes_a_store(tmp_path: Path) -> None:
    place = tmp_path / "new"
    store = sk.store.open(place)
    assert repr(store) == f"<scalkit Store {str(place)!r}, 0 runs, not made yet>"
    for question in (store.runs, store.points, store.retractions, lambda: store.retract("ab", "wrong")):
        with pytest.raises(StoreError, match=r"^there is no store at '.*new'; .* 'scalkit store put' and Store\.put do so with"):
            question()
    for change in (store.put, store.merge):
        with pytest.raises(DataError, match=r"^there is nothing at '.*none'; "):
            change(tmp_path / "none")
    assert not place.exists()
    store.put(DATA / "quickstart")
    assert len(store) == len(sk.store.open(place)) == 2


def test_questions_in_sql_reach_no_other_file(store: sk.store.Store, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    found = store.query("SELECT count(*) AS n FROM points WHERE op = ?", ["MPI_Bcast"])
    assert found["n"].item() == 25 + 30
    for question in (
        f"SELECT * FROM read_csv('{secret}')",
        f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
        f"ATTACH '{tmp_path / 'x.duckdb'}'",
        "SET enable_external_access = true",
        "INSTALL httpfs",
        "SELECT * FROM secret",
        "SELECT 1; DROP VIEW runs",
        "",
    ):
        with pytest.raises(UsageError, match=re.escape(f"the question {question[:80]!r} cannot be answered: ")):
            store.query(question)
    assert not (tmp_path / "out.csv").exists()
    assert len(store.query("WITH few AS (FROM runs LIMIT 1) SELECT * FROM few")) == 1


def test_wrong_filters_are_explained(store: sk.store.Store) -> None:
    with pytest.raises(UsageError, match=r"^there is no 'machin' to choose by; did you mean 'machine'\?$"):
        store.runs(machin="x")
    with pytest.raises(UsageError, match=r"^p is \{\}; a text, a number, or a list of them is needed\.$"):
        store.suites(p={})
    with pytest.raises(UsageError, match=r"^p is '4\*'; a number is needed\.$"):
        store.suites(p="4*")
    with pytest.raises(UsageError, match=r"^p is ''; a number is needed\.$"):
        store.compare(["op=MPI_Bcast,p="])
    with pytest.raises(UsageError, match=r"^oversubscribed is 'yes'; true or false is needed\.$"):
        store.suites(oversubscribed="yes")
    assert len(store.runs(notes=4)) == len(store.runs(run_id=8057)) == 0  # texts, not numbers
    with pytest.raises(DataError, match=r"^there is no run 'zz' in '.*'; 'scalkit store runs' lists them\.$"):
        store.suites(run="zz")
    with pytest.raises(DataError, match=r"^nothing in the store fits what was asked for"):
        store.load(op="MPI_Nothing")


def test_encoding_is_the_same_whatever_the_order_of_writing(store: sk.store.Store) -> None:
    run_id = store.folder.run_ids()[0]
    record, table = decoded((store.folder.runs / f"{run_id}.parquet"), run_id)
    run = RunContent.of(record["measured"], record["filing"], table)
    assert run.run_id == run_id
    assert encoded(run) == encoded(run)


def test_repetitions_take_little_room() -> None:
    rng = np.random.default_rng(1)
    rows = Rows()
    for op in range(40):
        for size in range(20):
            times = (1e4 * (1 + op) + 2.0**size) * rng.lognormal(0, 0.08, 400)
            raw = np.rint(times * np.where(rng.random(400) < 0.01, 5, 1)).astype(np.int64)
            rows.add("med", op=f"MPI_{op}", pattern="collective", metric="time", unit="ns", p=32, x=32, msg_By=2**size, raw=raw)
    launches = rows.launched("simulated")
    rows.over("p")
    content = encoded(RunContent.of({"machine": "m", "clock": "real", "launches": launches}, {}, rows.table()))
    assert len(content) <= 0.3 * 8 * 40 * 20 * 400


def test_an_address_is_no_place_of_a_store() -> None:
    sentence = r"^'https://host/s\.zip' is an address; download the zip that is there, and name the copy\.$"
    with pytest.raises(StoreError, match=sentence):
        sk.store.open("https://host/s.zip")
