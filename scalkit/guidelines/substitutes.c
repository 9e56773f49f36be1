/* section common */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

/* Number of processes; 0 for an intercommunicator, where nothing is replaced. */
static int scalkit_processes(MPI_Comm comm)
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

static inline int scalkit_copy(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type)
{
    return MPI_Sendrecv(from, count, type, 0, 0, to, to_count, to_type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

/* The element at a place, as `buffer + place` would be. */
static inline void *scalkit_at(const void *buffer, long long place, MPI_Datatype type)
{
    MPI_Aint lower, extent;
    union {
        const char *read;
        char *written;
    } found;
    MPI_Type_get_extent(type, &lower, &extent);
    found.read = (const char *)buffer + place * extent;
    return found.written;
}

/* section degrees */
/* Number of neighbours that send and that receive. */
static int scalkit_degrees(MPI_Comm comm, int *sources, int *destinations)
{
    int kind, n, rank, is_weighted;
    MPI_Topo_test(comm, &kind);
    if (kind == MPI_DIST_GRAPH)
        return MPI_Dist_graph_neighbors_count(comm, sources, destinations, &is_weighted);
    if (kind == MPI_CART) {
        MPI_Cartdim_get(comm, &n);
        n *= 2;
    } else {
        MPI_Comm_rank(comm, &rank);
        int status = MPI_Graph_neighbors_count(comm, rank, &n);
        if (status != MPI_SUCCESS)
            return status;
    }
    *sources = *destinations = n;
    return MPI_SUCCESS;
}

/* section MPI_Bcast: MPI_Scatter, MPI_Allgather */
static int scalkit_bcast_by_scatter_allgather(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int p, rank;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &rank);
    if (count % p != 0)
        return MPI_Bcast(buffer, count, type, root, comm);
    int part = count / p;
    void *own = rank == root ? MPI_IN_PLACE : scalkit_at(buffer, (long long)rank * part, type);
    int status = MPI_Scatter(buffer, part, type, own, part, type, root, comm);
    if (status != MPI_SUCCESS)
        return status;
    return MPI_Allgather(MPI_IN_PLACE, part, type, buffer, part, type, comm);
}

/* section MPI_Allreduce: MPI_Reduce, MPI_Bcast */
static int scalkit_allreduce_by_reduce_bcast(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                                             MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    const void *given = send == MPI_IN_PLACE && rank != 0 ? receive : send;
    int status = MPI_Reduce(given, rank == 0 ? receive : NULL, count, type, op, 0, comm);
    return status != MPI_SUCCESS ? status : MPI_Bcast(receive, count, type, 0, comm);
}

/* section MPI_Allreduce: MPI_Reduce_scatter_block, MPI_Allgather */
static int scalkit_allreduce_by_reduce_scatter_block_allgather(const void *send, void *receive, int count,
                                                               MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int p, rank;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &rank);
    if (count % p != 0 || send == MPI_IN_PLACE)
        return MPI_Allreduce(send, receive, count, type, op, comm);
    int part = count / p;
    int status = MPI_Reduce_scatter_block(send, scalkit_at(receive, (long long)rank * part, type), part, type, op, comm);
    if (status != MPI_SUCCESS)
        return status;
    return MPI_Allgather(MPI_IN_PLACE, part, type, receive, part, type, comm);
}

/* section MPI_Allgather: MPI_Gather, MPI_Bcast */
static int scalkit_allgather_by_gather_bcast(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                                             int receive_count, MPI_Datatype receive_type, MPI_Comm comm)
{
    int p;
    MPI_Comm_size(comm, &p);
    if (send == MPI_IN_PLACE || (long long)p * receive_count > INT_MAX)
        return MPI_Allgather(send, send_count, send_type, receive, receive_count, receive_type, comm);
    int status = MPI_Gather(send, send_count, send_type, receive, receive_count, receive_type, 0, comm);
    return status != MPI_SUCCESS ? status : MPI_Bcast(receive, p * receive_count, receive_type, 0, comm);
}

