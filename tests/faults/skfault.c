/* Plants one bug, named by the environment variable SKFAULT, into the MPI library of the program that preloads this:
 *
 *   bcast_linear    MPI_Bcast: the root sends to one process after the other; each message costs its sender 300 us; the
 *                   data are right
 *   bcast_wrong     MPI_Bcast: the last process gets a wrong first byte
 *   bcast_late      MPI_Bcast: the root begins 12 us late
 *   barrier_empty   MPI_Barrier: does nothing
 *   barrier_linear  MPI_Barrier: everyone tells the first process, which tells everyone
 *   recv_wrong      MPI_Recv: the last process gets a wrong last byte
 *   allreduce_slow  MPI_Allreduce: 10 ms and 1 ms for every process, then the right result
 *   allreduce_parts MPI_Allreduce: a reduction, a broadcast and a barrier
 *   allreduce_wrong MPI_Allreduce: the last process gets a wrong first byte
 *   allgather_thrice  MPI_Allgather: three of them for more than 16 processes
 *   dup_leak        MPI_Comm_dup: 64 bytes for every process of the communicator are lost
 *   dup_bypass      MPI_Comm_dup: 64 kB are taken from the kernel, past malloc
 *   neighbour_swapped  MPI_Neighbor_alltoall: the last process gets its first two blocks in the wrong order
 *   graph_turned    MPI_Dist_graph_create_adjacent: every process has its neighbours in the reverse order
 *   graph_other     MPI_Dist_graph_create: every process sends its first message to itself
 *   put_lost        MPI_Put: does nothing
 *   get_wrong       MPI_Get: fetches one element too few
 *   atomics_wrong   MPI_Fetch_and_op: fetches what is there and leaves it; MPI_Compare_and_swap: swaps nothing
 *   cart_transposed MPI_Cart_create: the grid has its dimensions in the reverse order
 *
 * Everything else, and everything without SKFAULT, is passed on to the PMPI_ function.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { TAG = 32700, MESSAGE_US = 300, ALLREDUCE_US = 10000, ALLREDUCE_PROCESS_US = 1000, LATE_US = 12, FEW = 16, LEAK_B = 64, BYPASS_B = 65536 };

static bool planted(const char *fault)
{
    const char *wanted = getenv("SKFAULT");
    return wanted && strcmp(wanted, fault) == 0;
}

static void pause_us(long us)
{
    struct timespec left = {us / 1000000, us % 1000000 * 1000};
    while (nanosleep(&left, &left) != 0)
        continue;
}

static bool is_last(MPI_Comm comm)
{
    int rank, size;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    return rank == size - 1;
}

static int bcast_linear(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    int rank, size, status = MPI_SUCCESS;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    if (rank != root)
        return PMPI_Recv(buffer, count, datatype, root, TAG, comm, MPI_STATUS_IGNORE);
    for (int to = 0; to < size && status == MPI_SUCCESS; to++)
        if (to != root) {
            pause_us(MESSAGE_US);
            status = PMPI_Send(buffer, count, datatype, to, TAG, comm);
        }
    return status;
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    if (planted("bcast_linear"))
        return bcast_linear(buffer, count, datatype, root, comm);
    int rank;
    PMPI_Comm_rank(comm, &rank);
    if (planted("bcast_late") && rank == root)
        pause_us(LATE_US);
    int status = PMPI_Bcast(buffer, count, datatype, root, comm);
    if (planted("bcast_wrong") && count > 0 && is_last(comm))
        *(unsigned char *)buffer ^= 1;
    return status;
}

static int barrier_linear(MPI_Comm comm)
{
    int rank, size;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    for (int other = 1; rank == 0 && other < size; other++)
        PMPI_Recv(NULL, 0, MPI_BYTE, other, TAG, comm, MPI_STATUS_IGNORE);
    for (int other = 1; rank == 0 && other < size; other++)
        PMPI_Send(NULL, 0, MPI_BYTE, other, TAG, comm);
    if (rank != 0)
        PMPI_Sendrecv(NULL, 0, MPI_BYTE, 0, TAG, NULL, 0, MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE);
    return MPI_SUCCESS;
}

int MPI_Barrier(MPI_Comm comm)
{
    if (planted("barrier_linear"))
        return barrier_linear(comm);
    return planted("barrier_empty") ? MPI_SUCCESS : PMPI_Barrier(comm);
}

int MPI_Allgather(const void *send, int n, MPI_Datatype type, void *receive, int each, MPI_Datatype of, MPI_Comm comm)
{
    int size, status = PMPI_Allgather(send, n, type, receive, each, of, comm);
    PMPI_Comm_size(comm, &size);
    for (int again = 0; again < 2 && planted("allgather_thrice") && size > FEW; again++)
        PMPI_Allgather(send, n, type, receive, each, of, comm);
    return status;
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    if (planted("allreduce_slow")) {
        int size;
        PMPI_Comm_size(comm, &size);
        pause_us(ALLREDUCE_US + ALLREDUCE_PROCESS_US * (long)size);
    }
    if (planted("allreduce_parts")) {
        PMPI_Reduce(send, receive, count, datatype, op, 0, comm);
        PMPI_Bcast(receive, count, datatype, 0, comm);
        return PMPI_Barrier(comm);
    }
    int status = PMPI_Allreduce(send, receive, count, datatype, op, comm);
    if (planted("allreduce_wrong") && count > 0 && is_last(comm))
        *(unsigned char *)receive ^= 1;
    return status;
}

int MPI_Recv(void *buffer, int count, MPI_Datatype datatype, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    int done = PMPI_Recv(buffer, count, datatype, from, tag, comm, status);
    if (planted("recv_wrong") && count > 0 && datatype == MPI_BYTE && is_last(comm))
        ((unsigned char *)buffer)[count - 1] ^= 1;
    return done;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
    static void *volatile lost; /* so that the compiler keeps the allocation */
    int size;
    PMPI_Comm_size(comm, &size);
    if (planted("dup_leak")) {
        lost = malloc(LEAK_B * (size_t)size);
        if (lost)
            memset(lost, 1, LEAK_B * (size_t)size);
    }
    if (planted("dup_bypass")) {
        lost = mmap(NULL, BYPASS_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (lost != MAP_FAILED)
            memset(lost, 1, BYPASS_B);
    }
    return PMPI_Comm_dup(comm, copy);
}

