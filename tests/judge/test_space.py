"""The ruler: halvings, small ticks, neighbours, refine, ticks by hand."""

from __future__ import annotations

import re

import pytest

import scalkit as sk
from scalkit.errors import ExpectationError
from scalkit.growth import Growth
from scalkit.judge import SearchSpace


def raises(message: str) -> pytest.RaisesExc[ExpectationError]:
    return pytest.raises(ExpectationError, match=f"^{re.escape(message)}$")


def texts(space: SearchSpace) -> list[str]:
    return [str(tick) for tick in space.ticks]


def test_depth_0_has_the_outer_ticks_and_the_expectation() -> None:
    assert texts(SearchSpace.paper(sk.Expectation("p"), depth=0)) == ["1", "log(p)", "p", "p*log(p)", "p^2"]


def test_logarithms_have_no_lower_class() -> None:
    ticks = texts(SearchSpace.paper(sk.Expectation("log(p)"), depth=1))
    assert ticks == ["1", "log(p)^(1/2)", "log(p)", "log(p)^(3/2)", "log(p)^2"]


def test_p_log_p_has_its_small_ticks_up_to_its_square() -> None:
    ticks = texts(SearchSpace.paper(sk.Expectation("p*log(p)"), depth=1))
    assert ticks == [
        *("1", "log(p)", "p^(1/2)", "p^(1/2)*log(p)", "p", "p*log(p)", "p^(3/2)", "p^(3/2)*log(p)"),
        *("p^2", "p^2*log(p)", "p^2*log(p)^2"),
    ]


def test_exponentials_get_powers_as_small_ticks() -> None:
    ticks = texts(SearchSpace.paper(sk.Expectation("k^3*2^k"), depth=0))
    assert ticks == ["1", "k", "2^k", "k*2^k", "k^3*2^k", "2^(2*k)", "k*2^(2*k)", "k^6*2^(2*k)"]


def test_falling_expectations_have_a_falling_ruler() -> None:
    ticks = texts(SearchSpace.paper(sk.Expectation("1/k"), depth=1))
    assert ticks == ["1/k^2", "log(k)/k^2", "1/k^(3/2)", "log(k)/k^(3/2)", "1/k", "log(k)/k", "1/k^(1/2)",
                     "log(k)/k^(1/2)", "1"]  # fmt: skip


def test_around_adds_neighbours_and_the_preset() -> None:
    space = SearchSpace.around(sk.Expectation("p^3"))
    assert {Growth(t) for t in ("p^3/log(p)", "p^3", "p^3*log(p)")} <= set(space.ticks)
    assert set(SearchSpace.preset("ics15").ticks) <= set(space.ticks)
    assert (space.ticks[0], space.ticks[-1]) == (Growth(), Growth("p^6"))
    mafia = SearchSpace.around(sk.Expectation("k*2^k"))
    assert not set(SearchSpace.preset("ics15", "k").ticks) <= set(mafia.ticks)


def test_ticks_by_hand() -> None:
    space = SearchSpace.preset("ics15")
    more = space.with_tick("p^3")
    assert (more.name, len(more), more.ticks[-1]) == ("ics15+", 27, Growth("p^3"))
    assert more.without_tick(Growth("p^3")).ticks == space.ticks
    assert more.with_tick("p^3") == more
    with raises("the search space 'paper' has no tick 'p'; its ticks are 1, log(p)^(1/2), log(p), log(p)^(3/2), log(p)^2."):
        SearchSpace.paper(sk.Expectation("log(p)"), depth=1).without_tick("p")


def test_refine_halves_the_gaps_of_every_row() -> None:
    space = SearchSpace.paper(sk.Expectation("p"), depth=1)
    fine = SearchSpace.paper(sk.Expectation("p"), depth=2)
    refined = set(space.refine().ticks)
    assert set(space.ticks) <= refined
    assert refined == set(fine.ticks) - {Growth("p^(7/4)*log(p)")}
    assert len(space.refine(2)) == len(space.refine().refine())


def test_limits_of_size() -> None:
    with raises("the search space 'ics15+' would have 3074 ticks; 1 to 2000 are allowed. Refine it less, or leave a tick."):
        SearchSpace.preset("ics15").refine(9)
    with raises("the search space 'mine' would have 0 ticks; 1 to 2000 are allowed. Refine it less, or leave a tick."):
        SearchSpace.of([], "mine", "p")


def test_refused() -> None:
    with raises("the depth of the ruler is 9; 0 to 8 halvings are allowed."):
        SearchSpace.paper(sk.Expectation("p"), depth=9)
    with raises("the search space 'ics16' is unknown; choose one of ics15."):
        SearchSpace.preset("ics16")
    with raises("the search space 'ics16' is unknown; choose one of around, paper, ics15."):
        SearchSpace.named("ics16", sk.Expectation("p"))


def test_shown() -> None:
    space = SearchSpace.preset("ics15")
    assert repr(space) == "SearchSpace('ics15', 26 ticks from 1 to p^2*log(p))"
    assert "26 ticks" in space._repr_html_()
    for name in ("around", "paper", "ics15"):
        assert SearchSpace.named(name, sk.Expectation("p")).name == name


def test_ticks_as_text() -> None:
    made = SearchSpace.of(["p", "1", "p^(1/2)"], "own", "p")
    assert [str(tick) for tick in made.ticks] == ["1", "p^(1/2)", "p"]
    with pytest.raises(ExpectationError, match="did you mean 'log'"):
        SearchSpace.of(["logg(p)"], "own", "p")


def test_what_is_no_space() -> None:
    x = [2, 4, 8, 16, 32]
    with pytest.raises(ExpectationError, match=r"the search space is \['1', 'p'\]; give a name, as 'ics15', or a space"):
        sk.validate(sk.measurements(x, x), {"f": "p"}, space=["1", "p"])  # type: ignore[arg-type]
