from __future__ import annotations

import numpy as np
import pytest
from session_data import EXPECTATIONS

import scalkit as sk
from scalkit.errors import DataError, ExpectationError, RuleError, ScalkitError, UsageError
from scalkit.judge.expectation import sure_match


def same(session, result):
    assert session.result.to_json() == result.to_json()


def test_result_is_that_of_validate(session, data):
    same(session, sk.validate(data, EXPECTATIONS, ["reduce <= bcast + gather"]))


@pytest.mark.parametrize("statistic", ["median", "mean", "min"])
def test_statistic_is_that_of_validate(session, data, statistic):
    session.judge_by(statistic=statistic)
    same(session, sk.validate(data, EXPECTATIONS, ["reduce <= bcast + gather"], statistic=statistic))
    assert session.state.judging.statistic == statistic
    assert session.history == (f"statistic {statistic}",)


def test_left_out_settings_are_as_if_they_were_not_measured(session, data):
    session.select("bcast").exclude(4)
    masked = data.copy(deep=True)
    for metric in ("time", "object_memory"):
        masked[metric].loc[{"function": "bcast", "p": 4}] = np.nan
    same(session, sk.validate(masked, EXPECTATIONS, ["reduce <= bcast + gather"]))
    assert session.excluded == (4.0,)
    assert session.series("bcast").x.tolist() == [2, 8, 16, 32, 64]
    assert session.series(("gather", "time")).x.tolist() == [2, 4, 8, 16, 32, 64]


def test_expectation_and_ruler_are_those_of_validate(session, data):
    session.select("gather").expect("p*log(p)").set_ticks(["1", "p", "p^2"])
    given = {**EXPECTATIONS, "gather": {"expectation": "p*log(p)", "deviation": "log(p)", "ticks": ["1", "p", "p^2"]}}
    wanted = sk.validate(data, given, ["reduce <= bcast + gather"])["gather", "time"]
    assert session.verdict.posterior.probabilities.tolist() == wanted.posterior.probabilities.tolist()
    assert [str(tick) for tick in session.space.ticks] == ["1", "p", "p*log(p)", "p^2"]


def test_names_and_selection(session):
    assert session.names == (
        *((name, "time") for name in ("bcast", "gather", "reduce", "split", "alone")),
        ("bcast", "object_memory"),
        ("gather", "object_memory"),
    )
    assert session.selected == ("bcast", "time")
    assert session.select("gather", "object_memory").verdict.metric == "object_memory"
    assert session.select("split").verdict.metric == "p*time"
    assert session.select("split", "p*time").selected == ("split", "time")
    assert session.history == ()


def test_problem_says_why_there_is_no_verdict(session):
    assert session.problem == ""
    session.select("alone")
    assert session.verdict is None
    assert session.problem == "alone has no expectation; write one, for example log(p)."
    assert sure_match(session.expect("1").verdict.probability) == "total"
    session.exclude(2, 4)
    assert session.problem == (
        "alone (time) has 4 of 5 needed settings: p = 8, 16, 32, 64; include one that is left out again, or measure more."
    )


def test_too_few_settings_name_the_next_one(data):
    few = sk.Session(data.isel(p=slice(4)), {"bcast": "log(p)"})
    assert few.result.verdicts == ()
    assert few.problem == "bcast (time) has 4 of 5 needed settings: p = 2, 4, 8, 16; measure more, for example p = 32."


def test_a_step_of_ticks_and_back(session):
    session.select("gather")
    begin = session.state
    session.add_tick("p^3").remove_tick("p^(1/4)").refine()
    assert session.history == ("add tick p^3", "remove tick p^(1/4)", "refine the ruler")
    assert session.set_ticks(None).state == begin
    assert session.undo().undo().undo().undo().state == begin
    assert session.undone[0] == "add tick p^3"
    assert session.history == ()


def test_ticks_put_back_by_hand_are_no_change(session):
    session.select("gather")
    begin = session.state
    session.move_tick("p^(1/2)", "p^(2/3)").move_tick("p^(2/3)", "p^(1/2)")
    assert session.state == begin
    assert len(session.history) == 2


def test_deviation(session):
    session.select("gather").set_deviation("p^(1/2)")
    assert str(session.expectation.limits[1]) == "p^(3/2)"
    assert session.expect("p^2").expectation == sk.Expectation("p^2", "p^(1/2)")
    assert session.set_deviation(None).expectation == sk.Expectation("p^2")
    assert session.expect("p", "log(p)").state.expectations == {}


def test_an_expectation_of_another_parameter_is_no_fault_of_the_deviation(session):
    session.select("gather")
    assert session.expectation.has_own_deviation
    with pytest.raises(ExpectationError, match=r"'n\*log\(n\)' is in terms of 'n', the data in terms of 'p'; write it in"):
        session.expect("O(n log n)")


