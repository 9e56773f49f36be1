/* For SimGrid SMPI, hosts of 1 Gflop/s: process r works 1 ms (r + 1) before a barrier, 1 works 5 ms before it sends. */
#include "trace/scalkit_trace.h"

#include <mpi.h>
#include <smpi/smpi.h>

/* Not exported: the call site is named nevertheless. */
__attribute__((noinline)) static void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    int rank, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    SK_TRACE_ENTER("work");
    smpi_execute_flops(1e6 * (rank + 1));
    SK_TRACE_LEAVE();
    meet();
    if (rank == 0) {
        MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        smpi_execute_flops(5e6);
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
