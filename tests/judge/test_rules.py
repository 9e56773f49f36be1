"""Rules on measurements, run by run, and on models, summed before anything is dropped."""

from __future__ import annotations

import itertools
import json
import math
from importlib import resources

import jsonschema
import numpy as np
import pytest

import scalkit as sk
from scalkit.growth import Growth
from scalkit.growth.relation import Relation
from scalkit.judge.fit.model import Model, Term
from scalkit.judge.rules import RuleResult, judge_rule
from scalkit.measure import Series, SeveralSeries, combine

SCHEMA = json.loads(resources.files("scalkit.judge").joinpath("verdict.schema.json").read_text(encoding="utf-8"))
P = np.array([2.0, 4.0, 8.0, 16.0, 32.0])


def series(name: str, values: object, *, decides: bool = True, x: object = P) -> Series:
    y = np.asarray(values, dtype=float)
    per_run = y if y.ndim == 2 else y[:, None]
    caveats = () if decides else ("too crowded",)
    n = np.ones(len(per_run), dtype=np.int64)
    where = np.asarray(x, dtype=float)
    q1 = np.nanquantile(per_run, 0.25, axis=1)
    return Series(
        function=name,
        metric="time",
        parameter="p",
        unit="s",
        exact=False,
        x=where,
        values=per_run,
        y=q1,
        n_repetitions=n,
        caveats=caveats,
        decides=decides,
        noise=math.nan,
    )


def model(constant: float, coefficient: float, growth: str) -> Model:
    return Model(("p",), (Term.of(Growth(), constant), Term.of(Growth(growth), coefficient)), "s", 0.0)


def judge(rule: str, *data: Series, **models: Model) -> RuleResult:
    return judge_rule(Relation.parse(rule), {s.function: s for s in data}, models)


LOG = np.log2(P)


def test_holds() -> None:
    result = judge("A <= B", series("A", LOG), series("B", 2 * LOG), A=model(0, 1, "log(p)"), B=model(0, 2, "log(p)"))
    assert (result.status, result.violated_at, result.predicted_from) == ("holds", (), None)
    assert result.ratio.tolist() == pytest.approx([0.5] * 5)
    assert result.sentence == "A <= B holds as measured, and the models predict no violation."
    assert not result.is_failure


@pytest.mark.parametrize(("factor", "violated"), [(1.029, False), (1.031, True)])
def test_three_percent_are_tolerated(factor: float, violated: bool) -> None:
    result = judge("A <= B", series("A", factor * LOG), series("B", LOG))
    assert result.violated_at == (tuple(P) if violated else ())
    assert result.is_failure is violated


def test_every_run_must_exceed() -> None:
    a = np.column_stack([LOG * 2, LOG * 2, LOG * 2])
    a[1, 2] = 0.5
    a[3, 1] = np.nan
    result = judge("A <= B", series("A", a), series("B", np.column_stack([LOG, LOG, LOG])))
    assert result.violated_at == (2.0, 8.0, 16.0, 32.0)
    assert result.sentence == ("A <= B is violated at p = 2, 8, 16, 32: the left side is up to 2 times the right.")


def test_runs_are_compared_as_far_as_both_sides_have_them() -> None:
    result = judge("A <= B", series("A", np.column_stack([LOG * 2, LOG / 9])), series("B", LOG))
    assert result.violated_at == tuple(P)


def test_only_shared_settings_count() -> None:
    result = judge("A <= B + C", series("A", LOG), series("B", LOG[1:], x=P[1:]), series("C", LOG[:4], x=P[:4]))
    assert result.points.tolist() == [[4], [8], [16]]
    assert result.ratio.tolist() == pytest.approx([0.5] * 3)
    none = judge("A <= B", series("A", LOG[:2], x=P[:2]), series("B", LOG[2:], x=P[2:]))
    assert none.status == "unknown"
    assert none.sentence == "A <= B cannot be checked: its functions share no setting of p."


def test_factors_count() -> None:
    assert judge("A <= 3*B", series("A", 2 * LOG), series("B", LOG)).status == "holds"


def test_models_predict_where_a_violation_begins() -> None:
    left, right = model(0, 1, "p^(2/3)*log(p)"), model(0, 10, "p^(1/2)")
    other = model(100, 1, "log(p)")
    result = judge("A <= B + C", series("A", LOG), series("B", LOG), series("C", LOG), A=left, B=right, C=other)
    assert result.status == "predicted"
    start = result.predicted_from
    assert start is not None
    assert float(left(start)) == pytest.approx(1.03 * float(right(start) + other(start)), rel=1e-6)
    assert float(left(start * 4)) > 1.03 * float(right(start * 4) + other(start * 4))
    assert result.sentence == (
        f"A <= B + C holds as measured; the models predict a violation from p = {start:,.0f} on, near the measured range."
    )
    assert not result.is_failure