def test_rules(session):
    session.add_rule("bcast <= reduce")
    assert [str(one.rule) for one in session.result.rules] == ["reduce <= bcast + gather", "bcast <= reduce"]
    assert session.remove_rule("reduce <= bcast+gather").rules == ("bcast <= reduce",)
    assert len(session.history) == 2
    assert session.add_rule("bcast <= reduce").history == session.history


def test_one_gesture_is_one_step(session):
    session.select("gather").begin_step("drag")
    for place in ("3/5", "2/3", "5/7"):
        last = session.space.ticks
        gone = next(tick for tick in last if str(tick) in ("p^(1/2)", "p^(3/5)", "p^(2/3)"))
        session.move_tick(gone, f"p^({place})")
    session.end_step()
    assert session.history == ("drag",)
    assert "p^(1/2)" in map(str, session.undo().space.ticks)
    session.begin_step().add_tick("p^3").remove_tick("p^3").end_step()
    assert session.history == ()
    session.begin_step("drag").add_tick("p^3").end_step("drag to p^3")
    assert session.history == ("drag to p^3",)


def test_ruler_of_times_that_fall_is_that_of_their_cost():
    p = [1, 2, 4, 8, 16, 32]
    session = sk.Session(sk.measurements(p, [64 / x + 0.1 for x in p], name="solve"), {"solve": "1/p"})
    assert str(session.verdict.expectation.growth) == "1"
    with pytest.raises(ExpectationError, match=r"^the tick '1' is the expectation, which always competes"):
        session.remove_tick("1")
    with pytest.raises(ExpectationError, match=r"^the tick '1' is the expectation, which always competes"):
        session.move_tick("1", "p^5")
    assert session.history == ()
    ticks = session.space.ticks
    assert not session.add_tick("p^5").remove_tick("p^5").state.rulers, "the ruler is what it was"
    assert session.add_tick("p^5").set_ticks(None).space.ticks == ticks


def test_snapshots(session):
    session.select("gather").snapshot("A").expect("1", "1").snapshot("B")
    differences = session.compare("A", "B")
    assert list(differences.columns) == ["function", "metric", "what", "before", "after"]
    assert differences.iloc[0].tolist() == ["gather", "time", "expectation", "p", "1"]
    assert len(session.restore("A").compare("A")) == 0
    assert session.history[-1] == "restore A"
    assert set(session.snapshots) == {"A", "B"}


def test_observers_are_told_once_a_step(session):
    told = []
    session.observe(lambda changed: told.append((changed, session.result.to_json())))
    session.select("gather").expect("1")
    assert [changed for changed, _ in told] == [{"selected"}, {"expectation", "ruler", "result", "history"}]
    assert told[1][1] == session.result.to_json()
    session.snapshot("A").judge_by(statistic="min").exclude(2).add_rule("bcast <= gather").add_tick("p^3").undo()
    assert [changed for changed, _ in told[2:]] == [
        {"snapshots"},
        {"statistic", "result", "history"},
        {"excluded", "result", "history"},
        {"rules", "result", "history"},
        {"ruler", "result", "history"},
        {"ruler", "result", "history"},
    ]


def test_a_failing_observer_stops_nobody(session, caplog):
    told = []

    def fail(changed):
        raise RuntimeError("broken view")

    session.observe(fail)
    session.observe(told.append)
    session.judge_by(statistic="min")
    assert len(told) == 1
    assert "an observer of a session failed on history, result, statistic" in caplog.text
    session.unobserve(told.append)
    session.unobserve(told.append)


def test_changes_by_an_observer_are_told_in_order(session):
    told = []

    def follow(changed):
        if "statistic" in changed and session.state.judging.statistic == "min":
            session.judge_by(statistic="median")

    session.observe(follow)
    session.observe(lambda changed: told.append(session.state.judging.statistic))
    session.judge_by(statistic="min")
    assert session.history == ("statistic min", "statistic median")
    assert told == ["median", "median"]


