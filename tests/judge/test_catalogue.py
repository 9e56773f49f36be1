"""Sets of expectations: the bundled ones, TOML files, mappings, and precise errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import scalkit as sk
from scalkit.errors import ExpectationError, RuleError
from scalkit.judge import SearchSpace, load_expectations
from scalkit.judge.catalogue import expectation_set

FULL = """
title = "mine"
deviation = "n^(1/4)"
space = "paper"
litmus = "walk"
rules = ["sort <= 2*walk"]

[expectations]
walk = "n"
sort = {expectation = "n*log(n)", deviation = "log(n)", space = "around"}
"a name" = 1
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "expectations.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_bundled_mpi_set_is_that_of_the_paper() -> None:
    mpi = load_expectations("mpi")
    assert mpi.name == "mpi"
    assert mpi.litmus == "Bcast_binary_tree"
    assert [str(rule) for rule in mpi.rules] == [
        "MPI_Allreduce <= MPI_Reduce + MPI_Bcast",
        "MPI_Allgather <= MPI_Gather + MPI_Bcast",
    ]
    assert load_expectations("mafia").rules == ()


def test_a_file(tmp_path: Path) -> None:
    found = load_expectations(written(tmp_path, FULL))
    assert found.litmus == "walk"
    assert [str(rule) for rule in found.rules] == ["sort <= 2*walk"]
    walk, sort, other = (found.functions[name] for name in ("walk", "sort", "a name"))
    assert (str(walk.expectation.deviation), walk.space) == ("n^(1/4)", "paper")
    assert (str(sort.expectation.deviation), sort.space) == ("log(n)", "around")
    assert (other.expectation.growth.is_constant, other.expectation.parameter) == (True, "n")


RULERS = """
space = "ics15"
remove_ticks = ["p^2*log(p)"]
[expectations]
plain = "p"
own = { expectation = "p", ticks = ["log(p)", "1", "p^2"] }
moved = { expectation = "p", space = "paper", add_ticks = ["p^(5/8)"], remove_ticks = ["p^(1/4)"] }
[expectations.constant]
expectation = "1"
ticks = ["1", "log(n)", "n"]
"""


def test_rulers_moved_by_hand(tmp_path: Path) -> None:
    found = load_expectations(written(tmp_path, RULERS)).functions
    plain = found["plain"].search_spaces("p")[1]["p"]
    assert (plain.name, len(plain)) == ("ics15+", len(SearchSpace.preset("ics15")) - 1)
    expectation, spaces = found["own"].search_spaces("p")
    own = spaces["p"]
    assert (own.name, [str(tick) for tick in own.ticks]) == ("by hand", ["1", "log(p)", "p^2"])
    moved = found["moved"].search_spaces("p")[1]["p"]
    changed = {sk.Growth("p^(5/8)"), sk.Growth("p^(1/4)")}
    assert set(SearchSpace.paper(expectation).ticks) ^ set(moved.ticks) == changed
    assert [str(tick) for tick in found["constant"].search_spaces("n")[1]["n"].ticks] == ["1", "log(n)", "n"]


def test_a_ruler_moved_by_hand_is_what_is_tried(tmp_path: Path) -> None:
    data = sk.measurements([2, 4, 8, 16, 32], [3.0, 5.0, 9.0, 17.0, 33.0], name="own")
    verdict = sk.validate(data, written(tmp_path, RULERS))["own"]
    assert [str(tick) for tick in verdict.space.ticks] == ["1", "log(p)", "p", "p^2"]
    assert verdict.match == "total"


def test_ticks_in_a_mapping() -> None:
    found = expectation_set({"f": {"expectation": "n", "ticks": ("1", sk.Growth("n"))}}).functions["f"]
    assert len(found.search_spaces("n")[1]["n"]) == 2
    message = "'ticks' is 'n'; a list of growths is needed, as in ['1', 'log(p)', 'p']."
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        expectation_set({"f": {"expectation": "n", "ticks": "n"}})


def test_lines_of_functions(tmp_path: Path) -> None:
    assert load_expectations(written(tmp_path, RULERS)).lines == {"plain": 5, "own": 6, "moved": 7, "constant": 8}
    assert expectation_set({"f": "p"}).lines == {}