def test_lower_order_terms_decide_between_equal_growths() -> None:
    cheap, dear = model(5, 1, "log(p)"), model(1, 1.01, "log(p)")
    assert judge("A <= B", series("A", LOG), series("B", LOG), A=dear, B=cheap).predicted_from is None
    dearer = model(1, 1.1, "log(p)")
    start = judge("A <= B", series("A", LOG), series("B", LOG), A=dearer, B=cheap).predicted_from
    assert start == pytest.approx(2.0 ** ((5 * 1.03 - 1) / (1.1 - 1.03)), rel=1e-6)


def test_a_violation_everywhere_begins_at_the_first_setting() -> None:
    result = judge("A <= B", series("A", 2 * LOG), series("B", LOG), A=model(0, 2, "p"), B=model(0, 1, "log(p)"))
    assert (result.status, result.predicted_from) == ("violated", 2.0)


def test_exponentials_are_compared_without_overflow() -> None:
    result = judge("A <= B", series("A", LOG), series("B", LOG), A=model(0, 1e-9, "2^p"), B=model(0, 1, "p^3"))
    start = result.predicted_from
    assert start is not None
    assert -9 * math.log2(10) + start == pytest.approx(3 * math.log2(start) + math.log2(1.03), rel=1e-6)
    never = judge("B <= A", series("A", LOG), series("B", LOG), A=model(0, 1e-9, "2^p"), B=model(0, 1, "p^3"))
    assert never.predicted_from is None


def test_missing_functions_are_named() -> None:
    result = judge("A <= B + C", series("A", LOG))
    assert (result.status, result.missing, result.decides) == ("unknown", ("B", "C"), False)
    assert result.sentence == "A <= B + C cannot be checked: B, C were not measured."
    nothing = judge("A <= B")
    assert nothing.sentence == "A <= B cannot be checked: A, B were not measured."


def test_caveats_take_the_decision_away() -> None:
    result = judge("A <= B", series("A", 2 * LOG), series("B", LOG, decides=False))
    assert (result.status, result.decides, result.is_failure) == ("violated", False, False)
    assert result.caveats == ("too crowded",)
    assert repr(result) == "RuleResult('A <= B', violated)"


def test_formulas_with_a_subtracted_term_are_compared_without_overflow() -> None:
    minus_five, square = Term.of(Growth(), -5), Growth("p^2")
    left = Model(("p",), (minus_five, Term.of(Growth("p"), -1), Term.of(square, 1)), "s", 0.0)
    right = Model(("p",), (minus_five, Term.of(square, 2)), "s", 0.0)
    result = judge("A <= B", series("A", LOG), series("B", LOG), A=left, B=right)
    assert result.predicted_from is None
    assert left.log2_value(2.0**900) == pytest.approx(1800)
    assert left.log2_value([1.0, 4.0]).tolist() == pytest.approx([-math.inf, math.log2(16 - 4 - 5)])


SIZES = np.array([64.0, 256.0, 1024.0])
POINTS = np.array(list(itertools.product(P, SIZES)))


def over_two(name: str, y: np.ndarray, points: np.ndarray = POINTS) -> SeveralSeries:
    values = np.asarray(y, dtype=float).reshape(len(points), -1)
    return SeveralSeries(
        function=name,
        metric="time",
        unit="s",
        exact=False,
        values=values,
        y=values[:, 0],
        n_repetitions=np.ones(len(points), dtype=np.int64),
        caveats=(),
        decides=True,
        noise=math.nan,
        parameters=("p", "S"),
        points=points,
    )


def sum_of(**terms: float) -> Model:
    """Return a model of p and S; terms by their names, ``p_S`` for p*S."""
    growths = {"one": "1", "log_p": "log(p)", "p_S": "p*S"}
    found = [Term.of(Growth(growths.get(name, name)), c) for name, c in terms.items()]
    return Model(("p", "S"), tuple(found), "s", 0.0)


def judge_over_two(rule: str, *data: SeveralSeries, **models: Model) -> RuleResult:
    return judge_rule(Relation.parse(rule), {s.function: s for s in data}, models)


