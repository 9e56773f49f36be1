"""Any steps, taken back and done again; saved and loaded; written as code and run."""

from __future__ import annotations

import json

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from session_data import EXPECTATIONS, executed, made

import scalkit as sk
from scalkit.errors import ScalkitError

DATA = made()
SEVERAL = sk.measurements(
    [(p, s) for p in (2, 4, 8, 16, 32) for s in (8, 64, 512, 4096, 32768)],
    [np.log2(p) + 0.01 * s for p in (2, 4, 8, 16, 32) for s in (8, 64, 512, 4096, 32768)],
    parameter=["p", "S"],
    name="bcast",
)
RULES = ("reduce <= bcast + gather",)

texts = st.sampled_from(["1", "log(p)", "p", "p*log(p)", "p^2", "1/p", "p^(1/2)"])
ticks = st.sampled_from(["1", "p^(1/4)", "p^(1/3)", "log(p)", "p^(1/2)", "p^(2/3)", "p", "p^2", "p^3", "2^p", "p^(3/2)*log(p)"])
deviations = st.sampled_from([None, "1", "log(p)", "p^(1/2)"])
points = st.sampled_from([2, 4, 8, 16, 32, 64])
rules = st.sampled_from([*RULES, "bcast <= gather", "gather <= 2*bcast + reduce"])
steps = st.one_of(
    st.tuples(st.just("select"), st.sampled_from(["bcast", "gather", "reduce", "split", "alone"])),
    st.tuples(st.just("expect"), texts, deviations),
    st.tuples(st.just("set_deviation"), deviations),
    st.tuples(st.just("set_ticks"), st.lists(ticks, min_size=1, max_size=5).map(tuple)),
    st.tuples(st.just("add_tick"), ticks),
    st.tuples(st.just("remove_tick"), ticks),
    st.tuples(st.just("move_tick"), ticks, ticks),
    st.tuples(st.just("refine")),
    st.tuples(st.just("set_ticks"), st.none()),
    st.tuples(st.just("judge_by"), st.sampled_from(["q1", "median", "mean", "min", "cut_mean"])),
    st.tuples(st.just("exclude"), points, points),
    st.tuples(st.just("include"), points),
    st.tuples(st.just("include")),
    st.tuples(st.just("add_rule"), rules),
    st.tuples(st.just("remove_rule"), rules),
    st.tuples(st.just("snapshot"), st.sampled_from("AB")),
    st.tuples(st.just("restore"), st.sampled_from("AB")),
    st.tuples(st.just("undo")),
    st.tuples(st.just("redo")),
)
slowly = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def begun():
    return sk.Session(DATA, EXPECTATIONS, RULES)


def taken(session, chosen):
    """Take the steps that are possible, and hold that the others change nothing."""
    for name, *arguments in chosen:
        before = (session.state, session.result, session.history, session.selected)
        try:
            options = {"statistic": arguments.pop()} if name == "judge_by" else {}
            assert getattr(session, name)(*arguments, **options) is session
        except ScalkitError:
            assert (session.state, session.result, session.history, session.selected) == before
    return session


def told(session):
    return session.result.to_json()


@pytest.mark.slow
@slowly
@given(st.lists(steps, max_size=8))
def test_undo_of_all_is_the_beginning_and_redo_of_all_the_end(chosen):
    fresh = begun()
    session = taken(begun(), chosen)
    while session.undone:
        session.redo()
    end, said, names = session.state, told(session), session.history
    for _ in names:
        session.undo()
    assert session.history == ()
    assert session.state == fresh.state
    assert told(session) == told(fresh)
    assert session.undone == names
    for _ in names:
        session.redo()
    assert (session.state, told(session), session.history) == (end, said, names)


@pytest.mark.slow
@slowly
@given(st.lists(steps, max_size=8))
def test_what_is_kept_is_what_is_computed_anew(chosen):
    """The cache changes no result: a session that begins with the state comes to the same."""
    session = taken(begun(), chosen)
    plain = json.loads(json.dumps(session.to_dict()))
    loaded = sk.Session.load(plain)
    assert loaded.state == session.state
    assert told(loaded) == told(session)
    assert (loaded.selected, loaded.history, loaded.undone) == (session.selected, session.history, session.undone)
    assert (loaded.snapshots, loaded.problem) == (session.snapshots, session.problem)
    assert loaded.to_dict() == plain


@slowly
@given(st.lists(steps, max_size=8))
def test_code_comes_to_the_same_state_and_verdict(chosen):
    session = taken(begun(), chosen)
    code = session.as_code()
    again, printed = executed(code, session.data)
    assert again.state == session.state, code
    assert again.selected == session.selected
    assert printed.strip() == (session.verdict.sentence if session.verdict else session.problem)
    assert [v.sentence for v in again.result] == [v.sentence for v in session.result]
    assert again.as_code() == code


several_ticks = st.sampled_from(["1", "p", "log(p)", "S", "S^(1/2)", "S^2", "p^(1/2)"])
several_steps = st.one_of(
    st.tuples(st.just("expect"), st.sampled_from(["log(p) + S", "p*S", "1", "S"]), st.sampled_from([None, "S^(1/4)"])),
    st.tuples(st.just("set_deviation"), st.sampled_from([None, "1", "p^(1/2)*S^(1/2)"])),
    st.tuples(st.just("set_ticks"), st.lists(several_ticks, min_size=1, max_size=3).map(tuple)),
    st.tuples(st.just("set_ticks"), st.just(("1", "S", "S^2")), st.sampled_from(["p", "S", "n"])),
    st.tuples(st.just("add_tick"), several_ticks),
    st.tuples(st.just("move_tick"), several_ticks, st.sampled_from(["p^3", "S^3"])),
    st.tuples(st.just("set_ticks"), st.none()),
    st.tuples(st.just("exclude"), st.tuples(st.sampled_from([2, 4]), st.sampled_from([8, 64, 512, 4096, 32768]))),
    st.tuples(st.just("include")),
)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(several_steps, max_size=4))
def test_several_parameters_too(chosen):
    session = taken(sk.Session(SEVERAL, {"bcast": "log(p) + S"}), chosen)
    loaded = sk.Session.load(json.loads(json.dumps(session.to_dict())))
    assert (loaded.state, told(loaded)) == (session.state, told(session))
    assert executed(session.as_code(), SEVERAL)[0].state == session.state
    for _ in session.history:
        session.undo()
    assert session.state == sk.Session(SEVERAL, {"bcast": "log(p) + S"}).state
