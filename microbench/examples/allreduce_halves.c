/* An allreduce on each of two halves of all processes at once, measured by
 *     scalkit measure --function microbench/examples/allreduce_halves.c -n 4,8,16
 *
 * Sub-communicators share the network: what they cost beyond an allreduce of half as many processes is contention. */
#include "scalkit.h"

#include <stdlib.h>

int allreduce_halves_setup(struct sk_call *call)
{
    MPI_Comm *half = malloc(sizeof *half);
    call->own = half;
    return half == NULL || MPI_Comm_split(call->comm, call->rank % 2, call->rank, half) != MPI_SUCCESS;
}

int allreduce_halves(struct sk_call *call)
{
    return MPI_Allreduce(call->send, call->receive, call->count, call->type, MPI_SUM, *(MPI_Comm *)call->own);
}

int allreduce_halves_teardown(struct sk_call *call)
{
    MPI_Comm_free(call->own);
    free(call->own);
    return 0;
}
