"""Experiments on neighbourhoods: designs, tables, campaigns with real ranks; lists and grids of the C program."""

from __future__ import annotations

import csv
import ctypes
import io
import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from neighbourhoods import ORDERS, Neighbourhood, balanced_dims

from lessons.campaigns import neighbourhood_design
from scalkit.bench import Arguments, prepare
from scalkit.bench.campaign.file import read_campaign
from scalkit.bench.patterns.neighbourhood import experiments, operations_of_neighbourhoods, table_text
from scalkit.cli import main
from scalkit.errors import LaunchError, UsageError
from scalkit.formats.experiments import read_experiments

KERNEL = Path(__file__).resolve().parents[2] / "microbench"
NBHCOLL = KERNEL / "examples" / "nbhcoll.toml"
SMALL = {
    "operation": ["MPI_Neighbor_allgather", "MPI_Cart_create", "MPI_Ineighbor_alltoall"],
    "size": 8,
    "work": 10,
    "topology": ["cart", "moore"],
    "n_dim": 2,
    "n_finite": [0, "all"],
    "radius": 1,
    "order": ["fmaj", "rand"],
    "repetitions": 3,
}


# ---- designs ---------------------------------------------------------------------------------------------------------


def factors(text: str) -> dict[str, list[str]]:
    """Return the values of each factor in a text such as ``operation=work; work=1,2``."""
    parts = (part.split("=") for part in text.split("; "))
    return {name: values.split(",") for name, values in parts}


def test_campaign_of_the_paper_is_one_file_with_its_3360_experiments():
    (variant,) = read_campaign(NBHCOLL).variants
    rows = experiments(variant.arguments.experiments, variant.arguments.counts)
    columns = ["operation", "size", "n_dim", "n_finite", "topology", "radius", "order", "reorder"]
    paper = neighbourhood_design(p=160)
    wanted = {tuple("" if pd.isna(value) else str(value) for value in row) for row in paper[columns].to_numpy()}
    assert len(rows) == len(wanted) == 3360
    assert {tuple(row.get(name, "") for name in columns) for row in rows} == wanted
    assert {row["repetitions"] for row in rows} == {"50"}
    assert variant.arguments.runs == 30


def test_experiments_have_only_what_their_operation_and_topology_have():
    rows = experiments([SMALL])
    by = Counter((row["operation"], row["topology"]) for row in rows)
    assert by == {
        ("MPI_Neighbor_allgather", "cart"): 2,
        ("MPI_Neighbor_allgather", "moore"): 4,
        ("MPI_Cart_create", "cart"): 2,
        ("MPI_Ineighbor_alltoall", "cart"): 2,
        ("MPI_Ineighbor_alltoall", "moore"): 4,
    }
    assert all(("work" in row) == row["operation"].startswith("MPI_Ineighbor") for row in rows)
    assert all(("size" in row) == (row["operation"] != "MPI_Cart_create") for row in rows)
    assert all({"order", "radius"} <= {*row} for row in rows if row["topology"] == "moore")
    assert not any({"order", "radius"} & {*row} for row in rows if row["topology"] == "cart")


def test_finite_dimensions_follow_the_number_of_dimensions():
    texts = [factors("operation=MPI_Cart_create; topology=cart; n_dim=1,3; n_finite=each")]
    assert [(r["n_dim"], r["n_finite"]) for r in experiments(texts)] == [(n, k) for n in "13" for k in "0123"[: int(n) + 1]]
    texts = [factors("operation=MPI_Cart_create; topology=cart; n_dim=1,3; n_finite=2,all")]
    assert [(r["n_dim"], r["n_finite"]) for r in experiments(texts)] == [("1", "1"), ("3", "2"), ("3", "3")]


def test_global_collectives_and_work_need_no_topology():
    rows = experiments([factors("operation=MPI_Alltoall,work; size=8; work=5; order=rand; topology=full")])
    assert rows == ({"operation": "MPI_Alltoall", "size": "8", "topology": "full"}, {"operation": "work", "work": "5"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("operation=MPI_Neighbour_alltoall", "the operation 'MPI_Neighbour_alltoall' is unknown (did you mean 'MPI_Neighbor"),
        ("size=8", "name no operation; add one"),
        ("operation=work; wrok=3", "'wrok' is no factor (did you mean 'work'?); factors are operation, "),
        ("operation=work; work=-1", "work is '-1'; a whole number from 0 on is needed"),
        ("operation=work; work=", "work is ''; a whole number"),
        ("operation=MPI_Neighbor_alltoall; size=8", "MPI_Neighbor_alltoall needs a topology; choose from cart, "),
        ("operation=MPI_Neighbor_alltoall; size=8; topology=ring", "the topology 'ring' is unknown; choose from cart"),
        ("operation=MPI_Neighbor_alltoall; size=8; topology=cart", "MPI_Neighbor_alltoall needs n_dim; name a value"),
        ("operation=MPI_Neighbor_alltoall; size=8; topology=moore; n_dim=2; radius=1; order=linear", "moore needs an order"),
        ("operation=MPI_Alltoall; size=6; datatype=int", "size 6 is no multiple of the 4 B of datatype 'int'"),
        ("operation=MPI_Cart_create; topology=moore; order=rand", "make no row that the others do not"),
        ("operation=work; work=1; p=3", "p is 3 in some rows, and processes are 2, 4; add it, or drop the rows"),
        ("operation=work; work=1; p=2", "no row is for 4 processes; add some, or leave 4 out of processes"),
    ],
)
def test_what_makes_no_experiment_is_said(text, message):
    with pytest.raises(UsageError) as caught:
        experiments([factors(text)], [2, 4])
    assert message in str(caught.value)


