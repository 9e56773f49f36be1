"""Guidelines as text and in files: round trips, what the bundled ones say, and one message for each mistake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalkit.bench.arguments import operations
from scalkit.bench.patterns.neighbourhood import operations_of_neighbourhoods
from scalkit.errors import RuleError
from scalkit.growth.relation import Relation
from scalkit.guidelines import Guideline, guidelines
from scalkit.guidelines.guideline import CATALOGUES, load_guidelines, plain_level
from scalkit.support.native import sources

EXAMPLE = "Write it as 'A <= B + 2*C' or 'A ~ B', with names that hold blanks in double quotes."
NAMES = st.one_of(
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_.:]{0,8}(\[[a-z0-9]{1,5}\])?", fullmatch=True),
    st.text("ab <=~+*(),max7é", min_size=1, max_size=8),
    st.sampled_from(["max", "0", "17"]),
)
TERMS = st.lists(st.tuples(st.floats(1e-6, 1e6), NAMES), min_size=1, max_size=3).map(tuple)
SIDES = st.lists(TERMS, min_size=1, max_size=3).map(tuple)


@given(SIDES, SIDES, st.sampled_from(["<=", "~"]), st.sampled_from(["operation", "order"]))
def test_text_parses_back(left, right, relation, parameter) -> None:
    one = Guideline(left, right, relation, parameter)
    assert Guideline.parse(str(one)) == one


@pytest.mark.parametrize("text", ["A <= B", "A + 2*B <= 0.5*C[x]", 'A <= "my function"'])
def test_relations_are_guidelines_too(text: str) -> None:
    relation, one = Relation.parse(text), Guideline.parse(text)
    assert (one.left, one.right) == ((relation.left,), (relation.right,))
    assert str(one) == str(relation)


def test_parse() -> None:
    one = Guideline.parse("MPI_Ineighbor_alltoall <= max(MPI_Neighbor_alltoall + 2*a, work)")
    assert one.right == (((1.0, "MPI_Neighbor_alltoall"), (2.0, "a")), ((1.0, "work"),))
    assert one.levels == ("MPI_Ineighbor_alltoall", "MPI_Neighbor_alltoall", "a", "work")
    order = Guideline.parse("reorder=1 <= reorder=0", name="GL12")
    assert (order.parameter, order.family, str(order)) == ("reorder", "GL12", "reorder=1 <= reorder=0")
    assert Guideline.parse("a ~ b").family == "a ~ b"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "a name is missing"),
        ("A <=", "a name is missing"),
        ("A", "'<=' or '~' is missing"),
        ("A <= B ~ C", "'~' is left over"),
        ("A B ~ C", "'<=' or '~' is missing"),
        ("A <= max(B, C", "')' is missing"),
        ("A <= max(B,)", "')' stands where a name is expected"),
        ("A <= 0*B", "a factor must be positive and finite"),
        ("A <= 3", "'3' stands where a name is expected"),
        ("A < B", "'< B' is not part of a guideline"),
        ("A >= B", "'>= B' is not part of a guideline"),
        ("order=a <= kind=b", "it names 'order' and 'kind', but compares levels of one parameter"),
        ("order=a <= b", "it names 'order' and a level without one, but compares levels of one parameter"),
    ],
)
def test_texts_that_are_none(text: str, why: str) -> None:
    with pytest.raises(RuleError) as error:
        Guideline.parse(text)
    assert str(error.value) == f"cannot read the guideline '{text}': {why}. {EXAMPLE}"


def test_other_texts_that_are_none() -> None:
    with pytest.raises(RuleError, match=r"a guideline must be text, got 3\."):
        Guideline.parse(3)
    with pytest.raises(RuleError, match=r"the guideline 'a\+a\+.*' has 2001 characters; at most 1000 are allowed"):
        Guideline.parse("a+" * 1000 + "a")
    with pytest.raises(RuleError, match=r"compares levels of 'order', its parameter is 'size'"):
        Guideline.parse("order=a <= order=b", "size")
    with pytest.raises(RuleError, match=r"the kind of guideline 'more' is unknown; choose from levels, monotony, split"):
        Guideline(kind="more")


def test_levels_compare_as_people_mean_them() -> None:
    assert {plain_level(one) for one in (1, 1.0, True, "1")} == {"1"}
    assert plain_level("FMAJ") == plain_level("fmaj")
    assert plain_level(0.5) == "0.5"
    assert plain_level(float("nan")) == "nan"


def test_bundled_guidelines() -> None:
    new = load_guidelines("neighbourhood")
    assert list(dict.fromkeys(one.name for one in new)) == [f"GL{n}" for n in range(1, 13)]
    assert {one.name: one.metarule for one in new if one.metarule} == {
        "GL1": 3, "GL2": 2, "GL5": 3, "GL6": 3, "GL7": 3, "GL8": 3, "GL9": 2,
    }  # fmt: skip
    assert {one.name for one in new if one.relation == "~"} == {"GL10", "GL11"}
    assert {one.name: one.parameter for one in new if one.parameter != "operation"} == {
        "GL3": "reorder", "GL9": "topology", "GL10": "constructor", "GL11": "order", "GL12": "reorder",
    }  # fmt: skip
    classic = {str(one) for one in load_guidelines("classic")}
    for text in (
        "MPI_Allreduce <= MPI_Reduce + MPI_Bcast",
        "MPI_Allgather <= MPI_Gather + MPI_Bcast",
        "MPI_Gather <= MPI_Allgather",
        "MPI_Allgather <= MPI_Alltoall",
        "MPI_Scatter <= MPI_Bcast",
        "MPI_Reduce <= MPI_Allreduce",
        "MPI_Allreduce <= MPI_Reduce_scatter_block + MPI_Allgather",
        "MPI_Reduce <= MPI_Reduce_scatter_block + MPI_Gather",
        "MPI_Reduce_scatter_block <= MPI_Reduce + MPI_Scatter",
        "MPI_Scan <= MPI_Exscan + MPI_Reduce_local",
        "MPI_Bcast <= MPI_Scatter + MPI_Allgather",
        "MPI_Allgather <= MPI_Allreduce",
        "MPI_Gather <= MPI_Reduce",
        "MPI_Reduce_scatter_block <= MPI_Allreduce",
        "MPI_Alltoall <= MPI_Alltoallv",
        "MPI_Bcast <= Bcast_allgatherv",
        "MPI_Ineighbor_alltoallw <= MPI_Neighbor_alltoallw",
        "MPI_Ineighbor_allgather <= max(MPI_Neighbor_allgather, work)",
        "size <= the next larger size",
        "size <= a smaller size, as often as it takes",
    ):
        assert text in classic
    assert all(one.meaning.endswith(".") for one in guidelines(CATALOGUES))


def test_what_bundled_guidelines_compare_can_be_measured() -> None:
    compared = {level for one in guidelines(CATALOGUES) if one.parameter == "operation" for level in one.levels}
    measured = {*operations(sources("microbench"), "collectives"), *operations_of_neighbourhoods()}
    assert compared - measured == set()


def test_sources() -> None:
    one = Guideline.parse("a <= b")
    assert guidelines(one) == (one,)
    assert guidelines("a <= b") == (one,)
    mixed = guidelines(["a ~ b", one, "neighbourhood"])
    assert [str(mixed[0]), mixed[1]] == ["a ~ b", one]
    assert len(mixed) == 2 + len(load_guidelines("neighbourhood"))


FILE = """\
title = "mine"

