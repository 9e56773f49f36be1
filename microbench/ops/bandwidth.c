#include "ops/bandwidth.h"

enum { TAG = 79 };

int64_t sk_window_messages(enum sk_flow flow, int size)
{
    int64_t senders = 0;
    for (int rank = 0; rank < size; rank++)
        senders += sk_stream_of(flow, rank, size).to >= 0;
    return senders * SK_WINDOW_MESSAGES;
}

/* Each message has a block of its own on the receiver; the sender's block is read by all. */
static int window(const struct sk_operands *x, enum sk_flow flow)
{
    struct sk_stream stream = sk_stream_of(flow, x->rank, x->size);
    MPI_Request requests[2 * SK_WINDOW_MESSAGES];
    int n = 0, status = MPI_SUCCESS;
    size_t bytes = (size_t)x->count * sk_datatype_bytes(x->datatype);
    for (int i = 0; i < SK_WINDOW_MESSAGES && stream.from >= 0 && status == MPI_SUCCESS; i++)
        status = MPI_Irecv((char *)x->receive + (size_t)i * bytes, x->count, x->type, stream.from, TAG, x->comm,
                           &requests[n++]);
    for (int i = 0; i < SK_WINDOW_MESSAGES && stream.to >= 0 && status == MPI_SUCCESS; i++)
        status = MPI_Isend(x->send, x->count, x->type, stream.to, TAG, x->comm, &requests[n++]);
    return status == MPI_SUCCESS && n > 0 ? MPI_Waitall(n, requests, MPI_STATUSES_IGNORE) : status;
}

int sk_window_one_way(const void *operands)
{
    return window(operands, SK_FLOW_WINDOW);
}

int sk_window_both_ways(const void *operands)
{
    return window(operands, SK_FLOW_WINDOWS_BOTH_WAYS);
}

int sk_window_pairs(const void *operands)
{
    return window(operands, SK_FLOW_WINDOWS_OF_PAIRS);
}
