/* Processes that come late to a scan, a neighbour, a window, a file: rank 1 sleeps 100 ms before each. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static void late(int rank)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        usleep(100000);
}

int main(int argc, char **argv)
{
    int rank, size, one = 1, sum = 0, period = 1, from[2];
    void *memory;
    MPI_Comm ring;
    MPI_Win win;
    MPI_File file;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 0, &ring);
    late(rank);
    MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    late(rank);
    MPI_Neighbor_allgather(&one, 1, MPI_INT, from, 1, MPI_INT, ring);
    late(rank);
    MPI_Ineighbor_allgather(&one, 1, MPI_INT, from, 1, MPI_INT, ring, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    late(rank);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    late(rank);
    MPI_Win_free(&win);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, 4 * rank, &one, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_iread_at(file, 4 * rank, &sum, 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Comm_free(&ring);
    if (rank == 1)
        usleep(100000);
    MPI_Finalize();
    return 0;
}
