/* Times of MPI_Bcast and MPI_Allreduce in SimGrid SMPI, many sizes in one launch, with buffers that all processes share: so that
 * 1024 processes fit into memory. Prints a line "operation size nanoseconds" for each; simulated, not measured. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Sleeps until the next whole second of simulated time, at which all processes start, and returns it: simulated clocks agree,
 * and nothing here takes a second. */
static double common_start(void)
{
    static int rounds;
    double start = ++rounds, left = start - MPI_Wtime();
    struct timespec pause = {.tv_sec = (time_t)left, .tv_nsec = (long)(1e9 * (left - (double)(time_t)left))};
    nanosleep(&pause, NULL);
    return MPI_Wtime();
}

static void report(const char *name, int size, int rank, double start)
{
    double took = MPI_Wtime() - start, most;
    MPI_Reduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %d %.3f\n", name, size, 1e9 * most);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc; i++) {
        int size = atoi(argv[i]);
        void *in = SMPI_SHARED_MALLOC((size_t)size), *out = SMPI_SHARED_MALLOC((size_t)size);
        double start = common_start();
        MPI_Bcast(in, size, MPI_BYTE, 0, MPI_COMM_WORLD);
        report("broadcast", size, rank, start);
        start = common_start();
        MPI_Allreduce(in, out, size, MPI_UINT8_T, MPI_SUM, MPI_COMM_WORLD);
        report("allreduce", size, rank, start);
        SMPI_SHARED_FREE(in);
        SMPI_SHARED_FREE(out);
    }
    MPI_Finalize();
    return 0;
}
