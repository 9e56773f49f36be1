"""Relations: text to value to text, sides on any values, errors."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalkit.errors import RuleError
from scalkit.growth.relation import Relation

EXAMPLE = "Write it as 'A <= B + 2*C', with names that hold blanks in double quotes."
NAMES = st.one_of(
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_.:]{0,10}(\[[a-z0-9=., +-]{1,5}\])?", fullmatch=True),
    st.text("ab <=+*[]%é", min_size=1, max_size=8),
)
TERMS = st.lists(st.tuples(st.floats(1e-9, 1e9), NAMES), min_size=1, max_size=4).map(tuple)


@given(TERMS, TERMS)
def test_text_parses_back(left: tuple[tuple[float, str], ...], right: tuple[tuple[float, str], ...]) -> None:
    relation = Relation(left, right)
    assert Relation.parse(str(relation)) == relation


def test_parse() -> None:
    relation = Relation.parse("MPI_Allreduce<=MPI_Reduce +2 * MPI_Comm_create[random]")
    assert relation.left == ((1.0, "MPI_Allreduce"),)
    assert relation.right == ((1.0, "MPI_Reduce"), (2.0, "MPI_Comm_create[random]"))
    assert str(relation) == "MPI_Allreduce <= MPI_Reduce + 2*MPI_Comm_create[random]"
    assert relation.names == ("MPI_Allreduce", "MPI_Reduce", "MPI_Comm_create[random]")
    assert Relation.parse('"my function" <= B').left == ((1.0, "my function"),)
    variants = "MPI_Allreduce[S=8] <= MPI_Reduce[S=8] + MPI_Bcast[S=8, mode=root]"
    assert str(Relation.parse(variants)) == variants
    assert Relation.parse(variants).names[2] == "MPI_Bcast[S=8, mode=root]"


def test_evaluate_on_numbers_and_arrays() -> None:
    relation = Relation.parse("A <= B + 2*C")
    assert relation.evaluate({"A": 1, "B": 2, "C": 3}) == (1, 8)
    left, right = relation.evaluate({"A": np.array([1, 9]), "B": np.array([2, 2]), "C": np.array([0, 1])})
    assert (left <= right).tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "a function is missing"),
        ("A <=", "a function is missing"),
        ("A", "'<=' is missing"),
        ("A + <= B", "'<=' stands where a function is expected"),
        ("A <= B <= C", "'<=' is left over"),
        ("A B <= C", "'<=' is missing"),
        ("A <= 0*B", "a factor must be positive and finite"),
        (f"A <= {'9' * 400}*B", "a factor must be positive and finite"),
        ("A < B", "'< B' is not part of a rule"),
        ("A >= B", "'>= B' is not part of a rule"),
        ("A <= B - C", "'- C' is not part of a rule"),
        ('A <= "B', "'\"B' is not part of a rule"),
        ("A <= 2", "'2' is not part of a rule"),
    ],
)
def test_refused(text: str, why: str) -> None:
    message = f"cannot read the rule '{text}': {why}. {EXAMPLE}"
    with pytest.raises(RuleError, match=f"^{re.escape(message)}$"):
        Relation.parse(text)


def test_refused_when_long_or_no_text() -> None:
    message = f"the rule '{'A' * 20}...' has 1001 characters; at most 1000 are allowed."
    with pytest.raises(RuleError, match=f"^{re.escape(message)}$"):
        Relation.parse("A" * 1001)
    with pytest.raises(RuleError, match=f"^{re.escape(f'a rule must be text, got 7. {EXAMPLE}')}$"):
        Relation.parse(7)  # type: ignore[arg-type]


def test_a_missing_value_is_named() -> None:
    message = "rule 'A <= B' needs a value of 'B'; there are A."
    with pytest.raises(RuleError, match=f"^{re.escape(message)}$"):
        Relation.parse("A <= B").evaluate({"A": 1})
