#include "ops/creation.h"

#include "ops/data.h"

#include <stdbool.h>
#include <stddef.h>

/* The mark of edges without weights. Some libraries have a small number there, which a compiler that saw it would take
 * for the address of an array and warn of. */
static int *unweighted(void)
{
    static int *volatile kept;
    kept = MPI_UNWEIGHTED;
    return kept;
}

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

static MPI_Aint block_bytes(const struct sk_operands *x)
{
    return (MPI_Aint)((size_t)x->count * sk_datatype_bytes(x->datatype));
}

int sk_comm_create(const void *operands)
{
    const struct sk_operands *x = operands;
    MPI_Group all;
    MPI_Comm made;
    int status = PMPI_Comm_group(x->comm, &all);
    if (status != MPI_SUCCESS)
        return status;
    status = freed(&made, x, MPI_Comm_create(x->comm, all, &made));
    int after = PMPI_Group_free(&all);
    return status != MPI_SUCCESS ? status : after;
}

int sk_comm_dup(const void *operands)
{
    const struct sk_operands *x = operands;
    MPI_Comm made;
    return freed(&made, x, MPI_Comm_dup(x->comm, &made));
}

int sk_comm_split(const void *operands)
{
    const struct sk_operands *x = operands;
    MPI_Comm made;
    return freed(&made, x, MPI_Comm_split(x->comm, 0, x->rank, &made));
}

int sk_cart_create(const void *operands)
{
    const struct sk_operands *x = operands;
    const int periods[2] = {1, 1};
    MPI_Comm made;
    return freed(&made, x, MPI_Cart_create(x->comm, 2, x->grid, periods, 0, &made));
}

int sk_dist_graph_create(const void *operands)
{
    const struct sk_operands *x = operands;
    int after = (x->rank + 1) % x->size, one = 1;
    MPI_Comm made;
    return freed(&made, x,
                 MPI_Dist_graph_create(x->comm, 1, &x->rank, &one, &after, unweighted(), MPI_INFO_NULL, 0, &made));
}

int sk_dist_graph_create_adjacent(const void *operands)
{
    const struct sk_operands *x = operands;
    int after = (x->rank + 1) % x->size, before = (x->rank + x->size - 1) % x->size;
    MPI_Comm made;
    return freed(&made, x,
                 MPI_Dist_graph_create_adjacent(x->comm, 1, &before, unweighted(), 1, &after, unweighted(),
                                                MPI_INFO_NULL, 0, &made));
}

int sk_win_create(const void *operands)
{
    const struct sk_operands *x = operands;
    void *exposed = NULL;
    int known = 0;
    MPI_Win made;
    int status = MPI_Win_create(x->receive, block_bytes(x), 1, MPI_INFO_NULL, x->comm, &made);
    if (status != MPI_SUCCESS)
        return status;
    status = PMPI_Win_get_attr(made, MPI_WIN_BASE, &exposed, &known);
    int after = MPI_Win_free(&made);
    if (status == MPI_SUCCESS && (!known || exposed != x->receive))
        status = MPI_ERR_OTHER;
    return status != MPI_SUCCESS ? status : after;
}

int sk_win_allocate(const void *operands)
{
    const struct sk_operands *x = operands;
    MPI_Aint bytes = block_bytes(x);
    void *exposed = NULL;
    MPI_Win made;
    int status = MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, x->comm, &exposed, &made);
    if (status != MPI_SUCCESS)
        return status;
    bool is_there = exposed != NULL || bytes == 0;
    status = MPI_Win_free(&made);
    return is_there ? status : MPI_ERR_OTHER;
}
