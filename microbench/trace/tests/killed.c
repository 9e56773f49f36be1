/* Calls MPI until it is killed. Each process keeps its number, and how many calls it has come back from, in a mapped
 * file
 * FOLDER/RANK of two 64-bit integers. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int64_t *kept;
static int64_t calls;

#define COUNT(call) ((call), kept[1] = ++calls)

int main(int argc, char **argv)
{
    char path[4096];
    int rank, size, got = 0, *memory;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(path, sizeof path, "%s/%d", argv[1], rank);
    int file = open(path, O_RDWR | O_CREAT, 0644);
    if (file < 0 || ftruncate(file, 2 * sizeof *kept) != 0)
        abort();
    kept = mmap(NULL, 2 * sizeof *kept, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if ((void *)kept == MAP_FAILED)
        abort();
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    calls = 1; /* MPI_Init */
    COUNT(MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    COUNT(MPI_Win_lock_all(0, win));
    kept[0] = getpid();
    for (int k = 0;; k++) {
        MPI_Comm made;
        COUNT(MPI_Get(&got, 1, MPI_INT, to, 0, 1, MPI_INT, win));
        COUNT(MPI_Win_flush(to, win));
        COUNT(MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &got, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (k % 200 == 0) {
            COUNT(MPI_Comm_dup(MPI_COMM_WORLD, &made));
            COUNT(MPI_Barrier(made));
            COUNT(MPI_Comm_free(&made));
        }
    }
}
