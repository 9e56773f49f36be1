/* Receives that wait for other messages: the library must pass them before it finds the one that matches. */
#include "base/alloc.h"
#include "base/check.h"
#include "p2p/kinds.h"

void sk_queued_open(struct sk_pair *pair, int64_t queue)
{
    pair->queued = (int)queue;
    if (pair->leads) {
        sk_pair_await_nod(pair);
        return;
    }
    pair->requests = sk_alloc((size_t)queue * sizeof *pair->requests);
    for (int i = 0; i < pair->queued; i++)
        SK_MPI(MPI_Irecv(NULL, 0, MPI_BYTE, pair->other, SK_TAG_QUEUED + i % 1000, MPI_COMM_WORLD, &pair->requests[i]));
    sk_pair_nod(pair);
}

void sk_queued_close(struct sk_pair *pair)
{
    if (pair->leads) {
        for (int i = 0; i < pair->queued; i++)
            SK_MPI(MPI_Send(NULL, 0, MPI_BYTE, pair->other, SK_TAG_QUEUED + i % 1000, MPI_COMM_WORLD));
        return;
    }
    SK_MPI(MPI_Waitall(pair->queued, pair->requests, MPI_STATUSES_IGNORE));
    sk_free(pair->requests);
    pair->requests = NULL;
}
