"""Arguments, plan, budgets, and the TOML that keeps them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalkit.bench.arguments import GROUPS, Arguments, choose, operations
from scalkit.bench.campaign.folder import MEMORY_RUNS, Launch, make_plan, share
from scalkit.bench.campaign.loop import time_limit
from scalkit.bench.campaign.refinement import Refinement
from scalkit.errors import BuildError, UsageError
from scalkit.judge import load_expectations
from scalkit.judge.names import function_in
from scalkit.support.native import sources
from scalkit.support.toml.writer import to_toml

BOTH = ("collectives", "memory")


def _arguments(**changes: Any) -> Arguments:
    return Arguments(**{"kinds": BOTH, "counts": (2, 4, 8), "runs": 10, "seed": 1, **changes})


def test_plan_has_every_launch_once_run_after_run() -> None:
    plan = make_plan(_arguments())
    assert len(set(plan)) == len(plan) == 3 * 10 + 3 * MEMORY_RUNS
    assert [launch.run for launch in plan] == sorted(launch.run for launch in plan)
    assert plan == make_plan(_arguments())
    assert plan != make_plan(_arguments(seed=2))
    assert Launch("memory", 8, 3).name == "memory-p0008-r03"
    assert Launch("collectives", 32, 0).name == "time-p0032-r00"


def test_budget_is_shared_by_weight_and_what_is_saved_goes_on() -> None:
    plan = make_plan(_arguments(kinds=("collectives",), runs=1))
    shares = {launch.p: share(launch, plan, 100.0) + launch.start_s for launch in plan}
    assert sum(shares.values()) == pytest.approx(100.0)
    assert shares[8] > shares[4] > shares[2]
    assert share(plan[-1], plan[-1:], 50.0) == pytest.approx(50.0 - plan[-1].start_s)
    assert share(plan[0], plan, 0.0) == 1.0
    assert share(Launch("memory", 32, 0), plan, 0.0) == 21.0
    assert share(plan[0], plan, None) == 600.0


def test_time_limit() -> None:
    assert time_limit(Launch("memory", 2, 0), 10.0, None) > 30.0
    assert time_limit(Launch("memory", 2, 0), 10.0, 5.0) == 5.0


def test_arguments_survive_the_file() -> None:
    own = _arguments(
        budget_s=12.5, ops=("MPI_Bcast",), standard_error=0.02, cut_quartiles=(1, 4), refine=Refinement("processes", 0.2)
    )
    assert own.differing(tomllib.loads(to_toml(own.as_table()))) == []
    other = tomllib.loads(to_toml(_arguments(runs=3, standard_error=0.02, cut_quartiles=(1, 4), refine=own.refine).as_table()))
    assert own.differing(other) == ["budget_s", "ops", "runs"]
    assert _arguments(min_reps=5, per_process=True).differing(_arguments().as_table()) == ["min_reps", "per_process"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kinds": ("times",)}, "what to measure: 'times' is unknown; choose from collectives, memory."),
        ({"kinds": ()}, "what to measure: nothing is named; name each once, from collectives, memory."),
        ({"kinds": ("memory", "memory")}, "what to measure: memory, memory is named; name each once, from collectives, memory."),
        ({"datatype": "char"}, "--datatype: 'char' is unknown; choose from byte, int, double."),
        ({"sync": "barrier"}, "sync: 'barrier' is unknown; choose from round, window, dissemination."),
        ({"counts": ()}, "-n nothing: whole numbers from 2 to 9999 are needed."),
        ({"counts": (1, 2)}, "-n 1,2: whole numbers from 2 to 9999 are needed."),
        ({"counts": (4, 2)}, "-n 4,2: name each number once, ascending."),
        ({"runs": 0}, "--runs 0: a whole number from 1 to 99 is needed."),
        ({"max_reps": 4}, "--max-reps 4: a whole number from 5 to 1000000 is needed."),
        ({"min_reps": 1}, "--min-reps 1: a whole number from 2 to 1000000 is needed."),
        ({"max_reps": 10}, "--min-reps 20 is greater than --max-reps 10; lower the first or raise the second."),
        ({"standard_error": 1.5}, "--standard-error 1.5: a share of the mean between 0 and 1 is needed, such as 0.02 for 2 %."),
        ({"cut_quartiles": (2,)}, "quartiles to cut: 2 is not possible; choose 1,4 or 4 or 1 or 3,4 or 1,2, or none."),
        (
            {"counts": (2, 4), "refine": Refinement("processes")},
            "-n 2,4: refinement of processes needs a first pass of at least 3 of them.",
        ),
        ({"seed": -1}, "--seed -1: a whole number from 0 to 9223372036854775807 is needed."),
        ({"size": 6, "datatype": "int"}, "--size 6 --datatype int: a positive multiple of 4 B is needed."),
        ({"size": 0}, "--size is 0; a positive whole number is needed."),
        ({"size": 99999999999}, "--size 99999999999: at most 1073741824 B (1 GiB) are possible."),
        ({"budget_s": 0.0}, "--budget is 0.0; a positive number is needed."),
        ({"budget_s": float("nan")}, "--budget is nan; a positive number is needed."),
    ],
)
def test_wrong_arguments(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        _arguments(**changes)


def test_operations_come_from_the_tables_of_the_sources() -> None:
    tree = sources("microbench")
    assert "MPI_Allreduce" in operations(tree, "collectives")
    assert operations(tree, "memory")[0] == "MPI_memory"
    assert choose(tree, BOTH, ("MPI_Comm_dup", "MPI_Bcast")) == {"collectives": ("MPI_Bcast",), "memory": ("MPI_Comm_dup",)}
    assert "MPI_Dist_graph_create_adjacent" in operations(tree, "memory")


def test_groups_stand_for_operations() -> None:
    tree = sources("microbench")
    usual = choose(tree, BOTH, ())
    assert usual == choose(tree, BOTH, ("paper",))
    assert [len(names) for names in usual.values()] == [8, 5]
    assert choose(tree, BOTH, ("all",)) == {kind: operations(tree, kind) for kind in BOTH}
    wanted = ("point-to-point", "MPI_Bcast", "overlap")
    assert choose(tree, ("collectives",), wanted)["collectives"] == (
        "MPI_Bcast",
        *(f"{name}[overlap]" for name in operations(tree, "collectives", "nonblocking")),
        "Ping_pong",
    )
    assert choose(tree, BOTH, ("further",)) == {kind: operations(tree, kind, "further") for kind in BOTH}
    made = {name.removeprefix("MPI_") for name in operations(tree, "memory", "paper")} - {"memory"}
    timed = {*operations(tree, "memory", "further"), *(f"{name}_and_free" for name in made)}
    assert set(operations(tree, "collectives", "further")) == timed


def test_the_larger_catalogue_expects_all_that_can_be_measured() -> None:
    expected, case_study = load_expectations("mpi-all"), load_expectations("mpi")
    names = {name.split("[")[0] for kind in BOTH for name in operations(sources("microbench"), kind)}
    assert {function_in(name).split("[")[0] for name in expected.functions} == names
    assert str(expected.of("MPI_Put[fence]", "time").expectation) == "O(log(p))", "all take part in a fence"
    assert str(expected.of("MPI_Put[flush]", "time").expectation) == "O(1)"
    assert str(expected.of("Comm_dup_and_free", "time").expectation) == "O(log(p))", "a time, no bytes"
    for kind, metric in (("collectives", "time"), ("memory", "object_memory")):
        for name in operations(sources("microbench"), kind, "further"):
            assert expected.of(name, metric) is not None
    assert {name: expected.functions[name] for name in case_study.functions} == case_study.functions
    assert set(map(str, case_study.rules)) <= set(map(str, expected.rules))


def test_unknown_operation_suggests_a_near_one() -> None:
    tree = sources("microbench")
    known = ", ".join([*operations(tree, "memory"), *GROUPS])
    message = f"--ops: 'MPI_Com_dup' cannot be measured by memory (did you mean 'MPI_Comm_dup'?); known are {known}."
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        choose(tree, ("memory",), ("MPI_Com_dup",))


def test_kind_without_operations() -> None:
    tree = sources("microbench")
    message = "--ops names nothing for 'memory'; leave out 'memory', or add one of MPI_memory, "
    with pytest.raises(UsageError, match=f"^{re.escape(message)}"):
        choose(tree, BOTH, ("MPI_Bcast",))


def test_sources_without_tables(tmp_path: Path) -> None:
    path = tmp_path / "catalogue/ops.def"
    message = f"cannot read {path}: No such file or directory; install scalkit again."
    with pytest.raises(BuildError, match=f"^{re.escape(message)}$"):
        operations(tmp_path, "collectives")
    path.parent.mkdir()
    path.write_text("/* empty */\n")
    with pytest.raises(BuildError, match=f"^{re.escape(f'{path} lists no operations; install scalkit again.')}$"):
        operations(tmp_path, "collectives")


SCALARS = (
    st.text(st.characters(exclude_categories=["Cs"])) | st.integers(-(2**60), 2**60) | st.booleans() | st.floats(allow_nan=False)
)
INSIDE = SCALARS | st.dictionaries(st.text(max_size=4), SCALARS, max_size=2)
TABLES = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), SCALARS | st.lists(INSIDE, max_size=9), max_size=5)


@given(TABLES, st.dictionaries(st.text('ab." \n\\', max_size=4), TABLES, max_size=3))
def test_toml_is_read_back_as_it_was(flat: dict[str, Any], nested: dict[str, Any]) -> None:
    content = {**flat, **nested}
    assert tomllib.loads(to_toml(content)) == content


def test_what_toml_cannot_hold() -> None:
    message = "'x' is None, which TOML cannot hold; text, numbers, booleans, lists and tables of them are possible."
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        to_toml({"x": [None]})