WRONG = {
    "function": (lambda s: s.select("bcst"), DataError),
    "metric": (lambda s: s.select("bcast", "speed"), DataError),
    "expectation": (lambda s: s.expect("factorial(p)"), ExpectationError),
    "other parameter": (lambda s: s.expect("n^2"), ExpectationError),
    "two parameters": (lambda s: s.expect("p*S"), ExpectationError),
    "deviation": (lambda s: s.set_deviation("1/p"), ExpectationError),
    "tick": (lambda s: s.add_tick("p^(1/2"), ExpectationError),
    "tick there": (lambda s: s.add_tick("p"), ExpectationError),
    "tick of n": (lambda s: s.add_tick("n"), ExpectationError),
    "number": (lambda s: s.add_tick(0.5), ExpectationError),
    "no such tick": (lambda s: s.remove_tick("p^7"), ExpectationError),
    "the expectation": (lambda s: s.remove_tick("log(p)"), ExpectationError),
    "the expectation moved": (lambda s: s.move_tick("log(p)", "p^7"), ExpectationError),
    "onto another": (lambda s: s.move_tick("p", "p^2"), ExpectationError),
    "no ticks": (lambda s: s.set_ticks([]), ExpectationError),
    "too many": (lambda s: s.refine(9), ExpectationError),
    "ruler of n": (lambda s: s.add_tick("p", "n"), ExpectationError),
    "statistic": (lambda s: s.judge_by(statistic="max"), DataError),
    "setting": (lambda s: s.exclude(5), DataError),
    "no setting": (lambda s: s.exclude("four"), DataError),
    "all settings": (lambda s: s.exclude(2, 4, 8, 16, 32, 64), DataError),
    "rule": (lambda s: s.add_rule("bcast < gather"), RuleError),
    "rule of another": (lambda s: s.add_rule("bcast <= gahter"), RuleError),
    "no such rule": (lambda s: s.remove_rule("bcast <= gather"), RuleError),
    "undo": (lambda s: s.undo(), UsageError),
    "redo": (lambda s: s.redo(), UsageError),
    "snapshot": (lambda s: s.snapshot(""), UsageError),
    "no snapshot": (lambda s: s.restore("A"), UsageError),
    "observer": (lambda s: s.observe(None), UsageError),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_input_changes_nothing(session, what):
    call, kind = WRONG[what]
    before = (session.state, session.result, session.selected, session.history, session.snapshots)
    told = []
    session.observe(told.append)
    with pytest.raises(kind) as raised:
        call(session)
    assert isinstance(raised.value, ScalkitError)
    assert (session.state, session.result, session.selected, session.history, session.snapshots) == before
    assert told == []


def test_without_an_expectation_there_is_no_ruler(session):
    session.select("alone")
    assert (session.space, session.spaces, session.expectation) == (None, {}, None)
    with pytest.raises(ExpectationError, match=r"^'alone' has no expectation, so it has no ruler either; expect "):
        session.add_tick("p")


@pytest.mark.parametrize(
    ("arguments", "options", "kind"),
    [
        ((3,), {}, DataError),
        (("/nowhere",), {}, DataError),
        ((None, {"bcast": "p!"}), {}, ExpectationError),
        ((None, {"bcast": "n"}), {}, ExpectationError),
        ((None, {"bcast": "p"}, "bcast <= gathr"), {}, RuleError),
        ((None, {"bcast": "p"}), {"statistic": "max"}, DataError),
        ((None, {"bcast": "p"}), {"min_points": 2}, DataError),
    ],
)
def test_wrong_beginnings(data, arguments, options, kind):
    with pytest.raises(kind):
        sk.Session(data if arguments[0] is None else arguments[0], *arguments[1:], **options)


def test_representations(session):
    assert repr(session).startswith("Session(data in memory: no problem: 2 fine, ")
    session.select("alone").expect("1")
    assert "<ol><li>expect 1 of alone</li></ol>" in session._repr_html_()


def test_several_parameters():
    points = [(p, s) for p in (2, 4, 8, 16, 32) for s in (8, 64, 512, 4096, 32768)]
    values = [np.log2(p) + 0.01 * s for p, s in points]
    data = sk.measurements(points, values, parameter=["p", "S"], name="f")
    session = sk.Session(data, {"f": "log(p) + S"})
    same(session, sk.validate(data, {"f": "log(p) + S"}))
    session.snapshot("A").expect("p*S").add_tick("S^4")
    assert "S^4" in map(str, session.spaces["S"].ticks)
    assert "S^4" not in map(str, session.spaces["p"].ticks)
    assert {*session.compare("A")["what"]} >= {"expectation", "direction"}
    assert session.verdict.sentence in session._repr_html_().replace("&#x27;", "'")
    session.exclude((2, 8), {"p": 4, "S": 64})
    assert session.excluded == ((2.0, 8.0), (4.0, 64.0))
    assert len(session.series("f").points) == 23
    with pytest.raises(DataError, match=r"^the setting 2 cannot be read; a value of each of p, S is needed\.$"):
        session.exclude(2)
    with pytest.raises(DataError, match=r"^'f' was not measured at p = 3, S = 8; it was at p = 2, S = 8; p = 2, S = 64; "):
        session.exclude((3, 8))
    assert [rule.status for rule in session.add_rule("f <= 2*f").result.rules] == ["holds"]