int MPI_Neighbor_alltoall(const void *send, int send_count, MPI_Datatype send_type, void *receive, int count,
                          MPI_Datatype type, MPI_Comm comm)
{
    int status = PMPI_Neighbor_alltoall(send, send_count, send_type, receive, count, type, comm), width;
    PMPI_Type_size(type, &width);
    unsigned char *first = receive, *second = first + (size_t)count * (size_t)width;
    if (planted("neighbour_swapped") && is_last(comm))
        for (size_t i = 0; i < (size_t)count * (size_t)width; i++) {
            unsigned char kept = first[i];
            first[i] = second[i];
            second[i] = kept;
        }
    return status;
}

/* Returns a copy, reversed if `turned`; the caller frees. */
static int *copied(const int *list, int n, bool turned)
{
    int *copy = malloc(((size_t)n + 1) * sizeof *copy);
    for (int i = 0; copy && i < n; i++)
        copy[i] = list[turned ? n - 1 - i : i];
    return copy;
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int n_in, const int *sources, const int *source_weights, int n_out,
                                   const int *destinations, const int *weights, MPI_Info info, int reorder,
                                   MPI_Comm *graph)
{
    bool turned = planted("graph_turned");
    int *in = copied(sources, n_in, turned), *out = copied(destinations, n_out, turned);
    int status = PMPI_Dist_graph_create_adjacent(comm, n_in, in, source_weights, n_out, out, weights, info, reorder,
                                                 graph);
    free(in);
    free(out);
    return status;
}

int MPI_Dist_graph_create(MPI_Comm comm, int n, const int *nodes, const int *degrees, const int *targets,
                          const int *weights, MPI_Info info, int reorder, MPI_Comm *graph)
{
    int *out = copied(targets, degrees[0], false);
    if (planted("graph_other") && degrees[0] > 0)
        out[0] = nodes[0];
    int status = PMPI_Dist_graph_create(comm, n, nodes, degrees, out, weights, info, reorder, graph);
    free(out);
    return status;
}

int MPI_Cart_create(MPI_Comm comm, int n, const int *dims, const int *periods, int reorder, MPI_Comm *grid)
{
    int *turned = copied(dims, n, planted("cart_transposed"));
    int status = PMPI_Cart_create(comm, n, turned, periods, reorder, grid);
    free(turned);
    return status;
}

int MPI_Put(const void *from, int n, MPI_Datatype type, int to, MPI_Aint place, int there, MPI_Datatype type_there,
            MPI_Win window)
{
    return planted("put_lost") ? MPI_SUCCESS : PMPI_Put(from, n, type, to, place, there, type_there, window);
}

int MPI_Get(void *to, int n, MPI_Datatype type, int from, MPI_Aint place, int there, MPI_Datatype type_there,
            MPI_Win window)
{
    int less = planted("get_wrong") ? 1 : 0;
    return PMPI_Get(to, n - less, type, from, place, there - less, type_there, window);
}

int MPI_Fetch_and_op(const void *from, void *fetched, MPI_Datatype type, int to, MPI_Aint place, MPI_Op op,
                     MPI_Win window)
{
    return PMPI_Fetch_and_op(from, fetched, type, to, place, planted("atomics_wrong") ? MPI_NO_OP : op, window);
}

int MPI_Compare_and_swap(const void *from, const void *expected, void *fetched, MPI_Datatype type, int to,
                         MPI_Aint place, MPI_Win window)
{
    const void *own = planted("atomics_wrong") ? expected : from;
    return PMPI_Compare_and_swap(own, expected, fetched, type, to, place, window);
}
