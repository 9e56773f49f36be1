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
    if (scalkit_meets_twice(comm))
        return MPI_Ineighbor_alltoall(send, send_count, send_type, receive, receive_count, receive_type, comm, request);
    *request = MPI_REQUEST_NULL;
    return MPI_Neighbor_alltoall(send, send_count, send_type, receive, receive_count, receive_type, comm);
}
