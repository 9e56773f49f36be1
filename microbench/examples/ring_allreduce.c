/* An allreduce of one's own, measured by   scalkit measure --function microbench/examples/ring_allreduce.c -n 2,4,8
 *
 * The sum travels once around the ring, then the result: 2 (p - 1) messages one after the other: p is expected. */
#include "scalkit.h"

#include <stdlib.h>
#include <string.h>

enum { TAG = 1 };

/* Adds what stands in `from` to `to`. */
static int add(struct sk_call *call, void *from, void *to)
{
    return MPI_Reduce_local(from, to, call->count, call->type, MPI_SUM);
}

int ring_allreduce_setup(struct sk_call *call)
{
    memset(call->send, 1, call->bytes); /* every byte 1 */
    call->own = malloc(call->bytes);    /* room for a message */
    return call->own == NULL;
}

int ring_allreduce(struct sk_call *call)
{
    int before = (call->rank - 1 + call->size) % call->size, after = (call->rank + 1) % call->size;
    int last = call->size - 1;
    memcpy(call->receive, call->send, call->bytes);
    if (call->size == 1)
        return MPI_SUCCESS;
    if (call->rank > 0) { /* the sum of all before me */
        MPI_Recv(call->own, call->count, call->type, before, TAG, call->comm, MPI_STATUS_IGNORE);
        add(call, call->own, call->receive);
    }
    MPI_Send(call->receive, call->count, call->type, after, TAG, call->comm);
    if (call->rank < last) { /* the result, from the last to all others */
        MPI_Recv(call->receive, call->count, call->type, before, TAG, call->comm, MPI_STATUS_IGNORE);
        if (call->rank < last - 1)
            MPI_Send(call->receive, call->count, call->type, after, TAG, call->comm);
    }
    return MPI_SUCCESS;
}

/* Adds 1 to each byte for each process: with --datatype byte all bytes are the number of processes. */
long ring_allreduce_check(struct sk_call *call)
{
    long wrong = 0;
    for (size_t i = 0; call->type == MPI_UINT8_T && i < call->bytes; i++)
        wrong += ((unsigned char *)call->receive)[i] != call->size % 256;
    return wrong;
}

int ring_allreduce_teardown(struct sk_call *call)
{
    free(call->own);
    return 0;
}