def test_every_launch_has_the_same_experiments_in_an_order_of_its_own():
    rows = experiments([SMALL, factors("operation=work; work=3; p=8")], [8])
    tables = [list(csv.DictReader(io.StringIO(table_text(rows, p, seed)))) for p, seed in ((8, 1), (8, 2), (8, 1), (4, 1))]
    numbers = [[int(row["experiment"]) for row in table] for table in tables]
    assert numbers[0] == numbers[2] != numbers[1]
    assert sorted(numbers[0]) == sorted(numbers[1]) == list(range(len(rows)))
    assert len(numbers[3]) == len(rows) - 1
    for row in tables[1]:
        own = rows[int(row["experiment"])]
        assert {name: value for name, value in row.items() if value and name != "experiment"} == own


# ---- campaign files --------------------------------------------------------------------------------------------------

HEAD = 'measure = ["neighbourhood"]\nprocesses = [2, 4]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'{HEAD}[[experiments]]\noperation = "MPI_Bcast"', "line 3: experiments: the operation 'MPI_Bcast' is unknown"),
        (f'{HEAD}[[experiments]]\noperation = "work"\nwrok = 3', 'line 5: "wrok" is unknown (did you mean'),
        (f'{HEAD}[[experiments]]\noperation = "work"\nwork = 1\np = 8', "line 3: experiments: p is 8 in some rows"),
        (HEAD, "line 1: experiments and 'neighbourhood' in measure go together"),
        (f'{HEAD}sizes = [8]\n[[experiments]]\noperation = "work"\nwork = 1', "line 3: sizes are those of collectives"),
        (
            f'{HEAD}platform = "juropa"\n[[experiments]]\noperation = "work"\nwork = 1',
            "line 1: neighbourhood cannot be simulated; leave it out of measure, or leave out platform.",
        ),
    ],
)
def test_what_is_wrong_in_a_campaign_file_is_named_with_its_line(tmp_path, text, message):
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        read_campaign(tmp_path / "mine.toml")
    assert message in str(caught.value)


def test_check_counts_the_experiments(capsys):
    assert main(["campaign", "run", "--check", str(NBHCOLL)]) == 0
    assert "3360 experiments on neighbourhoods\n" in capsys.readouterr().out
    assert main(["campaign", "run", "--check", "--json", str(NBHCOLL)]) == 0
    assert json.loads(capsys.readouterr().out)["experiments"] == 3360


# ---- campaigns -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.mpi
def test_campaign_is_measured_resumed_and_read(tmp_path, mpi):
    arguments = Arguments(("neighbourhood",), (2, 3), 2, 7, experiments=(SMALL,))
    result = prepare(tmp_path / "out", arguments, mpi).run()
    assert (result.done, result.total, result.failures, result.remarks) == (4, 4, (), ())
    assert not list((tmp_path / "out").glob("*.csv"))
    lost = tmp_path / "out" / "neighbourhood-p0003-r01.jsonl"
    kept = lost.read_bytes()
    lost.unlink()
    assert prepare(tmp_path / "out", arguments, mpi).run().fresh == 1
    again = [json.loads(line) for line in lost.read_bytes().splitlines()]
    earlier = [json.loads(line) for line in kept.splitlines()]
    assert [one.get("experiment") for one in again] == [one.get("experiment") for one in earlier]
    assert all(one["mpi_dims"] and one["dims"] == list(balanced_dims(3, 2)) for one in again if one["rec"] == "cell")
    table = read_experiments(tmp_path / "out")
    assert [len(times) for times in table["time"]] == [3] * 14 * 4
    assert sorted({*table["run"]}) == [0, 1]
    assert table.attrs["notes"] == []
    local = read_experiments(tmp_path / "out", value="local")
    assert (np.concatenate(local["time"]) <= np.concatenate(table["time"])).all()


@pytest.mark.mpi
def test_radius_larger_than_the_grid_ends_the_campaign_and_keeps_what_was_measured(tmp_path, mpi):
    texts = (factors("operation=MPI_Neighbor_alltoall; size=8; topology=moore; n_dim=1; radius=3; order=fmaj; repetitions=2"),)
    arguments = Arguments(("neighbourhood",), (2, 6), 3, 3, experiments=texts)
    with pytest.raises(LaunchError) as caught:
        prepare(tmp_path / "out", arguments, mpi).run()
    text = str(caught.value)
    assert "p0002-r0" in text
    assert "line 2: the radius 3 is larger than the grid of 2 processes in 1 dimensions, which has 2 in one" in text
    assert "what was measured before is kept" in text
    measured = list((tmp_path / "out").glob("*.jsonl"))
    assert all("p0006" in path.name for path in measured)