def test_variants_fall_back_to_their_function() -> None:
    found = expectation_set({"f": "p", "f[b]": "1"})
    assert found.of("f[a]") is found.functions["f"]
    assert found.of("f[b]") is found.functions["f[b]"]
    assert found.of("g") is None


def test_mappings() -> None:
    space = SearchSpace.preset("ics15")
    found = expectation_set({"f": sk.Expectation("p", "1"), "g": {"expectation": "p", "space": space}})
    assert found.functions["f"].expectation == sk.Expectation("p", "1")
    assert found.functions["g"].search_spaces("p")[1]["p"] is space
    assert expectation_set(found) is found


HEAD = "[expectations]\nf = 'p'\n"


@pytest.mark.parametrize(
    ("text", "line", "kind", "why"),
    [
        ("", 0, ExpectationError, "there is no [expectations] table with a function; add one, "
         "for example MPI_Barrier = 'log(p)'."),
        ("title = 'x'\n[expectations]\n", 2, ExpectationError, "there is no [expectations] table with a function; add one, "
         "for example MPI_Barrier = 'log(p)'."),
        ("# x\n\ndeviatoin = 'p'\n" + HEAD, 3, ExpectationError, "the file has the unknown key 'deviatoin'; did you mean "
         "'deviation'?"),
        ("zzz = 'p'\n" + HEAD, 1, ExpectationError, "the file has the unknown key 'zzz'; known are title, deviation, space, "
         "ticks, add_ticks, remove_ticks, litmus, rules, expectations."),
        ("expectations = 3", 1, ExpectationError, "'expectations' is 3; a table of functions is needed."),
        ("title = 3\n" + HEAD, 1, ExpectationError, "'title' is 3; text is needed."),
        ("deviation = 3\n" + HEAD, 1, ExpectationError, "'deviation' is 3; text, or a table from parameter to text, is needed."),
        ("\ndeviation = 'p^'\n" + HEAD, 2, ExpectationError, None),
        ("rules = 'A <= B'\n" + HEAD, 1, ExpectationError, "'rules' is 'A <= B'; a list of texts is needed."),
        ("rules = [\n'A <= B',\n'A < B']\n" + HEAD, 3, RuleError, "cannot read the rule 'A < B': '< B' is not part of a "
         "rule. Write it as 'A <= B + 2*C', with names that hold blanks in double quotes."),
        ("rules = [3]\n" + HEAD, 1, RuleError, "a rule must be text, got 3. "
         "Write it as 'A <= B + 2*C', with names that hold blanks in double quotes."),
        ("litmus = ['f']\n" + HEAD, 1, ExpectationError, "'litmus' is ['f']; the name of a function is needed."),
        ("space = 'papr'\n" + HEAD, 1, ExpectationError, "the search space 'papr' is unknown; "
         "choose one of around, paper, ics15."),
        ("space = 1\n" + HEAD, 1, ExpectationError, "'space' is 1; text is needed."),
        (HEAD + "g = { expectation = 'p', space = 'papr' }", 3, ExpectationError, "the search space 'papr' is unknown; "
         "choose one of around, paper, ics15."),
        (HEAD + "[expectations.g]\nexpectatoin = 'p'", 4, ExpectationError, "'g' has the unknown key 'expectatoin'; "
         "did you mean 'expectation'?"),
        ("[expectations]\nf = {}", 2, ExpectationError, "'f' has no key 'expectation'; add one, "
         "for example expectation = 'log(p)'."),
        ("[expectations]\nf = true", 2, ExpectationError, "the expectation of 'f' is True; write it as text, "
         "for example 'log(p)'."),
        ("[expectations]\nf = ['p']", 2, ExpectationError, "the expectation of 'f' is ['p']; write it as text, "
         "for example 'log(p)'."),
        (HEAD + "\n\ng = 'p^p'", 5, ExpectationError, "function 'g': cannot classify 'p^p': a parameter to the power of "
         "a parameter outgrows every 2^(c*x). Write the expectation as a product of powers of log(p), p and 2^p, "
         "for example 'p^2*log(p)'."),
        (HEAD + "[expectations.g]\nexpectation = 'p'\ndeviation = 'n'", 5, ExpectationError, "function 'g': deviation 'n' "
         "depends on n, the expectation 'p' on 'p'; write the deviation in terms of p."),
        ("deviation = 'n'\n" + HEAD, 3, ExpectationError, "function 'f': deviation 'n' "
         "depends on n, the expectation 'p' on 'p'; write the deviation in terms of p."),
        ("[expectations]\nf = 2026-11-21", 2, ExpectationError, "function 'f': an expectation must be text, a number, a sympy "
         "expression or a Growth, got date. Write the expectation as a product of powers of log(p), p and 2^p, "
         "for example 'p^2*log(p)'."),
        ("ticks = 'p'\n" + HEAD, 1, ExpectationError, "'ticks' is 'p'; a list of growths is needed, as in "
         "['1', 'log(p)', 'p']."),
        ("ticks = []\n" + HEAD, 1, ExpectationError, "'ticks' is empty; list the growths to try, or leave it out."),
        ("space = 'paper'\nticks = ['p']\n" + HEAD, 2, ExpectationError, "'space' and 'ticks' both say which growths to try; "
         "give one, or use 'add_ticks'."),
        ("add_ticks = [\n 'p',\n 'p^p']\n" + HEAD, 3, ExpectationError, None),
        ("add_ticks = [3]\n" + HEAD, 1, ExpectationError, "the tick 3 is no growth; write it as text, for example 'p^(1/2)'."),
        ("add_ticks = ['n*p']\n" + HEAD, 1, ExpectationError, "the tick 'n*p' depends on several parameters; write ticks in "
         "terms of one."),
        ("[expectations]\nf = { expectation = 'p', remove_ticks = ['p^5'] }", 2, ExpectationError, None),
        ("ticks = ['n']\n" + HEAD, 3, ExpectationError, "function 'f': the tick 'n' is in terms of 'n', the expectation in "
         "terms of 'p'; write it in terms of p."),
    ],
)  # fmt: skip
def test_wrong_entries(tmp_path: Path, text: str, line: int, kind: type[Exception], why: str | None) -> None:
    path = written(tmp_path, text)
    where = f"{path}, line {line}: " if line else f"{path}: "
    with pytest.raises(kind, match=f"^{re.escape(where)}" + (f"{re.escape(why)}$" if why else "")):
        load_expectations(path)


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("[expectations]\nf = p\n", "line 2, column 5", "invalid value"),
        ("[expectations]\nf = 'p'\nf = 'p'\n", "line 3, column 8", "cannot overwrite a value"),
        ("[expectations]\nf = ['p'", "end of document", None),
    ],
)
def test_broken_toml_names_the_line(tmp_path: Path, text: str, place: str, reason: str | None) -> None:
    path = written(tmp_path, text)
    message = f"{path}, {place}: this is not valid TOML: "
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}{reason or '.+'}\\.$"):
        load_expectations(path)