[[guidelines]]
name = "bcast"
relations = ["my_bcast <= my_scatter + my_allgather", "my_bcast ~ MPI_Bcast"]
where = { p = [64, 128], fast = [true] }
apart_from = ["buffers"]
meaning = "A broadcast is not slower than its parts."

[[guidelines]]
name = "pages"
relations = ["huge <= small"]
parameter = "pages"

[[guidelines]]
name = "more"
kind = "monotony"
"""


def test_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(FILE)
    parts, similar, pages, more = load_guidelines(file)
    assert str(parts) == "my_bcast <= my_scatter + my_allgather"
    assert (similar.relation, similar.name, similar.apart_from) == ("~", "bcast", ("buffers",))
    assert dict(similar.where) == {"p": ("64", "128"), "fast": ("1",)}
    assert similar.holds_for("p", 64)
    assert not similar.holds_for("p", 32)
    assert str(pages) == "pages=huge <= pages=small"
    assert (more.kind, more.parameter) == ("monotony", "size")


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('title = "mine"', "title = mine", ", line 1, column 9: this is not valid TOML: invalid value."),
        ('name = "bcast"\n', "", ", line 3: there is no 'name'; give each guideline a name of up to 80 characters"),
        ('name = "bcast"', "name = 3", ", line 4: guidelines[0].name is 3; give each guideline a name"),
        ("apart_from", "apart_form", "line 7: \"apart_form\" is unknown (did you mean 'apart_from'?); known are apart_from"),
        ('kind = "monotony"', 'kind = "monotone"', "line 17: guidelines[2].kind is \"monotone\" (did you mean 'monotony'?)"),
        ('"my_bcast ~ MPI', '"my_bcast = MPI', "line 5: cannot read the guideline 'my_bcast = MPI_Bcast': '<=' or '~'"),
        ('relations = ["huge <= small"]\n', "", "line 10: 'pages' has no relations; add them, as in relations = ["),
        ('kind = "monotony"', 'kind = "split"\nrelations = ["a <= b"]', "line 18: 'more' is of kind split, which has no"),
        ("{ p = [64, 128],", "{ p = 64,", 'line 6: guidelines[0].where.p is 64; list the levels, as in ["full"].'),
        ('["huge <= small"]', '["order=a <= order=b"]', "line 12: the guideline 'order=a <= order=b' compares levels of 'order'"),
    ],
)
def test_wrong_files(tmp_path: Path, old: str, new: str, text: str) -> None:
    assert old in FILE
    file = tmp_path / "mine.toml"
    file.write_text(FILE.replace(old, new, 1))
    with pytest.raises(RuleError, match=re.escape(text)) as error:
        load_guidelines(file)
    assert str(error.value).startswith(str(file))


def test_sources_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match=r"cannot read the guidelines 'none': No such file or directory\. Give a TOML file"):
        guidelines("none")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RuleError, match="it is not a text file in UTF-8"):
        guidelines(tmp_path / "binary")
    (tmp_path / "long.toml").write_text("# " + "x" * 1_000_000)
    with pytest.raises(RuleError, match=r"long\.toml is larger than 1000000 bytes; split it into several files"):
        guidelines(tmp_path / "long.toml")
    with pytest.raises(RuleError, match="there is no guideline; give texts, a TOML file, or one of neighbourhood, classic"):
        guidelines([])
    with pytest.raises(RuleError, match="guidelines cannot come from dict; give texts, a TOML file"):
        guidelines({"a": "b"})
