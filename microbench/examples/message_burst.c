/* Messages that one process posts at once and another awaits at once, measured by
 *     scalkit measure --function microbench/examples/message_burst.c -n 2
 *
 * With T the time of one message, (burst - T)/(MESSAGES - 1) is the gap between two messages of LogGP where nobody
 * waits for the one before: what algorithms that post everything at once pay. */
#include "scalkit.h"

#include <stdlib.h>

enum { MESSAGES = 10, TAG = 5 };

int message_burst_setup(struct sk_call *call)
{
    call->own = malloc(MESSAGES * call->bytes);
    return call->own == NULL;
}

int message_burst(struct sk_call *call)
{
    MPI_Request requests[MESSAGES];
    if (call->size < 2 || call->rank > 1)
        return MPI_SUCCESS;
    for (int i = 0; i < MESSAGES; i++)
        if (call->rank == 0)
            MPI_Isend(call->send, call->count, call->type, 1, TAG, call->comm, &requests[i]);
        else
            MPI_Irecv((char *)call->own + (size_t)i * call->bytes, call->count, call->type, 0, TAG, call->comm,
                      &requests[i]);
    return MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
}

int message_burst_teardown(struct sk_call *call)
{
    free(call->own);
    return 0;
}