/* section MPI_Allgather: MPI_Alltoall */
static int scalkit_allgather_by_alltoall(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                                         int receive_count, MPI_Datatype receive_type, MPI_Comm comm)
{
    int p, status = MPI_SUCCESS;
    void *start;
    MPI_Comm_size(comm, &p);
    if (send == MPI_IN_PLACE)
        return MPI_Allgather(send, send_count, send_type, receive, receive_count, receive_type, comm);
    void *copies = scalkit_room((long long)p * send_count, send_type, comm, &start);
    if (copies == NULL)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < p && status == MPI_SUCCESS; i++)
        status = scalkit_copy(send, send_count, send_type, scalkit_at(copies, (long long)i * send_count, send_type),
                              send_count, send_type);
    if (status == MPI_SUCCESS)
        status = MPI_Alltoall(copies, send_count, send_type, receive, receive_count, receive_type, comm);
    free(start);
    return status;
}

/* section MPI_Gather: MPI_Allgather */
static int scalkit_gather_by_allgather(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                                       int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    int p, rank, status;
    void *start = NULL, *room;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &rank);
    if (rank != root) {
        room = scalkit_room((long long)p * send_count, send_type, comm, &start);
        if (room == NULL)
            return MPI_ERR_NO_MEM;
        status = MPI_Allgather(send, send_count, send_type, room, send_count, send_type, comm);
    } else if (send == MPI_IN_PLACE) {
        room = scalkit_room(receive_count, receive_type, comm, &start);
        if (room == NULL)
            return MPI_ERR_NO_MEM;
        scalkit_copy(scalkit_at(receive, (long long)root * receive_count, receive_type), receive_count, receive_type,
                     room, receive_count, receive_type);
        status = MPI_Allgather(room, receive_count, receive_type, receive, receive_count, receive_type, comm);
    } else {
        status = MPI_Allgather(send, send_count, send_type, receive, receive_count, receive_type, comm);
    }
    free(start);
    return status;
}

/* section MPI_Reduce: MPI_Allreduce */
static int scalkit_reduce_by_allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root,
                                       MPI_Comm comm)
{
    int rank, status;
    void *start = NULL, *room = NULL;
    MPI_Comm_rank(comm, &rank);
    if (rank != root || send == MPI_IN_PLACE) {
        room = scalkit_room(count, type, comm, &start);
        if (room == NULL)
            return MPI_ERR_NO_MEM;
    }
    if (rank != root) {
        status = MPI_Allreduce(send, room, count, type, op, comm);
    } else if (send == MPI_IN_PLACE) {
        scalkit_copy(receive, count, type, room, count, type);
        status = MPI_Allreduce(room, receive, count, type, op, comm);
    } else {
        status = MPI_Allreduce(send, receive, count, type, op, comm);
    }
    free(start);
    return status;
}

/* section MPI_Reduce: MPI_Reduce_scatter_block, MPI_Gather */
static int scalkit_reduce_by_reduce_scatter_block_gather(const void *send, void *receive, int count, MPI_Datatype type,
                                                         MPI_Op op, int root, MPI_Comm comm)
{
    int p, status;
    void *start = NULL, *own_start = NULL, *own = NULL;
    MPI_Comm_size(comm, &p);
    if (count % p != 0)
        return MPI_Reduce(send, receive, count, type, op, root, comm);
    int part = count / p;
    void *block = scalkit_room(part, type, comm, &start);
    if (send == MPI_IN_PLACE)
        own = scalkit_room(count, type, comm, &own_start);
    if (start == NULL || (send == MPI_IN_PLACE && own_start == NULL)) {
        status = MPI_ERR_NO_MEM;
    } else {
        if (own != NULL)
            scalkit_copy(receive, count, type, own, count, type);
        status = MPI_Reduce_scatter_block(own != NULL ? own : send, block, part, type, op, comm);
        if (status == MPI_SUCCESS)
            status = MPI_Gather(block, part, type, receive, part, type, root, comm);
    }
    free(own_start);
    free(start);
    return status;
}

