"""The session file: what stands in it, what reads it back, and what is refused."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from session_data import EXPECTATIONS, made

import scalkit as sk
from scalkit.errors import DataError, ScalkitError
from scalkit.judge import ExpectationSet, Expected
from scalkit.judge.several.expectation import SeveralSpace
from scalkit.measure import write_netcdf
from scalkit.session.file import script_of
from scalkit.session.source import content_hash

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "scalkit/session/session.schema.json").read_text(encoding="utf-8"))


def edited(session):
    session.select("gather").move_tick("p^(1/2)", "p^(2/3)").snapshot("A").expect("p^2")
    return session.select("bcast").exclude(4).add_tick("p^3").judge_by(statistic="median").undo()


@pytest.fixture
def changed(session):
    return edited(session)


@pytest.fixture(scope="module")
def plain_text():
    """A whole session as JSON."""
    return json.dumps(edited(sk.Session(made(), EXPECTATIONS, ["reduce <= bcast + gather"])).to_dict())


def assert_same(one, other):
    assert other.state == one.state
    assert other.result.to_json() == one.result.to_json()
    assert (other.history, other.undone, other.snapshots) == (one.history, one.undone, one.snapshots)
    assert (other.selected, other.state.judging.min_points, other.problem) == (
        one.selected,
        one.state.judging.min_points,
        one.problem,
    )


def test_the_file_is_as_its_schema_says(changed):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(changed.to_dict(), SCHEMA)
    broken = changed.to_dict()
    broken["present"]["statistic"] = "max"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, SCHEMA)


def test_data_in_memory_go_into_the_file(changed, tmp_path):
    path = tmp_path / "mine.json"
    assert changed.save(path) is changed
    assert [one.name for one in tmp_path.iterdir()] == ["mine.json"]
    loaded = sk.Session.load(path)
    assert_same(changed, loaded)
    assert content_hash(loaded.data) == content_hash(changed.data)
    assert loaded.redo().state.judging.statistic == "median"


def test_the_same_session_gives_the_same_bytes(changed, tmp_path):
    changed.save(tmp_path / "a")
    changed.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_data_in_a_file_stay_there(data, tmp_path, monkeypatch):
    write_netcdf(data, tmp_path / "data.nc")
    monkeypatch.chdir(tmp_path)
    session = sk.Session("data.nc", EXPECTATIONS)
    session.save("mine.json")
    assert json.loads(Path("mine.json").read_text(encoding="utf-8"))["data"]["netcdf"] is None
    assert_same(session, sk.Session.load("mine.json"))
    monkeypatch.chdir("/")
    loaded = sk.Session.load(tmp_path / "mine.json")
    assert_same(session, loaded)
    assert loaded.to_dict()["data"]["paths"] == [str(tmp_path / "data.nc")]
    session.save(tmp_path / "whole.json", with_data=True)
    (tmp_path / "data.nc").unlink()
    assert_same(session, sk.Session.load(tmp_path / "whole.json"))
    with pytest.raises(DataError, match=r"mine\.json: the measurements of the session are not at 'data\.nc'; give them"):
        sk.Session.load(tmp_path / "mine.json")
    assert_same(session, sk.Session.load(tmp_path / "mine.json", data=data))


def test_data_whose_file_is_gone_stay_in_the_session(data, tmp_path):
    path = tmp_path / "data.nc"
    write_netcdf(data, path)
    sk.Session(path, EXPECTATIONS).save(tmp_path / "whole.json", with_data=True)
    path.unlink()
    opened = sk.Session.load(tmp_path / "whole.json")
    opened.save(tmp_path / "again.json")
    assert_same(opened, sk.Session.load(tmp_path / "again.json"))
    assert opened.to_dict()["data"]["paths"] == [str(path)]


def test_a_dataset_that_was_read_is_named_by_its_path_while_it_is_as_it_was(data, tmp_path):
    path = tmp_path / "data.nc"
    write_netcdf(data, path)
    read = sk.read(path)
    assert sk.Session(read, EXPECTATIONS).to_dict()["data"]["paths"] == [str(path)]
    read["time"] = read["time"] * 2
    read["time"].attrs.update(data["time"].attrs)
    plain = sk.Session(read, EXPECTATIONS).to_dict()["data"]
    assert plain["paths"] == []
    assert plain["netcdf"]


def test_other_data_at_the_path_are_refused(data, tmp_path):
    path = tmp_path / "data.nc"
    write_netcdf(data, path)
    sk.Session(path, EXPECTATIONS).save(tmp_path / "mine.json")
    write_netcdf(made(seed=2), path)
    with pytest.raises(DataError, match=r"the measurements at .*data\.nc are not those of the session: their hash is "):
        sk.Session.load(tmp_path / "mine.json")
    sk.Session.load(tmp_path / "mine.json", data=path)


def test_a_page_holds_a_session(changed, tmp_path):
    page = tmp_path / "report.html"
    changed.snapshot("</script><b>&amp; é")
    script = script_of(changed.to_dict())
    assert script.count("<") == 2
    page.write_text(f"<!DOCTYPE html>\n<body><script>var a;</script>{script}<p>x</p></body>", encoding="utf-8")
    assert_same(changed, sk.Session.load(page))
    page.write_text("<html></html>", encoding="utf-8")
    with pytest.raises(DataError, match=r"report\.html' holds no session; name a report of scalkit that has one\.$"):
        sk.Session.load(page)


def test_the_quickstart_data_survive(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    session = sk.Session("data/quickstart", "mpi").select("MPI_Allreduce").add_tick("p^5")
    session.save(tmp_path / "mine.json", with_data=True)
    assert_same(session, sk.Session.load(tmp_path / "mine.json"))
    assert (tmp_path / "mine.json").stat().st_size < 400_000


def test_all_kinds_of_rulers_survive():
    points = [(p, s) for p in (2, 4, 8, 16, 32) for s in (8, 64, 512, 4096, 32768)]
    data = sk.measurements(points, [np.log2(p) + 0.01 * s for p, s in points], parameter=["p", "S"], name="f")
    growth = sk.Growth
    expectation = sk.Expectation("p", None, "p")
    for space in (
        "paper",
        SeveralSpace("paper", (), (growth("S^3"),), (growth("S^2"),)),
        {"p": "paper", "S": sk.SearchSpace.of([growth("1"), growth("S")], "by hand", "S")},
        sk.SearchSpace.of([growth("1"), growth("p")], "by hand", "p"),
    ):
        session = sk.Session(data, ExpectationSet({"f": Expected(expectation, space)}))
        plain = json.loads(json.dumps(session.exclude((2, 8)).to_dict()))
        jsonschema.validate(plain, SCHEMA)
        assert_same(session, sk.Session.load(plain))


def change(*place, to):
    def changed(plain):
        inner = plain
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = to
        return plain

    return changed


BROKEN = [
    change("format", to="other"),
    change("schema", to=2),
    change("schema", to=True),
    change("data", to=None),
    change("data", "netcdf", to="!!"),
    change("data", "netcdf", to=base64.b64encode(gzip.compress(b"CDF")).decode()),
    change("data", "netcdf", to=base64.b64encode(gzip.compress(b"CDF" * 99)[:20]).decode()),
    change("data", "netcdf", to=None),
    change("data", "netcdf", to=3),
    change("data", "sha256", to="0" * 64),
    change("expectations", to=[]),
    change("expectations", "functions", "bcast", "expectation", to="factorial(p)"),
    change("expectations", "functions", "bcast", "expectation", to=["p"]),
    change("expectations", "functions", "bcast", "space", to="nowhere"),
    change("expectations", "rules", to="a <= b"),
    change("present", "judging", to={"min_points": "5"}),
    change("selected", to=["bcast"]),
    change("present", "statistic", to="max"),
    change("present", "rules", to=["bcast <= nothing"]),
    change("present", "rulers", to={"gather": {"p": []}}),
    change("present", "rulers", to={"gather": {"p": ["n"]}}),
    change("present", "rulers", to={"gather": "p"}),
    change("present", "rulers", to={"p": ["__import__('os')"]}),
    change("present", "excluded", to={"gather": ["4"]}),
    change("present", "excluded", to={"gather": [float("inf")]}),
    change("past", to=[{"step": "x"}]),
    change("future", to=3),
    change("snapshots", to={"A": {}}),
]


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_broken_sessions_are_refused(plain_text, number, tmp_path):
    plain = BROKEN[number](json.loads(plain_text))
    with pytest.raises(ScalkitError):
        sk.Session.load(plain)
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(ScalkitError, match=r"^.*broken\.json: "):
        sk.Session.load(path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"3", b"\xff\xfe", b"[" * 100_000])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(DataError, match=r"save|Session\.save"):
        sk.Session.load(tmp_path / "x")


def test_a_missing_file_and_a_place_that_cannot_be_written(changed, tmp_path):
    with pytest.raises(DataError, match=r"^cannot read the session '.*': No such file or directory; name a file of "):
        sk.Session.load(tmp_path / "x.json")
    with pytest.raises(DataError, match=r"^cannot write the session '.*': No such file or directory; make room or "):
        changed.save(tmp_path / "no" / "x.json")


def test_new_measurements_take_over_what_was_chosen(changed):
    other = made(settings=(2, 4, 8, 16, 32), seed=5)
    loaded = sk.Session.load(changed.to_dict(), data=other)
    assert loaded.state == changed.state
    assert loaded.series("gather").x[-1] == 32