def test_toml_far_too_deep(tmp_path: Path) -> None:
    path = written(tmp_path, "a = " + "[" * 5000)
    with pytest.raises(ExpectationError, match=rf"^{re.escape(str(path))}: this is not valid TOML: .*\.$"):
        load_expectations(path)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("nowhere.toml", "No such file or directory"), (".", "Is a directory"), ("a\0b", "it is not a text file in UTF-8")],
)
def test_unreadable_files(name: str, reason: str) -> None:
    message = f"cannot read the expectations {name!r}: {reason}. Give a TOML file or one of mpi, mpi-all, mafia."
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        load_expectations(name)


def test_files_that_are_not_text(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(b"\xff\xfe\x00")
    message = (
        f"cannot read the expectations {str(path)!r}: it is not a text file in UTF-8. "
        "Give a TOML file or one of mpi, mpi-all, mafia."
    )
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        load_expectations(path)


def test_other_types() -> None:
    message = (
        "the expectations cannot be ['p']; give a growth such as 'log(p)', a mapping from function to growth, a TOML file or "
        "one of mpi, mpi-all, mafia."
    )
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        expectation_set(["p"])


def test_a_space_in_another_parameter() -> None:
    entry = expectation_set({"f": {"expectation": "n", "space": SearchSpace.preset("ics15")}}).functions["f"]
    message = "the search space 'ics15' is in terms of 'p', the data in terms of 'n'; make it from an expectation in n."
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        entry.search_spaces("n")
