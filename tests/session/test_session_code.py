"""The Python that a session writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from session_data import EXPECTATIONS, executed

import scalkit as sk
from scalkit.measure import write_netcdf

ROOT = Path(__file__).resolve().parents[2]


def test_code_is_what_a_person_would_write(monkeypatch):
    monkeypatch.chdir(ROOT)
    session = sk.Session("data/libraries-times/mpich-5.0.2", "mpi").judge_by(statistic="median").select("MPI_Bcast")
    session.exclude(2).expect("p").move_tick("p^(1/2)", "p^(3/5)").add_rule("MPI_Reduce <= MPI_Allreduce")
    code = session.as_code()
    assert code == (
        "import scalkit as sk\n"
        "\n"
        "session = sk.Session(\n"
        '    "data/libraries-times/mpich-5.0.2",\n'
        '    "mpi",\n'
        '    rules=["MPI_Reduce <= MPI_Allreduce"],\n'
        '    statistic="median",\n'
        ")\n"
        'session.select("MPI_Bcast")\n'
        "session.exclude(2)\n"
        'session.expect("p", "p^(1/2)")\n'
        'session.add_tick("p^(3/5)")\n'
        'session.remove_tick("p^(1/2)")\n'
        "print(session.verdict.sentence if session.verdict else session.problem)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == session.problem
    assert session.problem.startswith("MPI_Bcast (time) has 4 of 5 needed settings")


def test_code_of_a_session_whose_data_are_only_inside_its_file_opens_that_file(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_netcdf(data, "data.nc")
    sk.Session("data.nc", EXPECTATIONS).expect("p^2").save("mine.json", with_data=True)
    opened = sk.Session.load("mine.json")
    assert 'sk.Session("data.nc", ' in opened.as_code()
    Path("data.nc").unlink()
    assert 'data = sk.Session.load("mine.json").data\n' in opened.as_code()
    names = {}
    exec(opened.as_code(), names)
    assert names["session"].state == opened.state
    Path("mine.json").unlink()
    assert "data = sk.read('data.nc')\n" in opened.as_code(), "neither is there"


def test_data_in_memory_are_named_by_a_file_to_write(session):
    other = sk.Session(session.data, EXPECTATIONS).select("gather").set_deviation(None)
    assert "# made in memory; scalkit.measure.write_netcdf(data, 'data.nc') writes them there\n" in other.as_code()
    again, said = executed(other.as_code(), other.data)
    assert again.state == other.state
    assert said.strip() == other.verdict.sentence


def test_expectations_of_a_file_are_named_while_they_are_the_same(session, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('rules = ["bcast <= gather"]\n[expectations]\nbcast = "log(p)"\n', encoding="utf-8")
    named = sk.Session(session.data, path)
    assert f'"{path}"' in named.as_code()
    named.remove_rule("bcast <= gather")
    assert executed(named.as_code(), named.data)[0].state == named.state
    path.write_text('litmus = "bcast"\n[expectations]\nbcast = "p"\n', encoding="utf-8")
    assert 'expectations = {"bcast": "log(p)"}' in named.as_code()
    other = sk.Session(session.data, path)
    path.unlink()
    assert "# the litmus function, bcast, is for a file to name" in other.as_code()


@pytest.mark.parametrize("ticks", [("1", "p"), ("1", "log(p)", "p", "p^2", "p^3", "p^4", "p^5")])
def test_many_ticks_are_written_as_a_list(session, ticks):
    session.select("bcast").set_ticks(ticks)
    code = session.as_code()
    assert "session.set_ticks([" in code
    assert executed(code, session.data)[0].state == session.state


def test_names_with_quotes_are_text_only():
    name = 'f"); raise SystemExit("'
    session = sk.Session(sk.measurements([2, 4, 8, 16, 32], [1, 2, 3, 4, 5.5], name=name), {name: "log(p)"})
    assert executed(session.expect("p").as_code(), session.data)[0].state == session.state