def test_over_several_parameters_every_shared_point_counts() -> None:
    p, size = POINTS.T
    slow = np.where((p == 8) & (size == 256), 3.0, 0.5)
    part = POINTS[:, 1] > 64
    result = judge_over_two("A <= B", over_two("A", slow), over_two("B", 0 * p[part] + 1, POINTS[part]))
    assert result.points.tolist() == POINTS[part].tolist()
    assert (result.status, result.violated_at, result.is_failure) == ("violated", ((8.0, 256.0),), True)
    assert result.sentence == "A <= B is violated at p = 8, S = 256: the left side is up to 3 times the right."
    assert result.ratio.tolist() == pytest.approx(slow[part].tolist())


def test_many_points_are_named_by_the_worst() -> None:
    p, size = POINTS.T
    worst_first = "p = 32, S = 1024; p = 32, S = 256; p = 16, S = 1024; and 3 more points"
    some = judge_over_two("A <= B", over_two("A", np.where(p * size > 4000, p + size / 1000, 0.5)), over_two("B", 1 + 0 * p))
    assert some.sentence == f"A <= B is violated at {worst_first}: the left side is up to 33 times the right."
    every = judge_over_two("A <= B", over_two("A", 2 + 0 * p), over_two("B", 1 + 0 * p))
    assert every.sentence == "A <= B is violated at all 15 points: the left side is up to 2 times the right."


def test_functions_that_share_no_point() -> None:
    half = POINTS[:, 0] < 8
    a, b = over_two("A", np.ones(half.sum()), POINTS[half]), over_two("B", np.ones((~half).sum()), POINTS[~half])
    result = judge_over_two("A <= B", a, b)
    assert (result.status, result.points.shape) == ("unknown", (0, 2))
    assert result.sentence == "A <= B cannot be checked: its functions share no point of p, S."


@pytest.mark.parametrize(
    ("left", "right", "start"),
    [
        ({"p": 1.0, "S": 1.0}, {"one": 4000.0, "S": 1.0}, ("p", 4000 * 1.03 + 0.03 * 1024)),
        ({"p": 1.0, "S": 1.0}, {"one": 4000.0, "p": 1.0}, ("S", 4000 * 1.03 + 0.03 * 32)),
        # Along p it begins at 31 times the largest value, along S at 5 times.
        ({"p": 1.0, "S": 1.0}, {"one": 2000.0}, ("S", 2060 - 32)),
        ({"p_S": 1.0}, {"p_S": 2.0, "one": -5.0}, None),
    ],
)
def test_the_parameter_along_which_a_violation_begins_first_is_named(
    left: dict[str, float], right: dict[str, float], start: tuple[str, float] | None
) -> None:
    y = np.ones(len(POINTS))
    result = judge_over_two("A <= B", over_two("A", y / 2), over_two("B", y), A=sum_of(**left), B=sum_of(**right))
    if start is None:
        assert (result.status, result.prediction) == ("holds", None)
        assert result.sentence == "A <= B holds as measured, and the models predict no violation."
        return
    assert result.prediction is not None
    assert (result.status, result.prediction.parameter) == ("predicted", start[0])
    assert result.predicted_from == pytest.approx(start[1], rel=1e-6)
    other = "S = 1024" if start[0] == "p" else "p = 32"
    near = "near" if start[1] <= 16 * result.prediction.largest else "far beyond"
    assert result.sentence == (
        f"A <= B holds as measured; the models predict a violation from {start[0]} = {start[1]:.0f} on, with {other}, "
        f"{near} the measured range."
    )


def test_a_validation_over_several_parameters_has_rules() -> None:
    sizes = 4.0 ** np.arange(3, 8)
    points = np.array(list(itertools.product(P, sizes)))
    p, size = points.T
    y = {"f": 1e-6 * p + 1e-9 * size, "g": 1e-4 * np.log2(p) + 1e-9 * size}
    data = combine([sk.measurements(points, one, parameter=["p", "S"], name=name) for name, one in y.items()])
    expected = {"f": "p + S", "g": "log(p) + S"}
    result = sk.validate(data, expected, ["f <= g", "g <= 2*f"])
    first, second = result.rules
    assert (first.status, second.status) == ("predicted", "violated")
    assert (result.exit_status(), result.exit_status(["predicted"])) == (1, 1)
    content = json.loads(result.to_json())
    jsonschema.validate(content, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert list(content["rules"][0]["predicted_from"]) == ["p", "S"]
    assert content["rules"][0]["predicted_from"]["S"] == 16384
    assert content["rules"][1]["violated_at"][0] == [2, 64]
    assert "16384" in first._repr_html_()
    session = sk.Session(data, expected).add_rule("f <= g")
    assert [rule.status for rule in session.result.rules] == ["predicted"]
