"""Other measurements in the same session: a step as any other; and what a session expects as a file of expectations."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from session_data import EXPECTATIONS, executed, made

import scalkit as sk
from scalkit.errors import DataError, ExpectationError, ScalkitError
from scalkit.measure import write_netcdf
from scalkit.measure.schema import metrics_of

RULES = ["reduce <= bcast + gather"]


def remaining(session):
    """Return the measurements without the settings that are left out."""
    data = session.data.copy(deep=True)
    for function, settings in session.state.excluded.items():
        for setting in settings:
            at = dict(zip(session.parameters, setting if isinstance(setting, tuple) else (setting,), strict=True))
            gone = data.coords["function"] == function
            for name, value in at.items():
                gone = gone & (data.coords[name] == value)
            for metric in metrics_of(data):
                kept = data[metric].where(~gone).transpose(*data[metric].dims)
                data[metric] = kept.assign_attrs(data[metric].attrs)
    return data


def same(session, result):
    assert session.result.to_json() == result.to_json()


@pytest.fixture
def longer():
    return made((2, 4, 8, 16, 32, 64, 128), seed=2)


def test_other_data_are_judged_by_what_was_chosen(session, longer):
    session.select("gather").expect("p*log(p)").judge_by(statistic="median").exclude(4)
    told = []
    session.observe(told.append)
    session.use_data(longer)
    assert told == [frozenset({"data", "history", "result"})]
    assert session.history[-1] == "measurements data in memory"
    assert session.selected == ("gather", "time")
    assert (session.state.judging.statistic, session.excluded, session.settings[-1]) == ("median", (4.0,), 128.0)
    given = {**EXPECTATIONS, "gather": {"expectation": "p*log(p)", "deviation": "log(p)", "space": "paper"}}
    same(session, sk.validate(remaining(session), given, RULES, statistic="median"))
    assert session.verdict.series.x.tolist() == [2, 8, 16, 32, 64, 128]


def test_it_is_undone_and_done_again(session, data, longer):
    session.use_data(longer).add_tick("p^3")
    session.undo().undo()
    same(session, sk.validate(data, EXPECTATIONS, RULES))
    assert session.data is data
    same(session.redo(), sk.validate(longer, EXPECTATIONS, RULES))
    assert session.redo().history == ("measurements data in memory", "add tick p^3")
    session.snapshot("longer").undo().undo()
    session.snapshot("begin").redo().redo()
    assert len(session.compare("longer")) == 0
    assert len(session.compare("longer", "begin")) == len(session.compare("begin"))


def test_the_same_data_are_no_step(session, data, longer):
    assert session.use_data(data.copy(deep=True)).history == ()
    session.use_data(longer).use_data(longer.copy(deep=True))
    assert len(session.history) == 1
    session.use_data(data)
    assert len(session.history) == 2
    assert session.undo().settings[-1] == 128


def test_what_is_not_measured_there_is_neither_selected_nor_left_out(session, data):
    session.select("gather").exclude(64).select("bcast").exclude(2)
    part = data.sel(function=["bcast", "reduce"], p=[4, 8, 16, 32, 64])
    told = []
    session.observe(told.append)
    session.use_data(part)
    assert session.state.excluded == {}
    assert session.selected == ("bcast", "time")
    session.undo().select("gather")
    assert session.excluded == (64.0,)
    told.clear()
    session.redo()
    assert session.selected == ("bcast", "time")
    assert "selected" in told[0]


@pytest.mark.parametrize("wrong", ["absent", 3, []])
def test_wrong_data_change_nothing(session, wrong):
    before, told = session.to_dict(), []
    session.observe(told.append)
    with pytest.raises(DataError):
        session.use_data(wrong)
    assert session.to_dict() == before
    assert told == []


def test_data_that_do_not_fit_change_nothing(session):
    other = sk.measurements([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], parameter="n", name="bcast")
    before = session.to_dict()
    with pytest.raises(ExpectationError, match="bcast"):
        session.use_data(other)
    assert session.to_dict() == before
    assert set(session._opened) == {""}


def test_file_and_code_are_about_the_present_data(session, longer, tmp_path):
    session.add_tick("p^3").snapshot("old").use_data(longer).add_tick("p^(1/8)").snapshot("new").undo()
    kept = session.save(tmp_path / "s.json").to_dict()
    again = sk.Session.load(tmp_path / "s.json")
    same(again, session.result)
    assert (again.history, again.undone, list(again.snapshots)) == ((), ("add tick p^(1/8)",), ["new"])
    assert again.to_dict() == kept
    same(executed(session.as_code(), session.data)[0], session.result)


def test_measurements_that_no_step_leads_to_are_let_go(session, data, longer):
    session.use_data(longer).undo()
    session.select("bcast").add_tick("p^3")
    session.use_data(made((2, 4, 8, 16, 32), seed=3))
    assert len(session._opened) == 2


def test_paths_and_source(data, longer, tmp_path):
    write_netcdf(data, tmp_path / "a.nc")
    write_netcdf(longer, tmp_path / "b.nc")
    session = sk.Session(tmp_path / "a.nc", EXPECTATIONS)
    assert session.paths == (str(tmp_path / "a.nc"),)
    session.use_data(tmp_path / "b.nc")
    assert session.source == str(tmp_path / "b.nc")
    assert session.history == (f"measurements {tmp_path / 'b.nc'}",)
    assert session.undo().source == str(tmp_path / "a.nc")
    assert sk.Session(data, EXPECTATIONS).paths == ()


def judged(session, folder):
    path = folder / "expectations.toml"
    session.save_expectations(path)
    return sk.validate(remaining(session), path, statistic=session.state.judging.statistic)


def plain(result):
    return {key: one for key, one in json.loads(result.to_json()).items() if key != "expectations"}


def test_expectations_file_leads_to_the_same_verdicts(session, tmp_path):
    session.select("bcast").expect("log(p)^2", "log(p)").exclude(2)
    session.select("gather").move_tick("p^(3/2)", "p^(4/3)")
    session.select("alone").expect("1")
    session.add_rule("bcast <= 2*gather").remove_rule(RULES[0])
    assert plain(judged(session, tmp_path)) == plain(session.result)
    session.select("gather").judge_by(statistic="mean")
    result = judged(session, tmp_path)
    for one in result.verdicts:
        mine = session.verdict_of((one.function, one.metric))
        assert one.posterior.probabilities.tolist() == mine.posterior.probabilities.tolist()


def test_expectations_file_of_a_catalogue_has_its_litmus_test(data, tmp_path):
    renamed = data.assign_coords(function=["MPI_Bcast", "MPI_Gather", "MPI_Reduce", "Bcast_binary_tree", "MPI_Allreduce"])
    session = sk.Session(renamed, "mpi")
    session.select("MPI_Bcast").add_tick("p^(1/5)")
    assert plain(judged(session, tmp_path)) == plain(session.result)


def test_expectations_file_over_several_parameters(tmp_path):
    p, s = np.meshgrid(2.0 ** np.arange(1, 6), 4.0 ** np.arange(1, 6))
    points = np.stack([p.ravel(), s.ravel()], axis=1)
    noise = np.random.default_rng(3).lognormal(0, 0.02, (points.shape[0], 4))
    data = sk.measurements(points, (1 + np.log2(p) * s).ravel()[:, None] * noise, parameter=["p", "S"], name="f")
    session = sk.Session(data, {"f": "log(p)*S"}).exclude((2, 4)).move_tick("p^(1/2)", "p^(2/5)", "p")
    mine = session.verdict
    (found,) = judged(session, tmp_path).verdicts
    assert found.model == mine.model
    assert found.along["p"].weights == mine.along["p"].weights
    assert len(found.series.y) == len(mine.series.y) == 24


def test_expectations_file_that_cannot_be(data, session, tmp_path):
    with pytest.raises(ExpectationError, match="expects nothing yet"):
        sk.Session(data, {}).save_expectations(tmp_path / "e.toml")
    with pytest.raises(ScalkitError, match="cannot write the expectations"):
        session.save_expectations(tmp_path / "no" / "e.toml")


def test_a_table_and_a_claim_of_its_only_function():
    table = pd.DataFrame({"p": [2, 4, 8, 16, 32], "f": [1.0, 2.0, 3.0, 4.0, 5.0]})
    session = sk.Session(table, "log p")
    assert (session.verdict.answer, session.paths) == ("fine", ())


def test_a_result_is_where_a_session_begins(data):
    result = sk.validate(data, EXPECTATIONS, RULES, statistic="median", min_points=4)
    session = sk.Session(result)
    same(session, result)
    assert session.state.judging == result.choices.judging
    assert session.history == ()
