"""Exercises without a page: what is right, what is said about what is not, and what is counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import scalkit as sk
from exercises import Exercise, Outcome
from scalkit.errors import UsageError
from scalkit.growth import Growth

HOSTILE = [
    "",
    "   ",
    "...",
    "…",
    "p*log(p",
    "p log",
    "p!",
    "p^p",
    "log(log(p))",
    "n*log(n)",
    "a/b c",
    "__import__('os').system('touch /tmp/owned')",
    "exec('1')",
    "lambda: 0",
    "<script>alert(1)</script>",
    "{{7*7}}",
    "p\x00",
    "p\nq",
    "\u202ep",
    "((((" * 60,
    "p" * 299,
    "p" * 5000,
    "9" * 301,
    "1e999999999",
    "nan",
    "💥",
    None,
    True,
    b"p",
    object(),
    [],
    {"answer": "p"},
]


def order(**options: Any) -> Exercise:
    return Exercise("How does it grow?", "growth", "p*log(p)", **options)


@pytest.mark.parametrize(
    "text", ["O(p log p)", "p*log2(p)", "p·ln p", "7*p*log(p) + 3*p + 100", "p*(1 + log(p))", "Θ(p*log(p^2))", " p * log ( p ) "]
)
def test_growths_are_equal_however_they_are_written(text: str) -> None:
    assert order().check(text).is_right


def test_growth_and_expectation_of_python_are_read() -> None:
    assert order().check(Growth("p*log(p)")).is_right
    assert Exercise("?", answer="1").check(5).is_right


@pytest.mark.parametrize(
    ("text", "thought"),
    [
        ("p^2", "It grows too fast for large p."),
        ("log(p)^9", "It grows too slowly for large p."),
        ("2^p", "It grows too fast for large p."),
        ("1", "It grows too slowly for large p."),
    ],
)
def test_wrong_growths_are_told_the_side(text: str, thought: str) -> None:
    found = order().check(text)
    assert (found.kind, found.thought) == ("wrong", thought)
    assert found.read_as == str(Growth(text))


def test_growth_of_several_parameters() -> None:
    exercise = Exercise("?", answer="n*p")
    assert exercise.check("p*n").is_right
    assert exercise.check("p").thought == "It depends on other parameters than the right one does."


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text)[:20])
@pytest.mark.parametrize("kind", ["growth", "number", "choice", "ticks", "goal"])
def test_what_cannot_be_read_gets_a_sentence_and_counts_nothing(kind: str, text: object) -> None:
    made = {
        "growth": lambda: order(),
        "number": lambda: Exercise("?", "number", 12, unit="s"),
        "choice": lambda: Exercise("?", "choice", "red", choices=("red", "blue")),
        "ticks": lambda: Exercise("?", "ticks", "1, p"),
        "goal": lambda: Exercise("?", "ticks", {"goal": "model is", "function": "f", "growth": "p"}),
    }
    exercise = made[kind]()
    found = exercise.check(text)
    assert found.kind == "unread"
    assert 10 < len(found.thought) < 400
    assert found.thought[0].isupper() or found.thought[0] in "'"
    assert found.thought.isprintable()
    assert exercise.attempts == 0
    assert not exercise.is_solved


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("65536", "right"),
        ("65 536", "right"),
        ("65,536", "right"),
        ("65_536", "right"),
        ("2^16", "right"),
        ("2**16", "right"),
        ("p* = 65536", "right"),
        ("≈ 65600", "right"),
        ("65.5k", "right"),
        ("6.5536e4", "right"),
        (65536, "right"),
        (np.float64(65536), "right"),
        (np.array(65536), "right"),
        (np.array([1, 2]), "unread"),
        (float("nan"), "unread"),
        ("-65536", "wrong"),
        ("65000", "wrong"),
        ("65536 B", "unread"),
        ("1,5", "unread"),
        ("9^999", "unread"),
        ("1e999", "unread"),
    ],
)
def test_numbers_as_people_write_them(given: object, kind: str) -> None:
    assert Exercise("?", "number", 65536, tolerance=0.002).check(given).kind == kind


@pytest.mark.parametrize(
    ("given", "kind", "thought"),
    [
        ("12.5 ms", "right", ""),
        ("12500 µs", "right", ""),
        ("0.0125s", "right", ""),
        (0.0125, "right", ""),
        ("12.5 us", "wrong", "The digits look good; mind the prefix of the unit."),
        ("13 ms", "wrong", "That is too large."),
        ("1 ns", "wrong", "That is too small."),
        ("12.5", "unread", "The number lacks its unit; write s with or without a prefix, for example '12 us' or '3.5 ms'."),
        (
            "12.5 MB",
            "unread",
            "The number is in MB, which is none of s with or without a prefix, for example '12 us' or '3.5 ms'.",
        ),
    ],
)
def test_numbers_with_units(given: object, kind: str, thought: str) -> None:
    found = Exercise("?", "number", 0.0125, unit="s", tolerance=0.01).check(given)
    assert (found.kind, found.thought) == (kind, thought)


def test_a_word_as_unit_may_be_left_out_and_zero_has_an_absolute_tolerance() -> None:
    exercise = Exercise("?", "number", 8, unit="processes")
    assert [exercise.check(text).kind for text in ("8", "8 processes", "8 Process")] == ["right"] * 3
    assert exercise.check("8 cats").thought == "The answer is a number of processes, not of cats."
    assert Exercise("?", "number", 0, tolerance=0.1).check("0.05").is_right


@pytest.mark.parametrize("given", ["2", "b", "B)", "2.", "as expected", "As Expected", 2])
def test_choices_by_number_letter_and_text(given: object) -> None:
    assert Exercise("?", "choice", "as expected", choices=("faster", "as expected")).check(given).is_right


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("p^2, 1; p", ""),
        (["1", "p", "p^2"], ""),
        ([Growth("1"), "p", "p^2"], ""),
        ("1, p", "Of the ticks, 1 is missing."),
        ("1, p, p^3, p^4", "Of the ticks, 1 is missing and 2 do not belong."),
        ("p", "Of the ticks, 2 are missing."),
    ],
)
def test_sets_of_ticks(given: object, said: str) -> None:
    found = Exercise("?", "ticks", "1, p, p^2").check(given)
    assert (found.is_right, found.thought) == (not said, said)


def test_attempts_hints_and_remarks() -> None:
    exercise = order(hints=("first", "second"), remarks={"p": "and the rounds?"}, why="rounds times cost")
    assert exercise.progress == "0 attempts, 0 of 2 hints"
    assert exercise.check("...").thought.startswith("Put your answer in place of the dots.")
    assert exercise.outcome is None, "a blank is no answer"
    assert exercise.check("3*p + 1").thought == "and the rounds?"
    assert exercise.check("nonsense(").kind == "unread"
    assert exercise.attempts == 1
    assert [exercise.hint(), exercise.hint(), exercise.hint()] == ["first", "second", "second"]
    assert exercise.hints == ("first", "second")
    assert exercise.check("p log p") == Outcome("right", "rounds times cost", "p*log(p)", exercise.outcome.formula)
    for text in ("...", "", "p("):
        assert exercise.check(text).kind == "unread"
    assert exercise.outcome.is_right, "a blank that is run afterwards takes nothing back"
    exercise.check("p^2")
    assert exercise.is_solved
    assert exercise.progress == "2 attempts, 2 of 2 hints"
    assert order().hint() == "There is no hint for this one."


def test_outcome_reads_as_text_and_as_markup() -> None:
    wrong = Outcome("wrong", "Think of <p> & q.", "p < q")
    assert repr(wrong) == "✗ not yet (read as p < q): Think of <p> & q."
    assert "(read as p &lt; q): Think of &lt;p&gt; &amp; q." in wrong._repr_html_()
    assert repr(Outcome("right")) == "✓ right."
    assert not wrong.is_right


def test_exercise_prints_itself_without_the_answer() -> None:
    exercise = Exercise("Which?", "choice", "blue", choices=("red", "blue"), name="7", hints=("think",))
    assert repr(exercise) == ("Exercise 7: Which?\n  1. red\n  2. blue\nAnswer with check('...'); 0 attempts, 0 of 1 hints.")
    exercise.check("red")
    assert repr(exercise).endswith("\n✗ not yet (read as red).")
    assert repr(order()).startswith("Exercise: How does it grow?\n")


def test_session_that_nobody_changed_is_no_attempt() -> None:
    session = sk.Session(sk.measurements([2, 4, 8, 16, 32], [1, 2, 3, 4, 5], name="f"), {"f": "log(p)"})
    goal = Exercise("?", "ticks", {"goal": "answer is", "function": "f", "answer": "fix"}, session=session)
    assert (goal.check().kind, goal.attempts) == ("wrong", 0)
    session.add_tick("p^3")
    assert (goal.check().kind, goal.attempts) == ("wrong", 1)


def test_session_where_a_text_is_asked_and_text_where_a_session_is() -> None:
    session = sk.Session(sk.measurements([2, 4, 8, 16, 32], [1, 2, 3, 4, 5], name="f"), {"f": "log(p)"})
    assert order().check(session).thought == "The answer is a text, not a session; give it in quotes."
    goal = Exercise("?", "ticks", {"goal": "model is", "function": "f", "growth": "log(p)"}, session=session)
    assert goal.check("p").thought == "This exercise looks at a session: hand it over, as in check(session)."
    assert goal.check(session).is_right
    assert goal.check().is_right


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kind": "essay"}, "the kind of an exercise is 'essay'; it must be one of growth, choice, number, ticks."),
        ({"answer": None}, "an exercise needs an answer; give one, as in answer='p*log(p)'."),
        (
            {"answer": "p p!"},
            "the answer of an exercise about growth cannot be read: cannot classify 'p p!': a factorial outgrows every "
            "2^(c*x). Write the expectation as a product of powers of log(p), p and 2^p, for example 'p^2*log(p)'.",
        ),
        ({"choices": ("a", "b")}, "an exercise of kind 'growth' has no choices; leave them out, or make it kind='choice'."),
        (
            {"kind": "choice", "choices": ("a",), "answer": "a"},
            "an exercise of kind 'choice' needs 2 to 26 texts as choices, got 1.",
        ),
        ({"kind": "choice", "choices": ("a", "A"), "answer": "a"}, "the choices of an exercise must differ: a, A."),
        (
            {"kind": "choice", "choices": ("a", "b"), "answer": "c"},
            "the answer 'c' of an exercise is none of its choices; give the text of one.",
        ),
        ({"kind": "number", "answer": "7"}, "the answer of an exercise of kind 'number' is '7'; a finite number is needed."),
        ({"kind": "number", "answer": 7, "tolerance": 1}, "the tolerance of an exercise is 1; it must be from 0 to below 1."),
        ({"kind": "ticks", "answer": 7}, "the answer of an exercise about ticks is 7; give growths, or a goal."),
        ({"kind": "ticks", "answer": []}, "the answer of an exercise about ticks is empty; give growths, or a goal."),
        (
            {"kind": "ticks", "answer": "p!"},
            "the answer of an exercise about ticks cannot be read: cannot classify 'p!': a factorial outgrows every "
            "2^(c*x). Write the expectation as a product of powers of log(p), p and 2^p, for example 'p^2*log(p)'.",
        ),
        ({"remarks": {"2*p": "no"}}, "an exercise has a remark on '2*p', which is the right answer; say it in 'why'."),
        (
            {"remarks": {"p(": "no"}},
            "an exercise has a remark on 'p(', which is no answer: 'p(' is no growth that I can read: the function 'p' is "
            "unknown; log, sqrt and cbrt are known. Write it as in 'p*log(p)', 'p^(1/2)' or '2^p'.",
        ),
    ],
)
def test_wrong_exercises_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        Exercise("?", **({"kind": "growth", "answer": "p"} | options))
    assert str(refused.value) == said
