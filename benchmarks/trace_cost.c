/* What a recorded call costs: prints ns of one call of several functions, the least of many rounds. Two processes.
 * benchmarks/srumma.py cost runs it with the recorder and without. */
#include "trace/scalkit_trace.h"

#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 200, CALLS = 1000 };

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
            double begin = now(); \
            for (int k = 0; k < CALLS; k++) { \
                statement; \
            } \
            double each = (now() - begin) / (CALLS * (calls)); \
            least = each < least ? each : least; \
        } \
        printf("%s: %.2f\n", name, least); \
    } while (0)

int main(int argc, char **argv)
{
    int rank, flag, value = 1, was;
    double *memory, here;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        LEAST("MPI_Win_sync", 1, MPI_Win_sync(win));
        LEAST("MPI_Win_flush", 1, MPI_Win_flush(1, win));
        LEAST("MPI_Get and MPI_Win_flush", 2, MPI_Get(&here, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
              MPI_Win_flush(1, win));
        LEAST("MPI_Fetch_and_op and MPI_Win_flush", 2, MPI_Fetch_and_op(&value, &was, MPI_INT, 1, 8, MPI_SUM, win);
              MPI_Win_flush(1, win));
        LEAST("SK_TRACE_ENTER and SK_TRACE_LEAVE", 2, SK_TRACE_ENTER("region"); SK_TRACE_LEAVE());
        LEAST("MPI_Iprobe", 1, MPI_Iprobe(1, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
