"""Own growth classes: their place in the order, their texts and values, and agreement with limits of sympy."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scalkit.errors import ExpectationError
from scalkit.growth import Exponents, Growth, GrowthClass, forget_growth, register_growth, registered_growths
from scalkit.validation import Expectation, SearchSpace
from scalkit.validation.crossing import crossing

ONE = Growth.constant()
FORMULAS = {"loglog": "log(log(p))", "quasi": "exp(sqrt(log(p)))", "stretched": "2^sqrt(n)", "npn": "n^n"}


@pytest.fixture(scope="module")
def kinds() -> dict[str, GrowthClass]:
    """The classes as values; the register is left empty, so values are seen to need none."""
    made = {name: register_growth(name, formula) for name, formula in FORMULAS.items()}
    for name in made:
        forget_growth(name)
    return made


@pytest.fixture
def registered() -> Iterator[dict[str, GrowthClass]]:
    yield {name: register_growth(name, formula) for name, formula in FORMULAS.items()}
    for kind in registered_growths():
        forget_growth(kind.name)


EXPONENTS = st.fractions(min_value=-9, max_value=9, max_denominator=12)
SMALL = st.sampled_from([Fraction(-1), Fraction(0), Fraction(1, 2)])


def _growth(kinds: dict[str, GrowthClass], own: list[Fraction], built_in: list[Fraction]) -> Growth:
    growth = Growth.of("p", *built_in)
    for kind, exponent in zip(kinds.values(), own, strict=True):
        growth *= kind.growth("p") ** exponent
    return growth


def _lists(elements: st.SearchStrategy[Fraction]) -> tuple[st.SearchStrategy[list[Fraction]], ...]:
    return st.lists(elements, min_size=4, max_size=4), st.lists(elements, min_size=3, max_size=3)


def test_classes_stand_between_the_built_in_ones(kinds: dict[str, GrowthClass]) -> None:
    texts = ["1", "loglog", "log(p)", "quasi", "p", "stretched", "2^p", "npn"]
    ascending = [kinds[t].growth() if t in kinds else Growth.parse(t) for t in texts]
    assert sorted(ascending, reverse=True) == ascending[::-1]
    for slower, faster in pairwise(ascending):
        assert slower**100 < faster ** Fraction(1, 100)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.tuples(*_lists(EXPONENTS)), st.tuples(*_lists(EXPONENTS)), st.tuples(*_lists(EXPONENTS)))
def test_growths_with_own_classes_form_an_ordered_group(
    kinds: dict[str, GrowthClass], one: tuple, two: tuple, three: tuple
) -> None:
    a, b, c = (_growth(kinds, *each) for each in (one, two, three))
    assert (a * b) * c == a * (b * c)
    assert a * b == b * a
    assert a / a == ONE
    assert a**0 == ONE
    assert (a < b) + (a == b) + (a > b) == 1
    assert (a < b) == (a * c < b * c)
    assert (a < b) == (b / a > ONE)
    assert not (a < b < c) or a < c
    assert hash(a * b) == hash(b * a)
    assert pickle.loads(pickle.dumps(a)) == a


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.tuples(*_lists(SMALL)))
def test_order_agrees_with_limits_of_sympy(kinds: dict[str, GrowthClass], exponents: tuple) -> None:
    growth = _growth(kinds, *exponents)
    p = sympy.Symbol("p", positive=True)
    logarithm = sympy.expand_log(sympy.log(growth.to_sympy()), force=True)
    limit = sympy.limit(logarithm, p, sympy.oo)
    assert limit == (0 if growth == ONE else sympy.oo if growth > ONE else -sympy.oo)


def test_the_example_of_the_documentation(own_classes: None) -> None:
    kind = register_growth("loglog", "log(log(p))", slower_than="log(p)", faster_than="1")
    assert (kind.name, kind.rank) == ("loglog", Fraction(1, 2))
    assert register_growth("loglog", "log(log(n))") is kind
    assert register_growth("loglog", sympy.log(sympy.log(sympy.Symbol("p")))) is kind
    assert registered_growths() == (kind,)
    growth = Growth.parse("p*loglog(p)^2")
    assert growth == Growth.of("p", power=1) * kind.growth("p") ** 2
    assert str(growth) == "p*loglog(p)^2"
    assert growth.to_latex() == r"p \mathrm{loglog}^{2} p"
    assert "<mi>loglog</mi>" in growth.to_mathml()
    assert growth.exponents("p").own == ((kind, Fraction(2)),)
    assert str(1 and ONE / growth) == "1/p/loglog(p)^2"


@pytest.mark.slow
def test_sums_and_other_forms_are_seen_through(registered: object) -> None:
    forms = {
        "p*loglog(p) + log(p)": "p*loglog(p)",
        "O(loglog(n)^(1/2) log n)": "log(n)*loglog(n)^(1/2)",
        "loglog(S)*p": "S^0*p*loglog(S)",
        "log(log(p)^2) + 3": "loglog(p)",
        "log(p) + log(log(p))": "log(p)",
        "2*log(log(p))*log(p) + log(p)": "log(p)*loglog(p)",
        "p^3*2^sqrt(p) + 2^sqrt(p)": "p^3*stretched(p)",
        "log(p^p)": "p*log(p)",
        "log(stretched(p))": "p^(1/2)",
        "loglog(p^2)": "loglog(p)",
    }
    assert {text: Growth.parse(text) for text in forms} == {text: Growth.parse(growth) for text, growth in forms.items()}


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.tuples(*_lists(EXPONENTS)))
def test_text_parses_back(registered: dict[str, GrowthClass], exponents: tuple) -> None:
    growth = _growth(registered, *exponents)
    assert Growth.parse(str(growth)) == growth


def test_sympy_parses_back(registered: dict[str, GrowthClass]) -> None:
    growth = Growth.parse("p^(1/2)*loglog(p)^2/log(p)")
    assert Growth.parse(growth.to_sympy()) == growth


def test_classes_build_on_classes(registered: dict[str, GrowthClass]) -> None:
    kind = register_growth("logloglog", "log(loglog(p))", slower_than="loglog(p)")
    assert kind.formula == "log(log(log(x)))"
    assert ONE < kind.growth() < registered["loglog"].growth()


def test_values_do_not_overflow(kinds: dict[str, GrowthClass]) -> None:
    assert kinds["loglog"].growth("p")([2, 4, 16, 65536]).tolist() == [0, 1, 2, 4]
    assert np.isnan(kinds["loglog"].growth("p")(1.0))
    assert kinds["npn"].growth("p").log2_value([2.0, 4.0, 1e300]).tolist() == pytest.approx([2, 8, 9.96578e302], rel=1e-5)
    assert kinds["quasi"].growth()(2.0) == pytest.approx(np.e)


def test_formulas_compute_what_sympy_does(own_classes: None) -> None:
    text = "cbrt(p)*factorial(p) + 2*p^2.5/log2(p) - (-p)"
    kind = register_growth("odd", text)
    p = sympy.Symbol("p", positive=True)
    expected = [float(kind.to_sympy(p).subs(p, x).evalf()) for x in (2, 7, 20)]
    assert kind.growth("p")([2, 7, 20]).tolist() == pytest.approx(expected)


def test_an_expectation_and_its_ruler(registered: object) -> None:
    expectation = Expectation("loglog(p)")
    assert str(expectation) == "O(loglog(p))"
    assert expectation.deviation == Growth.parse("loglog(p)^(1/2)")
    assert expectation.rank(Growth.parse("log(p)")) == "none"
    assert crossing(Growth.parse("log(p)"), expectation) == 1.0
    wide = Expectation("log(p)", deviation="loglog(p)")
    root = crossing(Growth.parse("p^(1/4)"), wide)
    assert (Growth.parse("p^(1/4)") / wide.limits[1])(root) == pytest.approx(1.0)
    assert [str(t) for t in SearchSpace.paper(expectation, 1).ticks] == [
        "1",
        "loglog(p)^(1/2)",
        "loglog(p)",
        "loglog(p)^(3/2)",
        "loglog(p)^2",
    ]
    around = SearchSpace.around(Expectation("stretched(p)"))
    assert Growth.parse("p*stretched(p)") in around.ticks
    assert Growth.parse("log(p)") not in around.ticks
    assert len(around.refine()) > len(around)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("log", "p"), "'log' cannot name a growth class; take a letter, then letters, digits or '_', at most 64 in all, "),
        (("a b", "p"), "'a b' cannot name a growth class; take a letter"),
        (("f", 3), "a formula must be text, got int; write it as text, for example 'log(log(p))'."),
        (("f", "p" * 201), "the formula 'pppppppppppppppppppp...' has 201 characters; at most 200 are allowed. Simplify it."),
        (("f", "2 p"), "cannot read the formula '2 p': write it with operators, 2*p rather than 2 p."),
        (("f", "p*n"), "the formula 'p*n' must depend on one parameter; it depends on n, p."),
        (("f", "3"), "the formula '3' must depend on one parameter; it depends on none."),
        (("f", "exp(exp)"), "the formula 'exp(exp)' must depend on one parameter; it depends on exp."),
        (("f", "sin(p)"), "cannot read the formula 'sin(p)': the function 'sin' is unknown; +, -, *, /, ^, log, log2, sqrt, "),
        (("f", "p.real"), "cannot read the formula 'p.real': 'p.real' is not allowed; +, -"),
        (("f", "p if p else p"), "cannot read the formula 'p if p else p': 'p if p else p' is not allowed; "),
        (("f", "p+2000"), "cannot read the formula 'p+2000': '2000' is no number up to 1000; "),
        (("f", "p*True"), "cannot read the formula 'p*True': 'True' is no number up to 1000; "),
        (("f", "(lambda: p)()"), "cannot read the formula '(lambda: p)()': "),
        (("f", "__import__('os')"), "cannot read the formula '__import__('os')': "),
        (("f", "+".join("p" * 60)), f"the formula '{'+'.join('p' * 60)}' has more than 80 operations and names; simplify it."),
        (
            ("f", "p*9^9^9^9"),
            "cannot read the formula 'p*9^9^9^9': its exponents are too large, 64 is the most for their product; ",
        ),
        (("f", "(p+1)^1000-p^1000"), "cannot read the formula '(p+1)^1000-p^1000': its exponents are too large, 64 is the "),
        (
            ("f", "p*factorial(9)"),
            "cannot read the formula 'p*factorial(9)': a factorial must be of something with the parameter; ",
        ),
        (("f", "1/log(p)"), "the growth class 'f', '1/log(p)', does not grow without bound; register its inverse."),
        (
            ("f", "p*log(log(p))"),
            "the growth class 'f' has no place of its own: it grows as a power of p up to slower factors. "
            "Register the slower factor and write the product.",
        ),
        (("loglog", "log(log(p))^2"), "the growth class 'loglog' is registered as 'log(log(x))' already; choose another name"),
    ],
)
def test_wrong_classes_are_refused(registered: object, arguments: tuple, message: str) -> None:
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}"):
        register_growth(*arguments)
    assert len(registered_growths()) == 4


@pytest.mark.parametrize(
    ("slower_than", "faster_than", "message"),
    [
        ("1", None, "slower_than is 1, but a class must grow; name a class that outgrows it."),
        ("p*n", None, "slower_than is 'n*p', which depends on several parameters; name one class, as 'log(p)'."),
        (
            "log(p)",
            "p",
            "the growth class 'f' cannot be slower than 'log(p)' and faster than 'p'; "
            "name a faster class first and a slower one second.",
        ),
        ("2^p", "p", "the growth class 'f' grows slower than log(p), not faster; correct slower_than or faster_than."),
    ],
)
def test_a_wrong_order_is_refused(own_classes: None, slower_than: str, faster_than: str, message: str) -> None:
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        register_growth("f", "log(log(p))", slower_than=slower_than, faster_than=faster_than)


def test_the_users_order_counts_where_sympy_cannot_tell(own_classes: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scalkit.growth.symbolic.grows", lambda formula: None)
    monkeypatch.setattr("scalkit.growth.symbolic.compare", lambda left, right: "unknown")
    message = "sympy cannot tell whether the growth class 'f' grows faster than log(p); say so with slower_than or faster_than."
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        register_growth("f", "log(log(p))", slower_than="p")
    assert register_growth("f", "log(log(p))", slower_than="log(p)").rank == Fraction(1, 2)


def test_nested_classes_cannot_blow_up(own_classes: None) -> None:
    register_growth("f", "log(p)*sqrt(log(log(p)))*log(log(p)) / log(p)")
    with pytest.raises(ExpectationError, match="more than 80 operations"):
        register_growth("g", "f(" * 30 + "p" + ")" * 30)


def test_forgetting_needs_the_class(registered: object) -> None:
    message = "there is no growth class 'loglgo' to forget; registered are loglog, quasi, stretched, npn."
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        forget_growth("loglgo")


def test_an_own_class_takes_a_parameter_alone(registered: object) -> None:
    with pytest.raises(ExpectationError, match=r"'loglog' needs a parameter alone, as in 'loglog\(p\)'"):
        Growth.parse("loglog(p*n)")


def test_texts_that_sympy_cannot_classify_keep_their_message(registered: object) -> None:
    for text, words in (("log(log(p)) + S", "logarithm of a logarithm"), ("log(p)^log(p)", "outgrows every"), ("p -", "ends")):
        with pytest.raises(ExpectationError, match=words):
            Growth.parse(text)


def test_without_own_classes_sympy_is_not_asked() -> None:
    assert registered_growths() == ()
    with pytest.raises(ExpectationError, match="it holds a logarithm of a logarithm"):
        Growth.parse("log(log(p))")


def test_leading_keeps_the_fastest_class(kinds: dict[str, GrowthClass]) -> None:
    growth = Growth.parse("2^p*p^3*log(p)")
    assert growth.leading("p") == Growth.parse("2^p")
    assert (growth * kinds["npn"].growth("p") ** 2).leading("p") == kinds["npn"].growth("p") ** 2
    assert ONE.leading("p") == ONE
    assert Exponents().by_rank() == []
