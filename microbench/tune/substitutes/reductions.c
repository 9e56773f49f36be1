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
    int part = count / p, rest = count % p;
    const void *given = send == MPI_IN_PLACE ? receive : send;
    void *start = NULL, *own = scalkit_at(receive, (long long)rank * part, type);
    void *sum = send == MPI_IN_PLACE ? scalkit_room(part, type, comm, &start) : own;
    if (sum == NULL)
        return MPI_ERR_NO_MEM;
    int status = MPI_Reduce_scatter_block(given, sum, part, type, op, comm);
    if (status == MPI_SUCCESS && sum != own)
        status = scalkit_copy(sum, part, type, own, part, type);
    free(start);
    if (status == MPI_SUCCESS)
        status = MPI_Allgather(MPI_IN_PLACE, part, type, receive, part, type, comm);
    if (status != MPI_SUCCESS || rest == 0)
        return status;
    void *last = scalkit_at(receive, count - rest, type);
    const void *from = send == MPI_IN_PLACE ? MPI_IN_PLACE : scalkit_at(send, count - rest, type);
    return MPI_Allreduce(from, last, rest, type, op, comm);
}

/* section MPI_Reduce: MPI_Allreduce */
static int scalkit_reduce_by_allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                                       int root, MPI_Comm comm)
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
    int part = count / p, rest = count % p;
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
        if (status == MPI_SUCCESS && rest > 0)
            status = MPI_Reduce(scalkit_at(own != NULL ? own : send, count - rest, type),
                                scalkit_at(receive, count - rest, type), rest, type, op, root, comm);
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

/* section MPI_Reduce_scatter_block: MPI_Reduce_scatter */
static int scalkit_reduce_scatter_block_by_reduce_scatter_regular(const void *send, void *receive, int count,
                                                                  MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int p;
    MPI_Comm_size(comm, &p);
    int *counts = scalkit_counts(p, count, comm);
    if (counts == NULL)
        return MPI_ERR_NO_MEM;
    int status = MPI_Reduce_scatter(send, receive, counts, type, op, comm);
    free(counts);
    return status;
}

/* section MPI_Reduce_scatter_block: MPI_Allreduce */
static int scalkit_reduce_scatter_block_by_allreduce(const void *send, void *receive, int count, MPI_Datatype type,
                                                     MPI_Op op, MPI_Comm comm)
{
    int p, rank;
    void *start;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &rank);
    if ((long long)p * count > INT_MAX)
        return MPI_Reduce_scatter_block(send, receive, count, type, op, comm);
    void *sum = scalkit_room((long long)p * count, type, comm, &start);
    if (sum == NULL)
        return MPI_ERR_NO_MEM;
    int status = MPI_Allreduce(send == MPI_IN_PLACE ? receive : send, sum, p * count, type, op, comm);
    if (status == MPI_SUCCESS)
        status = scalkit_copy(scalkit_at(sum, (long long)rank * count, type), count, type, receive, count, type);
    free(start);
    return status;
}
