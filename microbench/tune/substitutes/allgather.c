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

/* section MPI_Allgather: MPI_Allgatherv */
static int scalkit_allgather_by_allgatherv(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                                           int receive_count, MPI_Datatype receive_type, MPI_Comm comm)
{
    int p;
    MPI_Comm_size(comm, &p);
    int *counts = scalkit_counts(p, receive_count, comm);
    if (counts == NULL)
        return MPI_ERR_NO_MEM;
    int status = MPI_Allgatherv(send, send_count, send_type, receive, counts, counts + p, receive_type, comm);
    free(counts);
    return status;
}

/* section MPI_Allgather: MPI_Allreduce */
static int scalkit_allgather_by_allreduce(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                                          int receive_count, MPI_Datatype receive_type, MPI_Comm comm)
{
    int p, rank, status;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &rank);
    int is_inside = send == MPI_IN_PLACE, count = is_inside ? receive_count : send_count;
    MPI_Datatype type = is_inside ? receive_type : send_type;
    const void *own = is_inside ? scalkit_at(receive, (long long)rank * receive_count, receive_type) : send;
    long long all = p * scalkit_bytes(count, type);
    if (all > INT_MAX)
        return MPI_Allgather(send, send_count, send_type, receive, receive_count, receive_type, comm);
    char *blocks = scalkit_zeros(own, count, type, rank, p, comm);
    if (blocks == NULL)
        return MPI_ERR_NO_MEM;
    status = MPI_Allreduce(MPI_IN_PLACE, blocks, (int)all, MPI_BYTE, MPI_BOR, comm);
    if (status == MPI_SUCCESS)
        MPI_Sendrecv(blocks, (int)all, MPI_PACKED, 0, 0, receive, p * receive_count, receive_type, 0, 0,
                     MPI_COMM_SELF, MPI_STATUS_IGNORE);
    free(blocks);
    return status;
}

/* section MPI_Alltoall: MPI_Alltoallv */
static int scalkit_alltoall_by_alltoallv(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                                         int receive_count, MPI_Datatype receive_type, MPI_Comm comm)
{
    int p;
    MPI_Comm_size(comm, &p);
    int *to = scalkit_counts(p, send == MPI_IN_PLACE ? receive_count : send_count, comm);
    int *from = to != NULL ? scalkit_counts(p, receive_count, comm) : NULL;
    int status = MPI_ERR_NO_MEM;
    if (from != NULL)
        status = MPI_Alltoallv(send, to, to + p, send_type, receive, from, from + p, receive_type, comm);
    free(from);
    free(to);
    return status;
}
