"""A result as text: a table, the worst first, that fits the terminal; nothing is left out in silence."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import scalkit as sk
from scalkit.judge import Validation
from scalkit.judge.told.listing import result_text
from scalkit.measure import combine

P = np.array([2, 4, 8, 16, 32, 64])
EXPECTED = {"steady": "log(p)", "MPI_Allreduce_of_a_long_vector[reverse]": "1", "mixed": "p"}


@pytest.fixture(scope="module")
def result() -> Validation:
    values = (3e-6 + 1e-6 * np.log2(P), 1e-6 * P, 2e-6 + 3e-6 * np.log2(P) + 1e-6 * P)
    data = combine([sk.measurements(P, y, name=name) for name, y in zip(EXPECTED, values, strict=True)])
    return sk.validate(data, EXPECTED)


def test_text_is_a_table_with_the_worst_verdict_first(result: Validation) -> None:
    heads, first, *_, last = result_text(result, 160).splitlines()
    assert heads.split("  ")[0] == "Answer"
    assert [head for head in ("Metric", "Excludes faster than", "Model", "Divergence") if head not in heads] == []
    assert first.startswith("✗ fix   MPI_Allreduce_of_a_long_vector[reverse]  time    1 ")
    assert last.startswith("1 problem: MPI_Allreduce_of_a_long_vector[reverse] grows as p instead of 1")


@pytest.mark.parametrize("width", [24, 40, 60, 80, 100, 140])
def test_text_fits_and_names_the_columns_that_do_not(result: Validation, width: int) -> None:
    text = result_text(result, width)
    assert max(map(len, text.splitlines())) <= max(width, 41)  # a name in the sentence is not broken
    heads = text.splitlines()[0]
    assert all(head in heads or head in text.partition("Not shown: ")[2] for head in ("Metric", "Model", "Divergence"))
    assert not {"total", "approximate", "none"} & set(text.split())


def test_models_continue_with_a_whole_term(result: Validation) -> None:
    lines = result_text(result, 72).splitlines()
    continued = [(one, other) for one, other in pairwise(lines) if other.startswith(" ") and "+" in other]
    assert continued
    assert all(other.split()[0] == "+" for _, other in continued)


def test_width_is_that_of_the_terminal(result: Validation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert repr(result) == str(result) == result_text(result, 60)


def test_of_many_verdicts_the_worst_are_shown_and_the_others_counted() -> None:
    many = {f"f{k}": 1e-6 * (P if k == 41 else np.log2(P)) for k in range(42)}
    data = combine([sk.measurements(P, y, name=name) for name, y in many.items()])
    lines = result_text(sk.validate(data, dict.fromkeys(many, "log p")), 200).splitlines()
    assert lines[1].startswith("✗ fix   f41 ")
    assert lines[31] == "Not shown: 12 more verdicts (12 fine). .to_frame() has all."


def test_the_only_verdict_is_said_in_a_sentence() -> None:
    one = sk.validate(sk.measurements(P, 1e-6 * np.log2(P), name="f\x1b[2J"), "log p")
    text = result_text(one, 100)
    assert "\x1b" not in text
    assert text.splitlines()[-1].startswith("fine: f\\u001b[2J grows as claimed, log(p); anything faster than ")


def test_changes_since_a_baseline_are_counted(result: Validation) -> None:
    compared = sk.validate(result, sk.Baseline(result))
    assert "\nCompared with the baseline: 3 as before\n" in result_text(compared, 100)
