/* Loops of calls, as the OSU benchmarks have them: prints ns of one call, the least of many rounds. benchmarks/tune_overhead.py
 * runs it with the layer that replaces calls, and without.
 *
 *     tune_loops cost            calls of one process, which send nothing
 *     tune_loops BYTES CALLS     collectives of all processes, and the substitutes called by hand; bytes of each process
 */
#include "substitutes.inc"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 60, COST_CALLS = 2000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

#define LEAST(name, calls, statement) \
    do { \
        double least = 1e30; \
        for (int round = 0; round < ROUNDS; round++) { \
            MPI_Barrier(all); \
            double begin = now(); \
            for (int k = 0; k < (calls); k++) \
                statement; \
            double each = (now() - begin) / (calls), slowest; \
            PMPI_Reduce(&each, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, all); \
            least = slowest < least ? slowest : least; \
        } \
        if (rank == 0) \
            printf("%s: %.2f\n", name, least); \
    } while (0)

int main(int argc, char **argv)
{
    int rank, p, is_cost = argc == 2 && strcmp(argv[1], "cost") == 0;
    MPI_Comm all = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &p);
    int n = is_cost ? 8 : atoi(argv[1]), calls = is_cost ? COST_CALLS : atoi(argv[2]);
    char *from = calloc((size_t)p, (size_t)n), *to = calloc((size_t)p, (size_t)n);
    if (is_cost) {
        LEAST("MPI_Bcast", calls, MPI_Bcast(to, n, MPI_CHAR, 0, all));
        LEAST("MPI_Gather", calls, MPI_Gather(from, n, MPI_CHAR, to, n, MPI_CHAR, 0, all));
        LEAST("MPI_Allreduce", calls, MPI_Allreduce(from, to, n / 4, MPI_INT, MPI_SUM, all));
    } else {
        LEAST("MPI_Allgather", calls, MPI_Allgather(from, n, MPI_CHAR, to, n, MPI_CHAR, all));
        LEAST("MPI_Allgather by hand", calls, scalkit_allgather_by_allgatherv(from, n, MPI_CHAR, to, n, MPI_CHAR, all));
        LEAST("MPI_Reduce", calls, MPI_Reduce(from, to, n / 4, MPI_INT, MPI_SUM, 0, all));
        LEAST("MPI_Reduce by hand", calls, scalkit_reduce_by_allreduce(from, to, n / 4, MPI_INT, MPI_SUM, 0, all));
        LEAST("MPI_Bcast", calls, MPI_Bcast(to, n, MPI_CHAR, 0, all));
        LEAST("MPI_Bcast by hand", calls, scalkit_bcast_by_bcast_allgatherv(to, n, MPI_CHAR, 0, all));
    }
    free(from);
    free(to);
    MPI_Finalize();
    return 0;
}
