"""The ruler's Python half: traits, what a page may send, undo."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from widget_page import ask, from_page, state_of

import scalkit as sk
from scalkit.errors import ExpectationError, UsageError
from scalkit.growth import Growth
from scalkit.judge import Verdict
from scalkit.widgets import Ruler

Wire = list[tuple[str, str, dict[str, Any]]]


@pytest.fixture
def verdict() -> Verdict:
    p = 2.0 ** np.arange(1, 8)
    data = sk.measurements(p, 1 + 0.2 * np.sqrt(p) * np.log2(p), name="f")
    return sk.validate(data, {"f": "p"})["f"]


def growths(ruler: Ruler) -> list[str]:
    return [tick["growth"] for tick in ruler.ticks]


def test_ruler_is_a_public_name(wire: Wire) -> None:
    space = sk.SearchSpace.around(sk.Expectation("p*log(p)"))
    ruler = sk.Ruler(space)
    assert isinstance(ruler, Ruler)
    assert ruler.space == space


def test_papers_ruler_in_two_rows(wire: Wire) -> None:
    ruler = Ruler(sk.SearchSpace.paper(sk.Expectation("p")))
    rows = {row: [t["at"] for t in ruler.ticks if t["row"] == row] for row in (0, 1, 2)}
    assert rows[0] == ["0", "1/4", "1/2", "3/4", "1", "5/4", "3/2", "7/4", "2"]
    assert rows[1] == ["0", "1/4", "1/2", "3/4", "1", "5/4", "3/2", "7/4"]
    assert rows[2] == []
    assert ruler.span == [0, 2]


@pytest.mark.parametrize(
    ("text", "parameter", "base", "places"),
    [
        ("k^3*2^k", "k", "2^k", {"k*2^(3*k/4)": (1, "3/4"), "k^3*2^k": (2, "1"), "k": (1, "0"), "1": (0, "0")}),
        ("log(n)", "n", "n", {"log(n)": (1, "0"), "log(n)^(1/2)": (2, "1/2"), "n^(1/3)": (0, "1/3")}),
        ("1", "p", "p", {"1": (0, "0"), "p^(3/4)*log(p)": (1, "3/4")}),
    ],
)
def test_rows_of_other_classes(wire: Wire, text: str, parameter: str, base: str, places: dict[str, tuple[int, str]]) -> None:
    ruler = Ruler(expectation=sk.Expectation(text, parameter=parameter))
    assert ruler.axis["base"] == base
    found = {t["growth"]: (t["row"], t["at"]) for t in ruler.ticks}
    assert {growth: found[growth] for growth in places} == places


def test_axis_of_logarithms_has_no_second_row(wire: Wire) -> None:
    ruler = Ruler(ticks=["1", "log(p)", "log(p)^2"])
    assert (ruler.axis["base"], ruler.axis["small"]) == ("log(p)", "")
    assert [(t["row"], t["at"]) for t in ruler.ticks] == [(0, "0"), (0, "1"), (0, "2")]


def test_moved_ticks_find_room(wire: Wire) -> None:
    ruler = Ruler(expectation="p")
    assert ruler.denominators == [1, 2, 3, 4, 6, 8]
    from_page(ruler, ticks=[*ruler.ticks, {"growth": "p^(1/5)"}])
    assert ruler.denominators == [1, 2, 3, 4, 5, 6, 8, 10]
    ruler.ticks = ["p^(1/100)", "p"]
    assert ruler.denominators == [1, 2, 3, 4]
    assert Ruler(ticks=["p^(1/5)", "p"], denominators=[1, 2]).denominators == [1, 2]


def test_verdict_is_marked(wire: Wire, verdict: Verdict) -> None:
    ruler = Ruler(verdict=verdict)
    assert (ruler.expectation, ruler.best) == ("p", "p^(1/2)*log(p)")
    assert ruler.limits == ["p^(1/2)", "p^(3/2)"]
    assert ruler.weights[ruler.best] == pytest.approx(verdict.posterior.probability_of(verdict.model.growth), abs=1e-4)
    assert sum(ruler.weights.values()) <= 1.001
    ruler.show(None)
    assert (ruler.expectation, ruler.best, ruler.limits, ruler.weights) == ("", "", [], {})


def test_edit_of_the_page_is_read_sorted_and_printed_alike(wire: Wire) -> None:
    ruler = Ruler(ticks=["1", "p"])
    from_page(ruler, ticks=[{"growth": "p"}, {"growth": "p^(2/4)*log(p)"}, {"growth": "sqrt(p) log p"}, {"growth": "1"}])
    assert ruler.ticks == [
        {"growth": "1", "row": 0, "at": "0"},
        {"growth": "p^(1/2)*log(p)", "row": 1, "at": "1/2"},
        {"growth": "p", "row": 0, "at": "1"},
    ]
    assert ruler.growths == (Growth(), Growth("p^(1/2)*log(p)"), Growth("p"))
    assert ruler.space.name == "ruler+"


@pytest.mark.parametrize(
    ("ticks", "said"),
    [
        ([{"growth": "p!"}], "cannot classify 'p!'"),
        ([{"growth": "n"}], "depends on n, but the parameter is 'p'"),
        ([], "would have 0 ticks"),
        ([{"at": "1"}], "the expectation is empty"),
        ([{"growth": f"p^{k}"} for k in range(1, 1001)] + [{"growth": f"p^{k}*log(p)"} for k in range(1, 1003)], "1000"),
        (7, "expected a list"),
    ],
)
def test_wrong_edit_is_refused_and_the_view_restored(wire: Wire, ticks: object, said: str) -> None:
    ruler = Ruler(ticks=["1", "p"])
    before = list(ruler.ticks)
    wire.clear()
    from_page(ruler, ticks=ticks)
    assert ruler.ticks == before
    assert said in ruler.problem
    sent = [data["state"] for _, _, data in wire if data["method"] == "update" and "ticks" in data["state"]]
    assert sent[-1]["ticks"] == before
    assert not ruler.can_undo
    from_page(ruler, ticks=[{"growth": "1"}, {"growth": "p"}, {"growth": "p^2"}])
    assert ruler.problem == ""
    assert growths(ruler) == ["1", "p", "p^2"]


def test_readonly_ignores_the_page(wire: Wire) -> None:
    ruler = Ruler(ticks=["1", "p"], readonly=True)
    from_page(ruler, ticks=[{"growth": "p"}], selected="p")
    ask(ruler, "add", "p^2")
    assert growths(ruler) == ["1", "p"]
    assert ruler.selected == "p"


def test_undo_and_redo_without_a_session(wire: Wire) -> None:
    ruler = Ruler(ticks=["1", "p"])
    from_page(ruler, ticks=[{"growth": "1"}, {"growth": "p^2"}])
    ask(ruler, "add", "O(p log p)")
    assert growths(ruler) == ["1", "p*log(p)", "p^2"]
    assert ruler.selected == "p*log(p)"
    ask(ruler, "undo")
    ask(ruler, "undo")
    assert growths(ruler) == ["1", "p"]
    assert (ruler.can_undo, ruler.can_redo) == (False, True)
    ask(ruler, "undo")
    ask(ruler, "redo")
    assert growths(ruler) == ["1", "p^2"]
    ruler.ticks = ["1", "log(p)"]
    assert (ruler.can_undo, ruler.can_redo) == (True, False)


def test_wrong_text_is_refused_in_words(wire: Wire) -> None:
    ruler = Ruler(ticks=["1", "p"])
    ask(ruler, "add", "p^p")
    assert "outgrows every 2^(c*x)" in ruler.problem
    assert growths(ruler) == ["1", "p"]
    ask(ruler, "__class__")
    from_page(ruler, requests=[7, {"n": "1"}, {"type": "undo"}])


def test_python_may_set_growths_and_gets_errors(wire: Wire) -> None:
    ruler = Ruler(ticks=["1", "p"])
    ruler.ticks = ["p^3", Growth("log(p)")]
    assert growths(ruler) == ["log(p)", "p^3"]
    assert ruler.span == [0, 3]
    with pytest.raises(ExpectationError, match=r"^cannot classify 'p!'"):
        ruler.ticks = ["p!"]
    assert growths(ruler) == ["log(p)", "p^3"]


def test_another_space_of_another_parameter(wire: Wire, verdict: Verdict) -> None:
    ruler = Ruler(verdict=verdict)
    space = sk.SearchSpace.around(sk.Expectation("2^k"))
    ruler.space = space
    assert ruler.space == space
    assert (ruler.parameter, ruler.axis["base"], ruler.best, ruler.limits) == ("k", "2^k", "", [])
    assert not ruler.can_undo


def test_wrong_arguments() -> None:
    with pytest.raises(
        ExpectationError, match=re.escape("a ruler needs a space, ticks or an expectation; write Ruler(expectation='log(p)').")
    ):
        Ruler()
    with pytest.raises(UsageError, match=r"^the space cannot be 3; write SearchSpace\.around\("):
        Ruler(3)  # type: ignore[arg-type]


def test_an_edit_is_small_on_the_wire(wire: Wire, verdict: Verdict) -> None:
    ruler = Ruler(verdict=verdict)
    ticks = [t for t in ruler.ticks if t["growth"] != "p"] + [{"growth": "p^(7/8)", "row": 0, "at": "7/8"}]
    wire.clear()
    from_page(ruler, ticks=ticks, selected="p^(7/8)")
    assert sum(len(json.dumps(data)) for _, _, data in wire) < 10_000


def test_state_is_json_with_texts_for_exponents(wire: Wire, verdict: Verdict) -> None:
    state = json.loads(json.dumps(state_of(Ruler(verdict=verdict))))
    assert all(isinstance(tick["at"], str) for tick in state["ticks"])
