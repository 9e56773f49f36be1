#include "subst/modes.h"

#include "base/alloc.h"
#include "ops/data.h"

enum { TAG = 75, READY_TAG = 76, MESSAGES = 4 }; /* so many may still be in the buffer */

typedef int (*sending)(const struct sk_operands *x, int to);

static char *buffer; /* of MPI_Bsend and MPI_Ibsend */
static int attached; /* its bytes */

static int detach(void)
{
    void *old;
    int size, status = attached > 0 ? PMPI_Buffer_detach(&old, &size) : MPI_SUCCESS;
    sk_free(buffer);
    buffer = NULL;
    attached = 0;
    return status;
}

/* MPI_Finalize calls it first, while messages may still leave the buffer. */
static int detach_in_time(MPI_Comm self, int key, void *value, void *state)
{
    (void)self, (void)key, (void)value, (void)state;
    return detach();
}

static int detach_at_the_end(void)
{
    static int key = MPI_KEYVAL_INVALID;
    if (key != MPI_KEYVAL_INVALID)
        return MPI_SUCCESS;
    int status = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, detach_in_time, &key, NULL);
    return status == MPI_SUCCESS ? PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL) : status;
}

/* Sees to a buffer that is large enough for the blocks. */
static int attach(const struct sk_operands *x)
{
    int packed = 0, status = PMPI_Pack_size(x->count, x->type, x->comm, &packed);
    int needed = MESSAGES * (packed + MPI_BSEND_OVERHEAD);
    if (status != MPI_SUCCESS || needed <= attached)
        return status;
    status = detach();
    if (status == MPI_SUCCESS)
        status = detach_at_the_end();
    if (status != MPI_SUCCESS)
        return status;
    buffer = sk_alloc((size_t)needed);
    attached = needed;
    return PMPI_Buffer_attach(buffer, needed);
}

/* The last process posts its receive and says so; then process 0 posts its own and sends, and the last one sends when
 * it has that block. The others have nothing to do; a process alone sends to itself. */
static int round_trip(const struct sk_operands *x, sending sends, int source, int tag)
{
    int last = x->size - 1, other = last - x->rank, status = MPI_SUCCESS;
    MPI_Request receive = MPI_REQUEST_NULL;
    if (x->rank != 0 && x->rank != last)
        return MPI_SUCCESS;
    if (x->rank == 0 && last > 0) /* before a receive with a wildcard is there to take it */
        status = PMPI_Recv(NULL, 0, MPI_BYTE, last, READY_TAG, x->comm, MPI_STATUS_IGNORE);
    int from = source == MPI_ANY_SOURCE ? source : other;
    if (status == MPI_SUCCESS)
        status = MPI_Irecv(x->receive, x->count, x->type, from, tag, x->comm, &receive);
    if (status == MPI_SUCCESS && x->rank > 0)
        status = PMPI_Send(NULL, 0, MPI_BYTE, 0, READY_TAG, x->comm);
    if (status == MPI_SUCCESS && x->rank > 0)
        status = MPI_Wait(&receive, MPI_STATUS_IGNORE);
    if (status == MPI_SUCCESS)
        status = sends(x, other);
    return status == MPI_SUCCESS && x->rank == 0 ? MPI_Wait(&receive, MPI_STATUS_IGNORE) : status;
}

#define SK_BLOCKING_MODE(name, function)                                                                               \
    static int name##_to(const struct sk_operands *x, int to)                                                          \
    {                                                                                                                  \
        return function(x->send, x->count, x->type, to, TAG, x->comm);                                                 \
    }                                                                                                                  \
                                                                                                                       \
    int sk_mode_##name(const void *operands)                                                                           \
    {                                                                                                                  \
        return round_trip(operands, name##_to, 0, TAG);                                                                \
    }

#define SK_NONBLOCKING_MODE(name, function)                                                                            \
    static int name##_to(const struct sk_operands *x, int to)                                                          \
    {                                                                                                                  \
        MPI_Request request = MPI_REQUEST_NULL;                                                                        \
        int status = function(x->send, x->count, x->type, to, TAG, x->comm, &request);                                 \
        return status == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : status;                                 \
    }                                                                                                                  \
                                                                                                                       \
    int sk_mode_##name(const void *operands)                                                                           \
    {                                                                                                                  \
        return round_trip(operands, name##_to, 0, TAG);                                                                \
    }

SK_BLOCKING_MODE(send, MPI_Send)
SK_BLOCKING_MODE(ssend, MPI_Ssend)
SK_BLOCKING_MODE(rsend, MPI_Rsend)
SK_NONBLOCKING_MODE(isend, MPI_Isend)
SK_NONBLOCKING_MODE(issend, MPI_Issend)
SK_NONBLOCKING_MODE(irsend, MPI_Irsend)

static int bsend_to(const struct sk_operands *x, int to)
{
    return MPI_Bsend(x->send, x->count, x->type, to, TAG, x->comm);
}

static int ibsend_to(const struct sk_operands *x, int to)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int status = MPI_Ibsend(x->send, x->count, x->type, to, TAG, x->comm, &request);
    return status == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : status;
}

int sk_mode_bsend(const void *operands)
{
    int status = attach(operands);
    return status == MPI_SUCCESS ? round_trip(operands, bsend_to, 0, TAG) : status;
}

int sk_mode_ibsend(const void *operands)
{
    int status = attach(operands);
    return status == MPI_SUCCESS ? round_trip(operands, ibsend_to, 0, TAG) : status;
}

int sk_mode_recv(const void *operands)
{
    return round_trip(operands, send_to, 0, TAG);
}

int sk_mode_recv_any_source(const void *operands)
{
    return round_trip(operands, send_to, MPI_ANY_SOURCE, TAG);
}

int sk_mode_recv_any_tag(const void *operands)
{
    return round_trip(operands, send_to, 0, MPI_ANY_TAG);
}

int sk_exchange_sendrecv(const void *operands)
{
    const struct sk_operands *x = operands;
    int last = x->size - 1, other = last - x->rank;
    if (x->rank != 0 && x->rank != last)
        return MPI_SUCCESS;
    return MPI_Sendrecv(x->send, x->count, x->type, other, TAG, x->receive, x->count, x->type, other, TAG, x->comm,
                        MPI_STATUS_IGNORE);
}

int sk_exchange_isend_irecv(const void *operands)
{
    const struct sk_operands *x = operands;
    int last = x->size - 1, other = last - x->rank;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (x->rank != 0 && x->rank != last)
        return MPI_SUCCESS;
    int status = MPI_Irecv(x->receive, x->count, x->type, other, TAG, x->comm, &requests[0]);
    if (status == MPI_SUCCESS)
        status = MPI_Isend(x->send, x->count, x->type, other, TAG, x->comm, &requests[1]);
    return status == MPI_SUCCESS ? MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) : status;
}
