/* section common */
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

/* Number of processes; 0 for an intercommunicator, where nothing is replaced. */
static inline int scalkit_processes(MPI_Comm comm)
{
    int p = 0, is_inter = 0;
    MPI_Comm_test_inter(comm, &is_inter);
    if (!is_inter)
        MPI_Comm_size(comm, &p);
    return p;
}

/* Bytes of `count` elements. */
static inline long long scalkit_bytes(int count, MPI_Datatype type)
{
    int size = 0;
    MPI_Type_size(type, &size);
    return (long long)count * size;
}

/* Room for `count` elements, NULL if there is none; `*start` is what to free. */
static inline void *scalkit_room(long long count, MPI_Datatype type, MPI_Comm comm, void **start)
{
    MPI_Aint lower, extent, true_lower, true_extent;
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &true_lower, &true_extent);
    *start = malloc((size_t)(true_extent + (count > 0 ? (MPI_Aint)(count - 1) * extent : 0) + 1));
    if (*start == NULL) {
        MPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
        return NULL;
    }
    return (char *)*start - true_lower;
}

static inline int scalkit_copy(const void *from, int count, MPI_Datatype type, void *to, int to_count,
                               MPI_Datatype to_type)
{
    return MPI_Sendrecv(from, count, type, 0, 0, to, to_count, to_type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

/* The element at a place, as `buffer + place` would be; of a NULL that is not used, something else that is not used. */
static inline void *scalkit_at(const void *buffer, long long place, MPI_Datatype type)
{
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    return (void *)((uintptr_t)buffer + (uintptr_t)(place * extent));
}

/* The same count for each of `p` processes, and after them the places of their blocks; NULL if there is no memory. */
static inline int *scalkit_counts(int p, int count, MPI_Comm comm)
{
    int *counts = malloc((2 * (size_t)p + 1) * sizeof *counts);
    if (counts == NULL)
        MPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
    for (int i = 0; counts != NULL && i < p; i++) {
        counts[i] = count;
        counts[p + i] = i * count;
    }
    return counts;
}

/* Zeros for a block of each process, at most INT_MAX bytes, and the own block in its place; NULL without memory. */
static inline char *scalkit_zeros(const void *own, int count, MPI_Datatype type, int rank, int p, MPI_Comm comm)
{
    size_t block = (size_t)scalkit_bytes(count, type);
    char *blocks = calloc((size_t)p * block + 1, 1);
    if (blocks == NULL)
        MPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
    else
        MPI_Sendrecv(own, count, type, 0, 0, blocks + (size_t)rank * block, (int)block, MPI_PACKED, 0, 0, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
    return blocks;
}