/* section MPI_Reduce_scatter_block: MPI_Reduce, MPI_Scatter */
static int scalkit_reduce_scatter_block_by_reduce_scatter(const void *send, void *receive, int count, MPI_Datatype type,
                                                          MPI_Op op, MPI_Comm comm)
{
    int p, rank, status;
    void *start = NULL, *sum = NULL;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &rank);
    if (send == MPI_IN_PLACE || (long long)p * count > INT_MAX)
        return MPI_Reduce_scatter_block(send, receive, count, type, op, comm);
    if (rank == 0) {
        sum = scalkit_room((long long)p * count, type, comm, &start);
        if (sum == NULL)
            return MPI_ERR_NO_MEM;
    }
    status = MPI_Reduce(send, sum, p * count, type, op, 0, comm);
    if (status == MPI_SUCCESS)
        status = MPI_Scatter(sum, count, type, receive, count, type, 0, comm);
    free(start);
    return status;
}

/* section MPI_Scatter: MPI_Bcast */
static int scalkit_scatter_by_bcast(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                                    int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    int p, rank, status;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &rank);
    if (rank == root) {
        status = MPI_Bcast(scalkit_at(send, 0, send_type), p * send_count, send_type, root, comm);
        if (status == MPI_SUCCESS && receive != MPI_IN_PLACE)
            status = scalkit_copy(scalkit_at(send, (long long)rank * send_count, send_type), send_count, send_type,
                                  receive, receive_count, receive_type);
        return status;
    }
    void *start, *all = scalkit_room((long long)p * receive_count, receive_type, comm, &start);
    if (all == NULL)
        return MPI_ERR_NO_MEM;
    status = MPI_Bcast(all, p * receive_count, receive_type, root, comm);
    if (status == MPI_SUCCESS)
        status = scalkit_copy(scalkit_at(all, (long long)rank * receive_count, receive_type), receive_count, receive_type,
                              receive, receive_count, receive_type);
    free(start);
    return status;
}

/* section MPI_Scan: MPI_Exscan, MPI_Reduce_local */
static int scalkit_scan_by_exscan_reduce_local(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                                               MPI_Comm comm)
{
    int rank, commutes, status;
    void *start = NULL;
    const void *own = send;
    MPI_Op_commutative(op, &commutes);
    if (!commutes)
        return MPI_Scan(send, receive, count, type, op, comm);
    MPI_Comm_rank(comm, &rank);
    if (send == MPI_IN_PLACE) {
        void *room = scalkit_room(count, type, comm, &start);
        if (room == NULL)
            return MPI_ERR_NO_MEM;
        scalkit_copy(receive, count, type, room, count, type);
        own = room;
    }
    status = MPI_Exscan(own, receive, count, type, op, comm);
    if (status == MPI_SUCCESS)
        status = rank > 0 ? MPI_Reduce_local(own, receive, count, type, op)
                          : scalkit_copy(own, count, type, receive, count, type);
    free(start);
    return status;
}

/* section MPI_Neighbor_allgather: MPI_Neighbor_alltoall */
static int scalkit_neighbor_allgather_by_neighbor_alltoall(const void *send, int send_count, MPI_Datatype send_type,
                                                           void *receive, int receive_count, MPI_Datatype receive_type,
                                                           MPI_Comm comm)
{
    int sources, destinations, status = scalkit_degrees(comm, &sources, &destinations);
    void *start, *copies;
    if (status != MPI_SUCCESS)
        return status;
    copies = scalkit_room((long long)destinations * send_count, send_type, comm, &start);
    if (copies == NULL)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < destinations && status == MPI_SUCCESS; i++)
        status = scalkit_copy(send, send_count, send_type, scalkit_at(copies, (long long)i * send_count, send_type),
                              send_count, send_type);
    if (status == MPI_SUCCESS)
        status = MPI_Neighbor_alltoall(copies, send_count, send_type, receive, receive_count, receive_type, comm);
    free(start);
    return status;
}

