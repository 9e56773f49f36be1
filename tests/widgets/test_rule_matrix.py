"""Rules between functions: measured, predicted, holding; added and removed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from test_explorer import bare, press

import scalkit as sk
from scalkit.measure import combine
from scalkit.session import Session
from scalkit.widgets.explorer.rule_matrix import RuleMatrix

Wire = list[tuple[str, str, dict[str, Any]]]
P = 2.0 ** np.arange(1, 7)


@pytest.fixture
def session() -> Session:
    made = {"a": 10 + P, "b": 40 + np.log2(P), "c": np.where(P == 4, 100, 1) * P}
    data = combine([sk.measurements(P, y, name=name) for name, y in made.items()])
    return Session(data, {"a": "p", "b": "log(p)", "c": "p"}, ["a <= b", "c <= 2*a"])


@pytest.fixture
def matrix(wire: Wire, session: Session) -> RuleMatrix:
    return RuleMatrix(session)


def cells(matrix: RuleMatrix, row: int) -> list[str]:
    found = re.findall(r"<tr>(.*?)</tr>", matrix.pieces["table"])[row + 1]
    return [" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in re.findall(r"<td>(.*?)</td>", found)]


def test_cells_say_what_the_session_found(matrix: RuleMatrix, session: Session) -> None:
    first, second = session.result.rules
    assert (first.status, second.status) == ("violated", "violated")
    assert first.violated_at == (64.0,)
    assert cells(matrix, 0)[0] == "✗ violated"
    assert cells(matrix, 0)[1].startswith("≈ predicted from p = ")
    assert cells(matrix, 0)[2:8] == [
        f"{'✗ violated' if x in first.violated_at else '✓ holds'} {ratio:.3g}×" for x, ratio in zip(P, first.ratio, strict=True)
    ]
    assert cells(matrix, 1)[3] == f"✗ violated {second.ratio[1]:.3g}×"
    assert second.sentence.replace("<", "&lt;") in matrix.pieces["table"]


def test_rules_are_added_and_removed_as_steps(matrix: RuleMatrix, session: Session) -> None:
    press(matrix, "add", rule="b <= 3*c")
    assert session.history == ("add rule b <= 3*c",)
    assert len(re.findall("<tr>", matrix.pieces["table"])) == 4
    assert 'value=""' in matrix.pieces["form"]
    assert 'data-press="remove" data-value="a &lt;= b"' in matrix.pieces["table"]
    for _ in range(2):
        press(matrix, "remove", key="a <= b")
        assert session.rules == ("c <= 2*a", "b <= 3*c"), "pressed twice it removes one"
    session.undo()
    assert "<code>a</code> ≤ <code>b</code>" in matrix.pieces["table"]
    for key in ("0", "", "x"):
        press(matrix, "remove", key=key)
    assert len(session.rules) == 3


@pytest.mark.parametrize("wrong", ["a < b", "a <= nothing", "", "<b>"])
def test_wrong_rule_is_refused_in_a_sentence_and_stays_to_be_mended(matrix: RuleMatrix, session: Session, wrong: str) -> None:
    press(matrix, "add", rule=wrong)
    assert session.history == ()
    assert "rule" in matrix.problem
    assert f'value="{wrong.replace("<", "&lt;").replace(">", "&gt;")}"' in matrix.pieces["form"]
    press(matrix, "add", rule="b <= a")
    assert matrix.pieces["problem"] == ""


def test_not_measured_no_rules_and_several_parameters(wire: Wire, session: Session) -> None:
    session.add_rule("a <= b")
    part = session.data.where(~((session.data["function"] == "b") & (session.data["p"] == 8)))
    part["time"].attrs = session.data["time"].attrs
    matrix = RuleMatrix(session.use_data(combine([part])))
    assert "not measured" in bare(matrix)
    empty = RuleMatrix(Session(session.data, {"a": "p"}))
    assert "There is no rule yet" in bare(empty)
    points = [[p, s] for p in P for s in P]
    several = sk.measurements(points, [p * s for p, s in points], parameter=["p", "S"], name="f")
    matrix = RuleMatrix(Session(several, {"f": "p*S"}, ["f <= 2*f", "2*f <= f"]))
    assert [cells(matrix, row)[0] for row in (0, 1)] == ["✓ holds", "✗ violated"]
