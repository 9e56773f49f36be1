"""The substitutes in C deliver what the calls deliver that they take the place of: on 3 processes, also in place."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from scalkit.bench import Mpi
from scalkit.bench.libraries.mpi import settings
from scalkit.support.native import sources

MAIN = r"""
#include <stdio.h>
#include <string.h>

enum { MOST = 64 };
static int rank, p, wrong;
static int given[MOST * 4], expected[MOST * 4], got[MOST * 4];

static void prepare(int keep)
{
    for (int i = 0; i < MOST * 4; i++) {
        given[i] = 1000 * rank + i;
        expected[i] = got[i] = keep ? given[i] : -1;
    }
}

static void check(const char *what, int count)
{
    if (memcmp(expected, got, (size_t)count * sizeof *got) != 0) {
        printf("%s differs on process %d of %d with %d\n", what, rank, p, count);
        wrong = 1;
    }
}

#define W MPI_COMM_WORLD
#define I MPI_INT

static void with(int n, int root)
{
    prepare(1);
    MPI_Bcast(expected, n, I, root, W);
    scalkit_bcast_by_scatter_allgather(got, n, I, root, W);
    check("bcast", n);
    prepare(1);
    MPI_Bcast(expected, n, I, root, W);
    scalkit_bcast_by_bcast_allgatherv(got, n, I, root, W);
    check("bcast by allgatherv", n);
    for (int inside = 0; inside < 2; inside++) {
        const void *from = inside ? MPI_IN_PLACE : given;
        prepare(1);
        MPI_Allreduce(from, expected, n, I, MPI_SUM, W);
        scalkit_allreduce_by_reduce_bcast(from, got, n, I, MPI_SUM, W);
        check("allreduce by reduce", n);
        prepare(1);
        MPI_Allreduce(from, expected, n, I, MPI_SUM, W);
        scalkit_allreduce_by_reduce_scatter_block_allgather(from, got, n, I, MPI_SUM, W);
        check("allreduce by reduce_scatter_block", n);
        prepare(1);
        MPI_Allgather(from, n, I, expected, n, I, W);
        scalkit_allgather_by_gather_bcast(from, n, I, got, n, I, W);
        check("allgather by gather", n * p);
        prepare(1);
        MPI_Allgather(from, n, I, expected, n, I, W);
        scalkit_allgather_by_alltoall(from, n, I, got, n, I, W);
        check("allgather by alltoall", n * p);
        prepare(1);
        MPI_Allgather(from, n, I, expected, n, I, W);
        scalkit_allgather_by_allgatherv(from, n, I, got, n, I, W);
        check("allgather by allgatherv", n * p);
        prepare(1);
        MPI_Allgather(from, n, I, expected, n, I, W);
        scalkit_allgather_by_allreduce(from, n, I, got, n, I, W);
        check("allgather by allreduce", n * p);
        prepare(1);
        MPI_Alltoall(from, n, I, expected, n, I, W);
        scalkit_alltoall_by_alltoallv(from, n, I, got, n, I, W);
        check("alltoall by alltoallv", n * p);
        prepare(1);
        MPI_Scan(from, expected, n, I, MPI_SUM, W);
        scalkit_scan_by_exscan_reduce_local(from, got, n, I, MPI_SUM, W);
        check("scan", n);
        prepare(1);
        MPI_Reduce_scatter_block(from, expected, n, I, MPI_SUM, W);
        scalkit_reduce_scatter_block_by_reduce_scatter(from, got, n, I, MPI_SUM, W);
        check("reduce_scatter_block", n);
        prepare(1);
        MPI_Reduce_scatter_block(from, expected, n, I, MPI_SUM, W);
        scalkit_reduce_scatter_block_by_reduce_scatter_regular(from, got, n, I, MPI_SUM, W);
        check("reduce_scatter_block by reduce_scatter", n);
        prepare(1);
        MPI_Reduce_scatter_block(from, expected, n, I, MPI_SUM, W);
        scalkit_reduce_scatter_block_by_allreduce(from, got, n, I, MPI_SUM, W);
        check("reduce_scatter_block by allreduce", n);
        const void *at_root = inside && rank == root ? MPI_IN_PLACE : given;
        prepare(1);
        MPI_Gather(at_root, n, I, expected, n, I, root, W);
        scalkit_gather_by_allgather(at_root, n, I, got, n, I, root, W);
        check("gather", n * p);
        prepare(1);
        MPI_Gather(at_root, n, I, expected, n, I, root, W);
        scalkit_gather_by_gatherv(at_root, n, I, got, n, I, root, W);
        check("gather by gatherv", n * p);
        prepare(1);
        MPI_Gather(at_root, n, I, expected, n, I, root, W);
        scalkit_gather_by_reduce(at_root, n, I, got, n, I, root, W);
        check("gather by reduce", n * p);
        prepare(1);
        MPI_Reduce(at_root, expected, n, I, MPI_SUM, root, W);
        scalkit_reduce_by_allreduce(at_root, got, n, I, MPI_SUM, root, W);
        check("reduce by allreduce", n);
        prepare(1);
        MPI_Reduce(at_root, expected, n, I, MPI_SUM, root, W);
        scalkit_reduce_by_reduce_scatter_block_gather(at_root, got, n, I, MPI_SUM, root, W);
        check("reduce by reduce_scatter_block", n);
        prepare(0);
        MPI_Scatter(given, n, I, inside && rank == root ? MPI_IN_PLACE : expected, n, I, root, W);
        scalkit_scatter_by_bcast(given, n, I, inside && rank == root ? MPI_IN_PLACE : got, n, I, root, W);
        check("scatter", n);
        prepare(0);
        MPI_Scatter(given, n, I, inside && rank == root ? MPI_IN_PLACE : expected, n, I, root, W);
        scalkit_scatter_by_scatterv(given, n, I, inside && rank == root ? MPI_IN_PLACE : got, n, I, root, W);
        check("scatter by scatterv", n);
    }
}

