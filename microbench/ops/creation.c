#include "ops/creation.h"

#include "ops/data.h"

#include <stdbool.h>

/* Frees a communicator that must have as many processes as the old one. */
static int freed(MPI_Comm *made, const struct sk_operands *x, int status)
{
    int size = 0;
    if (status != MPI_SUCCESS)
        return status;
    status = MPI_Comm_size(*made, &size);
    int after = MPI_Comm_free(made);
    if (status == MPI_SUCCESS && size != x->size)
        status = MPI_ERR_OTHER;
    return status != MPI_SUCCESS ? status : after;
}

int sk_comm_split(const void *operands)
{
    const struct sk_operands *x = operands;
    MPI_Comm made;
    return freed(&made, x, MPI_Comm_split(x->comm, 0, x->rank, &made));
}

int sk_dist_graph_create(const void *operands)
{
    const struct sk_operands *x = operands;
    int after = (x->rank + 1) % x->size, one = 1;
    MPI_Comm made;
    return freed(&made, x,
                 MPI_Dist_graph_create(x->comm, 1, &x->rank, &one, &after, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
}

int sk_dist_graph_create_adjacent(const void *operands)
{
    const struct sk_operands *x = operands;
    int after = (x->rank + 1) % x->size, before = (x->rank + x->size - 1) % x->size;
    MPI_Comm made;
    return freed(&made, x,
                 MPI_Dist_graph_create_adjacent(x->comm, 1, &before, MPI_UNWEIGHTED, 1, &after, MPI_UNWEIGHTED,
                                                MPI_INFO_NULL, 0, &made));
}

int sk_win_allocate(const void *operands)
{
    const struct sk_operands *x = operands;
    MPI_Aint bytes = (MPI_Aint)((size_t)x->count * sk_datatype_bytes(x->datatype));
    void *exposed = NULL;
    MPI_Win made;
    int status = MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, x->comm, &exposed, &made);
    if (status != MPI_SUCCESS)
        return status;
    bool is_there = exposed != NULL || bytes == 0;
    status = MPI_Win_free(&made);
    return is_there ? status : MPI_ERR_OTHER;
}
