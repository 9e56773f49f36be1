/* A broadcast whose root is another process in each launch, measured by
 *     SCALKIT_ROOT=3 scalkit measure --function microbench/examples/bcast_roots.c -n 8
 *
 * The root is $SCALKIT_ROOT modulo the number of processes, 0 if it is not set. */
#include "scalkit.h"

#include <stdlib.h>

int bcast_roots_setup(struct sk_call *call)
{
    const char *text = getenv("SCALKIT_ROOT");
    int *root = malloc(sizeof *root);
    call->own = root;
    if (root != NULL)
        *root = (int)(strtoul(text ? text : "0", NULL, 10) % (unsigned long)call->size);
    return root == NULL;
}

int bcast_roots(struct sk_call *call)
{
    return MPI_Bcast(call->receive, call->count, call->type, *(int *)call->own, call->comm);
}

int bcast_roots_teardown(struct sk_call *call)
{
    free(call->own);
    return 0;
}