static void among(MPI_Comm comm, int n, const char *which)
{
    int in, out, all;
    scalkit_degrees(comm, &in, &out);
    all = n * in;
    prepare(0);
    MPI_Neighbor_allgather(given, n, I, expected, n, I, comm);
    scalkit_neighbor_allgather_by_neighbor_alltoall(given, n, I, got, n, I, comm);
    check(which, all);
    prepare(0);
    MPI_Neighbor_allgather(given, n, I, expected, n, I, comm);
    scalkit_neighbor_allgather_by_neighbor_allgatherv(given, n, I, got, n, I, comm);
    check(which, all);
    prepare(0);
    MPI_Neighbor_alltoall(given, n, I, expected, n, I, comm);
    scalkit_neighbor_alltoall_by_neighbor_alltoallv(given, n, I, got, n, I, comm);
    check(which, all);
    memset(got, 255, sizeof got);
    scalkit_neighbor_alltoall_by_neighbor_alltoallw(given, n, I, got, n, I, comm);
    check(which, all);
}

int main(int argc, char **argv)
{
    MPI_Comm cart, graph;
    int periods[1] = {0}, dims[1] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &rank);
    MPI_Comm_size(W, &p);
    int counts[] = {0, 5, 2 * p};
    for (int i = 0; i < 3; i++)
        for (int root = 0; root < p; root++)
            with(counts[i], root);
    dims[0] = p;
    MPI_Cart_create(W, 1, dims, periods, 0, &cart);
    int to[2] = {(rank + 1) % p, (rank + 2) % p}, from[2] = {(rank + p - 1) % p, (rank + 2 * p - 2) % p};
    MPI_Dist_graph_create_adjacent(W, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    among(cart, 3, "cart");
    among(graph, 3, "graph");
    int none = scalkit_processes(W) == p ? wrong : 1;
    MPI_Comm_free(&cart);
    MPI_Comm_free(&graph);
    if (rank == 0 && !none)
        puts("all are right");
    MPI_Finalize();
    return none;
}
"""


def test_substitutes_deliver_the_same_data(mpi: Mpi, tmp_path: Path) -> None:
    folder = sources("microbench") / "tune" / "substitutes"
    files = [folder / "common.c", *sorted(folder.glob("[!c]*.c"))]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    program = tmp_path / "substitutes.c"
    program.write_text(text + MAIN, encoding="utf-8")
    checked = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-g", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    subprocess.run([mpi.mpicc, *checked, str(program), "-o", str(tmp_path / "run")], check=True)
    environment = {**os.environ, **settings(mpi.kind, oversubscribed=True)}
    command = mpi.command(3, str(tmp_path / "run"))
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()) == (0, ["all are right"]), done.stdout + done.stderr
