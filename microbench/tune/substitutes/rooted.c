/* section MPI_Bcast: MPI_Scatter, MPI_Allgather */
static int scalkit_bcast_by_scatter_allgather(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int p, rank;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &rank);
    int part = count / p, rest = count % p;
    void *own = rank == root ? MPI_IN_PLACE : scalkit_at(buffer, (long long)rank * part, type);
    int status = MPI_Scatter(buffer, part, type, own, part, type, root, comm);
    if (status == MPI_SUCCESS)
        status = MPI_Allgather(MPI_IN_PLACE, part, type, buffer, part, type, comm);
    if (status == MPI_SUCCESS && rest > 0)
        status = MPI_Bcast(scalkit_at(buffer, count - rest, type), rest, type, root, comm);
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
        status = scalkit_copy(scalkit_at(all, (long long)rank * receive_count, receive_type), receive_count,
                              receive_type, receive, receive_count, receive_type);
    free(start);
    return status;
}

/* section MPI_Bcast: Bcast_allgatherv */
static int scalkit_bcast_by_bcast_allgatherv(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int p;
    MPI_Comm_size(comm, &p);
    int *counts = scalkit_counts(p, 0, comm);
    if (counts == NULL)
        return MPI_ERR_NO_MEM;
    counts[root] = count;
    int status = MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, counts, counts + p, type, comm);
    free(counts);
    return status;
}

/* section MPI_Gather: MPI_Gatherv */
static int scalkit_gather_by_gatherv(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                                     int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    int p, rank, *counts = NULL;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &rank);
    if (rank == root && (counts = scalkit_counts(p, receive_count, comm)) == NULL)
        return MPI_ERR_NO_MEM;
    const int *places = counts != NULL ? counts + p : NULL;
    int status = MPI_Gatherv(send, send_count, send_type, receive, counts, places, receive_type, root, comm);
    free(counts);
    return status;
}

/* section MPI_Gather: MPI_Reduce */
static int scalkit_gather_by_reduce(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                                    int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    int p, rank, status;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &rank);
    int is_inside = send == MPI_IN_PLACE, count = is_inside ? receive_count : send_count;
    MPI_Datatype type = is_inside ? receive_type : send_type;
    const void *own = is_inside ? scalkit_at(receive, (long long)rank * receive_count, receive_type) : send;
    long long all = p * scalkit_bytes(count, type);
    if (all > INT_MAX)
        return MPI_Gather(send, send_count, send_type, receive, receive_count, receive_type, root, comm);
    /* the sum has room of its own at the root: in place MPICH 4.0 ends in a segmentation fault, but at root 0 */
    char *blocks = scalkit_zeros(own, count, type, rank, rank == root ? 2 * p : p, comm);
    if (blocks == NULL)
        return MPI_ERR_NO_MEM;
    status = MPI_Reduce(blocks, blocks + all, (int)all, MPI_BYTE, MPI_BOR, root, comm);
    if (status == MPI_SUCCESS && rank == root)
        MPI_Sendrecv(blocks + all, (int)all, MPI_PACKED, 0, 0, receive, p * receive_count, receive_type, 0, 0,
                     MPI_COMM_SELF, MPI_STATUS_IGNORE);
    free(blocks);
    return status;
}

/* section MPI_Scatter: MPI_Scatterv */
static int scalkit_scatter_by_scatterv(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                                       int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    int p, rank, *counts = NULL;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &rank);
    if (rank == root && (counts = scalkit_counts(p, send_count, comm)) == NULL)
        return MPI_ERR_NO_MEM;
    const int *places = counts != NULL ? counts + p : NULL;
    int status = MPI_Scatterv(send, counts, places, send_type, receive, receive_count, receive_type, root, comm);
    free(counts);
    return status;
}
