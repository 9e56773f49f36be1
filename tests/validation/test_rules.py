"""Rules on measurements, run by run, and on models, summed before anything is dropped."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scalkit.fit import Model
from scalkit.growth import Growth
from scalkit.measure import Series
from scalkit.relation import Relation
from scalkit.validation.rules import RuleResult, judge_rule

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
    return Model(constant, coefficient, Growth.parse(growth), "p", "s", 0.99, 0.0, math.log2(coefficient))


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
    assert result.x.tolist() == [4, 8, 16]
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