# ---- lists and grids of the C program --------------------------------------------------------------------------------

STUB = """
#include "base/check.h"
#include <stdlib.h>
_Noreturn void sk_assert_failed(const char *text, const char *file, int line) { (void)text; (void)file; (void)line; abort(); }
void sk_say(const char *format, ...) { (void)format; }
"""
TOPOLOGIES = ("cart", "vonneumann", "moore", "full")
LIST_ORDERS = ("fmaj", "lmaj", "rand", "linear")


class CNeighbourhood(ctypes.Structure):
    _fields_ = (
        ("topology", ctypes.c_int),
        ("n_dim", ctypes.c_int),
        ("n_finite", ctypes.c_int),
        ("dims", ctypes.c_int * 16),
        ("p", ctypes.c_int),
        ("radius", ctypes.c_int),
        ("order", ctypes.c_int),
        ("seed", ctypes.c_uint64),
    )


class CLists(ctypes.Structure):
    _fields_ = (
        ("n_out", ctypes.c_int),
        ("n_in", ctypes.c_int),
        ("destinations", ctypes.POINTER(ctypes.c_int)),
        ("sources", ctypes.POINTER(ctypes.c_int)),
    )


@pytest.fixture(scope="module")
def kernel(tmp_path_factory) -> ctypes.CDLL:
    """The lists of the C program as a library that Python calls."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    folder = tmp_path_factory.mktemp("kernel")
    (folder / "stub.c").write_text(STUB)
    parts = [KERNEL / f"{name}.c" for name in ("nbh/dims", "nbh/lists", "nbh/geometry", "base/alloc", "base/rng")]
    command = [compiler, "-std=c11", "-O2", "-shared", "-fPIC", f"-I{KERNEL}", "-o", str(folder / "k.so")]
    subprocess.run([*command, *map(str, parts), str(folder / "stub.c")], check=True)
    library = ctypes.CDLL(str(folder / "k.so"))
    library.sk_lists_new.restype = CLists
    library.sk_edges.restype = ctypes.c_int64
    return library


def test_grids_of_the_program_are_those_of_python(kernel):
    dims = (ctypes.c_int * 16)()
    for n in range(1, 7):
        for p in range(1, 4097):
            kernel.sk_balanced_dims(p, n, dims)
            assert tuple(dims[:n]) == balanced_dims(p, n)


def shapes():
    for kind in ("vonneumann", "moore"):
        for dims in ((5, 4), (3, 2, 2), (7,), (2, 1)):
            for n_finite in range(len(dims) + 1):
                rings = tuple(k >= n_finite for k in range(len(dims)))
                for radius in range(1, min(dims) + 1):
                    for order in ORDERS[kind]:
                        yield Neighbourhood(kind, dims, rings, radius, order, seed=11), n_finite
    for order in ORDERS["full"]:
        yield Neighbourhood("full", (6,), order=order, seed=2**63 + 5), 0


def test_lists_and_edges_of_the_program_are_those_of_python(kernel):
    for shape, n_finite in shapes():
        own = CNeighbourhood(p=shape.p, n_dim=len(shape.dims), n_finite=n_finite, radius=shape.radius, seed=shape.seed)
        own.topology, own.order = TOPOLOGIES.index(shape.kind), LIST_ORDERS.index(shape.order)
        own.dims[: len(shape.dims)] = shape.dims
        for rank in range(shape.p):
            found = kernel.sk_lists_new(ctypes.byref(own), rank, kernel.sk_rank_in_grid, ctypes.byref(own))
            assert tuple(found.destinations[: found.n_out]) == shape.destinations(rank), (shape, rank)
            assert tuple(found.sources[: found.n_in]) == shape.sources(rank), (shape, rank)
            kernel.sk_lists_free(ctypes.byref(found))
            met = Counter(shape.destinations(rank))
            edges = [kernel.sk_edges(ctypes.byref(own), rank, other) for other in range(shape.p)]
            assert edges == [met[other] for other in range(shape.p)], (shape, rank)


def test_edges_of_cartesian_grids_are_those_of_python(kernel):
    for dims in ((4, 3), (2, 2, 1), (5,)):
        for n_finite in range(len(dims) + 1):
            shape = Neighbourhood("cart", dims, tuple(k >= n_finite for k in range(len(dims))))
            own = CNeighbourhood(p=shape.p, n_dim=len(dims), n_finite=n_finite, order=4)
            own.dims[: len(dims)] = dims
            for rank in range(shape.p):
                met = Counter(shape.destinations(rank))
                edges = [kernel.sk_edges(ctypes.byref(own), rank, other) for other in range(shape.p)]
                assert edges == [met[other] for other in range(shape.p)], (shape, rank)


def test_operations_are_read_from_the_table_of_the_program():
    names = operations_of_neighbourhoods()
    assert len(names) == len(set(names)) == 19
    assert {"work", "MPI_Ineighbor_alltoallw", "MPI_Dist_graph_create_adjacent", "MPI_Allgatherv"} < set(names)
