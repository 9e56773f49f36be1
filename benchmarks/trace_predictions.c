#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int r, p, n = argc > 1 ? atoi(argv[1]) : 1000, rounds = argc > 2 ? atoi(argv[2]) : 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &r); MPI_Comm_size(MPI_COMM_WORLD, &p);
    double *a = calloc(4 * n * p + 4096, 8), *b = calloc(4 * n * p + 4096, 8);
    for (int round = 0; round < rounds; round++) {
    for (int k = 0; k < 10; k++) {
        MPI_Request q[4];
        int left = (r + p - 1) % p, right = (r + 1) % p;
        MPI_Irecv(b, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &q[0]);
        MPI_Irecv(b + n, n, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &q[1]);
        MPI_Isend(a, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &q[2]);
        MPI_Isend(a, n, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &q[3]);
        MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
        MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (k % 5 == 0) MPI_Allreduce(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Bcast(a, 3 * n, MPI_DOUBLE, 1 % p, MPI_COMM_WORLD);
    MPI_Alltoall(a, n / 10, MPI_DOUBLE, b, n / 10, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Gather(a, 10, MPI_DOUBLE, b, 10, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Reduce(a, b, n, MPI_DOUBLE, MPI_SUM, p - 1, MPI_COMM_WORLD);
    if (r == 0) MPI_Send(a, 2, MPI_DOUBLE, p - 1, 5, MPI_COMM_WORLD);
    if (r == p - 1) MPI_Recv(b, 2, MPI_DOUBLE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
