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

/* Whether a process of a grid is the neighbour of another one, or of itself, in both directions. MPICH 4.0 pairs
 * these two messages in one way in some calls, and in the other way in others. */
static inline int scalkit_meets_twice(MPI_Comm comm)
{
    int kind, n = 0, before, after;
    MPI_Topo_test(comm, &kind);
    if (kind == MPI_CART)
        MPI_Cartdim_get(comm, &n);
    for (int i = 0; i < n; i++) {
        MPI_Cart_shift(comm, i, 1, &before, &after);
        if (before == after && after != MPI_PROC_NULL)
            return 1;
    }
    return 0;
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
    status = MPI_Neighbor_allgatherv(send, send_count, send_type, receive, counts, counts + sources, receive_type,
                                     comm);
    free(counts);
    return status;
}

/* section MPI_Neighbor_alltoall: MPI_Neighbor_alltoallv */
static int scalkit_neighbor_alltoall_by_neighbor_alltoallv(const void *send, int send_count, MPI_Datatype send_type,
                                                           void *receive, int receive_count, MPI_Datatype receive_type,
                                                           MPI_Comm comm)
{
    if (scalkit_meets_twice(comm))
        return MPI_Neighbor_alltoall(send, send_count, send_type, receive, receive_count, receive_type, comm);
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
    if (scalkit_meets_twice(comm))
        return MPI_Neighbor_alltoall(send, send_count, send_type, receive, receive_count, receive_type, comm);
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
