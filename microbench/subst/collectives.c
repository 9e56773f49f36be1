#include "subst/collectives.h"

#include "ops/data.h"

#include <stdlib.h>

/* The statements of each are those of scalkit/store/advice/substitutes.toml, to the letter. */
/* clang-format off */

static int gather_send_recv(const void *sendbuf, int count, MPI_Datatype type, void *recvbuf, int root, MPI_Comm comm)
{
    int rank, size;
    MPI_Aint lower, extent;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank != root) return MPI_Send(sendbuf, count, type, root, 0, comm);
    MPI_Type_get_extent(type, &lower, &extent);
    for (int from = 0; from < size; from++) {
        char *to = (char *)recvbuf + (MPI_Aint)from * count * extent;
        if (from != root) MPI_Recv(to, count, type, from, 0, comm, MPI_STATUS_IGNORE);
        else MPI_Sendrecv(sendbuf, count, type, 0, 0, to, count, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
    return MPI_SUCCESS;
}

static int gather_isend_irecv_waitall(const void *sendbuf, int count, MPI_Datatype type, void *recvbuf, int root,
                                      MPI_Comm comm)
{
    int rank, size;
    MPI_Aint lower, extent;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Request send;
    MPI_Isend(sendbuf, count, type, root, 0, comm, &send);
    if (rank == root) {
        MPI_Request *requests = malloc((size_t)size * sizeof *requests);
        if (requests == NULL) MPI_Abort(comm, 1);
        MPI_Type_get_extent(type, &lower, &extent);
        for (int from = 0; from < size; from++)
            MPI_Irecv((char *)recvbuf + (MPI_Aint)from * count * extent, count, type, from, 0, comm, &requests[from]);
        MPI_Waitall(size, requests, MPI_STATUSES_IGNORE);
        free(requests);
    }
    return MPI_Wait(&send, MPI_STATUS_IGNORE);
}

static int bcast_send_recv(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank != root) return MPI_Recv(buffer, count, type, root, 0, comm, MPI_STATUS_IGNORE);
    for (int to = 0; to < size; to++)
        if (to != root) MPI_Send(buffer, count, type, to, 0, comm);
    return MPI_SUCCESS;
}

static int bcast_allgatherv(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int size;
    MPI_Comm_size(comm, &size);
    int *counts = calloc(2 * (size_t)size, sizeof *counts);
    if (counts == NULL) MPI_Abort(comm, 1);
    counts[root] = count;
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, counts, counts + size, type, comm);
    free(counts);
    return MPI_SUCCESS;
}

static int allreduce_reduce_bcast(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                                  MPI_Comm comm)
{
    MPI_Reduce(sendbuf, recvbuf, count, type, op, 0, comm);
    return MPI_Bcast(recvbuf, count, type, 0, comm);
}

static int allgather_gather_bcast(const void *sendbuf, int count, MPI_Datatype type, void *recvbuf, MPI_Comm comm)
{
    int size;
    MPI_Comm_size(comm, &size);
    MPI_Gather(sendbuf, count, type, recvbuf, count, type, 0, comm);
    return MPI_Bcast(recvbuf, size * count, type, 0, comm);
}

static int alltoall_isend_irecv_waitall(const void *sendbuf, int count, MPI_Datatype type, void *recvbuf, MPI_Comm comm)
{
    int rank, size;
    MPI_Aint lower, extent;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Request *requests = malloc(2 * (size_t)size * sizeof *requests);
    if (requests == NULL) MPI_Abort(comm, 1);
    for (int step = 0; step < size; step++) {
        const int from = (rank - step + size) % size, to = (rank + step) % size;
        MPI_Irecv((char *)recvbuf + (MPI_Aint)from * count * extent, count, type, from, 0, comm, &requests[2 * step]);
        MPI_Isend((const char *)sendbuf + (MPI_Aint)to * count * extent, count, type, to, 0, comm,
                  &requests[2 * step + 1]);
    }
    MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE);
    free(requests);
    return MPI_SUCCESS;
}