/* section MPI_Neighbor_allgather: MPI_Neighbor_allgatherv */
static int scalkit_neighbor_allgather_by_neighbor_allgatherv(const void *send, int send_count, MPI_Datatype send_type,
                                                             void *receive, int receive_count,
                                                             MPI_Datatype receive_type, MPI_Comm comm)
{
    int sources, destinations, status = scalkit_degrees(comm, &sources, &destinations);
    if (status != MPI_SUCCESS)
        return status;
    int *counts = malloc((size_t)(2 * sources + 1) * sizeof *counts);
    if (counts == NULL) {
        MPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
        return MPI_ERR_NO_MEM;
    }
    for (int i = 0; i < sources; i++) {
        counts[i] = receive_count;
        counts[sources + i] = i * receive_count;
    }
    status = MPI_Neighbor_allgatherv(send, send_count, send_type, receive, counts, counts + sources, receive_type, comm);
    free(counts);
    return status;
}

/* section MPI_Neighbor_alltoall: MPI_Neighbor_alltoallv */
static int scalkit_neighbor_alltoall_by_neighbor_alltoallv(const void *send, int send_count, MPI_Datatype send_type,
                                                           void *receive, int receive_count, MPI_Datatype receive_type,
                                                           MPI_Comm comm)
{
    int sources, destinations, status = scalkit_degrees(comm, &sources, &destinations);
    if (status != MPI_SUCCESS)
        return status;
    int *to = malloc((size_t)(2 * (sources + destinations) + 1) * sizeof *to);
    if (to == NULL) {
        MPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
        return MPI_ERR_NO_MEM;
    }
    int *from = to + 2 * destinations;
    for (int i = 0; i < destinations; i++) {
        to[i] = send_count;
        to[destinations + i] = i * send_count;
    }
    for (int i = 0; i < sources; i++) {
        from[i] = receive_count;
        from[sources + i] = i * receive_count;
    }
    status = MPI_Neighbor_alltoallv(send, to, to + destinations, send_type, receive, from, from + sources, receive_type,
                                    comm);
    free(to);
    return status;
}

/* section MPI_Neighbor_alltoall: MPI_Neighbor_alltoallw */
static int scalkit_neighbor_alltoall_by_neighbor_alltoallw(const void *send, int send_count, MPI_Datatype send_type,
                                                           void *receive, int receive_count, MPI_Datatype receive_type,
                                                           MPI_Comm comm)
{
    int sources, destinations, status = scalkit_degrees(comm, &sources, &destinations);
    if (status != MPI_SUCCESS)
        return status;
    size_t all = (size_t)(sources + destinations) + 1;
    MPI_Aint lower, send_extent, receive_extent, *places = malloc(all * sizeof *places);
    MPI_Datatype *types = malloc(all * sizeof *types);
    int *counts = malloc(all * sizeof *counts);
    if (places == NULL || types == NULL || counts == NULL) {
        MPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
        status = MPI_ERR_NO_MEM;
    } else {
        MPI_Type_get_extent(send_type, &lower, &send_extent);
        MPI_Type_get_extent(receive_type, &lower, &receive_extent);
        for (int i = 0; i < sources + destinations; i++) {
            int is_sent = i < destinations, place = is_sent ? i : i - destinations;
            counts[i] = is_sent ? send_count : receive_count;
            types[i] = is_sent ? send_type : receive_type;
            places[i] = (MPI_Aint)place * counts[i] * (is_sent ? send_extent : receive_extent);
        }
        status = MPI_Neighbor_alltoallw(send, counts, places, types, receive, counts + destinations,
                                        places + destinations, types + destinations, comm);
    }
    free(counts);
    free(types);
    free(places);
    return status;
}

/* section MPI_Ineighbor_allgather: MPI_Neighbor_allgather */
static int scalkit_ineighbor_allgather_by_neighbor_allgather(const void *send, int send_count, MPI_Datatype send_type,
                                                             void *receive, int receive_count,
                                                             MPI_Datatype receive_type, MPI_Comm comm,
                                                             MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    return MPI_Neighbor_allgather(send, send_count, send_type, receive, receive_count, receive_type, comm);
}

/* section MPI_Ineighbor_alltoall: MPI_Neighbor_alltoall */
static int scalkit_ineighbor_alltoall_by_neighbor_alltoall(const void *send, int send_count, MPI_Datatype send_type,
                                                           void *receive, int receive_count, MPI_Datatype receive_type,
                                                           MPI_Comm comm, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    return MPI_Neighbor_alltoall(send, send_count, send_type, receive, receive_count, receive_type, comm);
}
