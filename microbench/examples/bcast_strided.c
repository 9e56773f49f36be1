/* A broadcast of scattered data, numbers of eight bytes of which every second one is sent, measured by
 *     scalkit measure --function microbench/examples/bcast_strided.c -n 2,4,8
 *
 * What it costs beyond MPI_Bcast of as many bytes is packing and unpacking. Every $SCALKIT_STRIDE-th number is sent,
 * every second one if that is not set. --size must be a multiple of 8. */
#include "scalkit.h"

#include <stdlib.h>

enum { BLOCK = 8, MOST = 1024 };

struct strided {
    MPI_Datatype type;
    char *data;
};

int bcast_strided_setup(struct sk_call *call)
{
    struct strided *own = malloc(sizeof *own);
    const char *text = getenv("SCALKIT_STRIDE");
    unsigned long stride = strtoul(text ? text : "2", NULL, 10);
    call->own = own;
    if (own == NULL || call->bytes % BLOCK || stride < 1 || stride > MOST)
        return 1;
    own->data = calloc(stride, call->bytes);
    if (own->data == NULL || MPI_Type_vector((int)(call->bytes / BLOCK), 1, (int)stride, MPI_DOUBLE, &own->type))
        return 1;
    return MPI_Type_commit(&own->type);
}

int bcast_strided(struct sk_call *call)
{
    struct strided *own = call->own;
    return MPI_Bcast(own->data, 1, own->type, 0, call->comm);
}

int bcast_strided_teardown(struct sk_call *call)
{
    struct strided *own = call->own;
    MPI_Type_free(&own->type);
    free(own->data);
    free(own);
    return 0;
}
