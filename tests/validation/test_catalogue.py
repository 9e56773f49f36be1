"""Sets of expectations: the bundled ones, TOML files, mappings, and precise errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import scalkit as sk
from scalkit.errors import ExpectationError, RuleError
from scalkit.validation import SearchSpace, load_expectations
from scalkit.validation.catalogue import expectation_set

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


def test_variants_fall_back_to_their_function() -> None:
    found = expectation_set({"f": "p", "f[b]": "1"})
    assert found.of("f[a]") is found.functions["f"]
    assert found.of("f[b]") is found.functions["f[b]"]
    assert found.of("g") is None


def test_mappings() -> None:
    space = SearchSpace.preset("ics15")
    found = expectation_set({"f": sk.Expectation("p", "1"), "g": {"expectation": "p", "space": space}})
    assert found.functions["f"].expectation == sk.Expectation("p", "1")
    assert found.functions["g"].search_space("p")[1] is space
    assert expectation_set(found) is found


HEAD = "[expectations]\nf = 'p'\n"


@pytest.mark.parametrize(
    ("text", "kind", "why"),
    [
        ("", ExpectationError, "there is no [expectations] table with a function; add one, "
         "for example MPI_Barrier = 'log(p)'."),
        ("deviatoin = 'p'\n" + HEAD, ExpectationError, "the file has the unknown key 'deviatoin'; did you mean 'deviation'?"),
        ("zzz = 'p'\n" + HEAD, ExpectationError, "the file has the unknown key 'zzz'; known are title, deviation, space, "
         "litmus, rules, expectations."),
        ("expectations = 3", ExpectationError, "'expectations' is 3; a table of functions is needed."),
        ("deviation = 3\n" + HEAD, ExpectationError, "'deviation' is 3; text is needed."),
        ("rules = 'A <= B'\n" + HEAD, ExpectationError, "'rules' is 'A <= B'; a list of texts is needed."),
        ("rules = ['A < B']\n" + HEAD, RuleError, "cannot read the rule 'A < B': '< B' is not part of a rule. "
         "Write it as 'A <= B + 2*C', with names that hold blanks in double quotes."),
        ("rules = [3]\n" + HEAD, RuleError, "a rule must be text, got 3. "
         "Write it as 'A <= B + 2*C', with names that hold blanks in double quotes."),
        ("litmus = ['f']\n" + HEAD, ExpectationError, "'litmus' is ['f']; the name of a function is needed."),
        ("space = 'papr'\n" + HEAD, ExpectationError, "the search space 'papr' is unknown; "
         "choose one of around, paper, ics15."),
        ("[expectations]\nf = {expectatoin = 'p'}", ExpectationError, "'f' has the unknown key 'expectatoin'; "
         "did you mean 'expectation'?"),
        ("[expectations]\nf = {}", ExpectationError, "'f' has no key 'expectation'; add one, "
         "for example expectation = 'log(p)'."),
        ("[expectations]\nf = true", ExpectationError, "the expectation of 'f' is True; write it as text, "
         "for example 'log(p)'."),
        ("[expectations]\nf = ['p']", ExpectationError, "the expectation of 'f' is ['p']; write it as text, "
         "for example 'log(p)'."),
        ("[expectations]\nf = 'p^p'", ExpectationError, "function 'f': cannot classify 'p^p': a parameter to the power of "
         "a parameter outgrows every 2^(c*x). Write the expectation as a product of powers of log(p), p and 2^p, "
         "for example 'p^2*log(p)'."),
        ("[expectations]\nf = 2026-11-21", ExpectationError, "function 'f': an expectation must be text, a number, a sympy "
         "expression or a Growth, got date. Write the expectation as a product of powers of log(p), p and 2^p, "
         "for example 'p^2*log(p)'."),
    ],
)  # fmt: skip
def test_wrong_entries(tmp_path: Path, text: str, kind: type[Exception], why: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(kind, match=f"^{re.escape(f'{path}: {why}')}$"):
        load_expectations(path)


def test_broken_toml_names_the_line(tmp_path: Path) -> None:
    path = written(tmp_path, "[expectations]\nf = p\n")
    with pytest.raises(
        ExpectationError, match=rf"^{re.escape(str(path))} is not valid TOML: .*\(at line 2, column 5\)\.$"
    ):
        load_expectations(path)
    deep = written(tmp_path, "a = " + "[" * 5000)
    with pytest.raises(ExpectationError, match=rf"^{re.escape(str(deep))} is not valid TOML: .*\.$"):
        load_expectations(deep)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nowhere.toml", "No such file or directory"),
        (".", "Is a directory"),
        ("a\0b", "it is not a text file in UTF-8"),
    ],
)
def test_unreadable_files(name: str, reason: str) -> None:
    message = f"cannot read the expectations {name!r}: {reason}. Give a TOML file or one of mpi, mafia."
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        load_expectations(name)


def test_files_that_are_not_text(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(b"\xff\xfe\x00")
    message = (
        f"cannot read the expectations {str(path)!r}: it is not a text file in UTF-8. "
        "Give a TOML file or one of mpi, mafia."
    )
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        load_expectations(path)


def test_other_types() -> None:
    message = "expectations must be a mapping from function to text, a TOML file or one of mpi, mafia; got list."
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        expectation_set(["p"])


def test_a_space_in_another_parameter() -> None:
    entry = expectation_set({"f": {"expectation": "n", "space": SearchSpace.preset("ics15")}}).functions["f"]
    message = "the search space 'ics15' is in terms of 'p', the data in terms of 'n'; make it from an expectation in n."
    with pytest.raises(ExpectationError, match=f"^{re.escape(message)}$"):
        entry.search_space("n")