static int reduce_scatter_allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                                    MPI_Comm comm)
{
    int rank, size;
    MPI_Aint lower, extent;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Type_get_extent(type, &lower, &extent);
    char *all = malloc((size_t)size * (size_t)count * (size_t)extent + 1);
    if (all == NULL) MPI_Abort(comm, 1);
    MPI_Allreduce(sendbuf, all, size * count, type, op, comm);
    MPI_Sendrecv(all + (MPI_Aint)rank * count * extent, count, type, 0, 0, recvbuf, count, type, 0, 0, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    free(all);
    return MPI_SUCCESS;
}

static int reduce_scatter_reduce_scatter(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                                         MPI_Comm comm)
{
    int size;
    MPI_Aint lower, extent;
    MPI_Comm_size(comm, &size);
    MPI_Type_get_extent(type, &lower, &extent);
    char *all = malloc((size_t)size * (size_t)count * (size_t)extent + 1);
    if (all == NULL) MPI_Abort(comm, 1);
    MPI_Reduce(sendbuf, all, size * count, type, op, 0, comm);
    MPI_Scatter(all, count, type, recvbuf, count, type, 0, comm);
    free(all);
    return MPI_SUCCESS;
}

static int scan_send_recv(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank == 0) {
        MPI_Sendrecv(sendbuf, count, type, 0, 0, recvbuf, count, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    } else {
        MPI_Aint lower, extent;
        MPI_Type_get_extent(type, &lower, &extent);
        char *before = malloc((size_t)count * (size_t)extent + 1);
        if (before == NULL) MPI_Abort(comm, 1);
        MPI_Sendrecv(sendbuf, count, type, 0, 0, recvbuf, count, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Recv(before, count, type, rank - 1, 0, comm, MPI_STATUS_IGNORE);
        MPI_Reduce_local(before, recvbuf, count, type, op);
        free(before);
    }
    return rank + 1 < size ? MPI_Send(recvbuf, count, type, rank + 1, 0, comm) : MPI_SUCCESS;
}

/* clang-format on */

int sk_gather_send_recv(const void *operands)
{
    const struct sk_operands *x = operands;
    return gather_send_recv(x->send, x->count, x->type, x->receive, 0, x->comm);
}

int sk_gather_isend_irecv_waitall(const void *operands)
{
    const struct sk_operands *x = operands;
    return gather_isend_irecv_waitall(x->send, x->count, x->type, x->receive, 0, x->comm);
}

int sk_bcast_send_recv(const void *operands)
{
    const struct sk_operands *x = operands;
    return bcast_send_recv(x->receive, x->count, x->type, 0, x->comm);
}

int sk_bcast_allgatherv(const void *operands)
{
    const struct sk_operands *x = operands;
    return bcast_allgatherv(x->receive, x->count, x->type, 0, x->comm);
}

int sk_allreduce_reduce_bcast(const void *operands)
{
    const struct sk_operands *x = operands;
    return allreduce_reduce_bcast(x->send, x->receive, x->count, x->sum_type, MPI_SUM, x->comm);
}

int sk_allgather_gather_bcast(const void *operands)
{
    const struct sk_operands *x = operands;
    return allgather_gather_bcast(x->send, x->count, x->type, x->receive, x->comm);
}

int sk_alltoall_isend_irecv_waitall(const void *operands)
{
    const struct sk_operands *x = operands;
    return alltoall_isend_irecv_waitall(x->send, x->count, x->type, x->receive, x->comm);
}

int sk_reduce_scatter_allreduce(const void *operands)
{
    const struct sk_operands *x = operands;
    return reduce_scatter_allreduce(x->send, x->receive, x->count, x->sum_type, MPI_SUM, x->comm);
}

int sk_reduce_scatter_reduce_scatter(const void *operands)
{
    const struct sk_operands *x = operands;
    return reduce_scatter_reduce_scatter(x->send, x->receive, x->count, x->sum_type, MPI_SUM, x->comm);
}

int sk_scan_send_recv(const void *operands)
{
    const struct sk_operands *x = operands;
    return scan_send_recv(x->send, x->receive, x->count, x->sum_type, MPI_SUM, x->comm);
}
