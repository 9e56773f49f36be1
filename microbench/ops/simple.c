#include "ops/simple.h"

#include "ops/data.h"

enum { TAG = 78 }; /* which no message has */

int sk_simple_wtime(const void *operands)
{
    (void)operands;
    double last = 0;
    for (int i = 0; i < SK_SIMPLE_CALLS; i++) {
        double now = MPI_Wtime();
        if (now < last)
            return MPI_ERR_OTHER;
        last = now;
    }
    return MPI_SUCCESS;
}

int sk_simple_comm_rank(const void *operands)
{
    const struct sk_operands *x = operands;
    for (int i = 0; i < SK_SIMPLE_CALLS; i++) {
        int rank = -1, status = MPI_Comm_rank(x->comm, &rank);
        if (status != MPI_SUCCESS || rank != x->rank)
            return status != MPI_SUCCESS ? status : MPI_ERR_OTHER;
    }
    return MPI_SUCCESS;
}

int sk_simple_comm_group(const void *operands)
{
    const struct sk_operands *x = operands;
    for (int i = 0; i < SK_SIMPLE_CALLS; i++) {
        MPI_Group group = MPI_GROUP_NULL;
        int status = MPI_Comm_group(x->comm, &group);
        if (status == MPI_SUCCESS)
            status = MPI_Group_free(&group);
        if (status != MPI_SUCCESS)
            return status;
    }
    return MPI_SUCCESS;
}

int sk_simple_type_size(const void *operands)
{
    const struct sk_operands *x = operands;
    int expected = (int)sk_datatype_bytes(x->datatype);
    for (int i = 0; i < SK_SIMPLE_CALLS; i++) {
        int bytes = 0, status = MPI_Type_size(x->type, &bytes);
        if (status != MPI_SUCCESS || bytes != expected)
            return status != MPI_SUCCESS ? status : MPI_ERR_OTHER;
    }
    return MPI_SUCCESS;
}

int sk_simple_type_vector(const void *operands)
{
    const struct sk_operands *x = operands;
    for (int i = 0; i < SK_SIMPLE_CALLS; i++) {
        MPI_Datatype made = MPI_DATATYPE_NULL;
        int status = MPI_Type_vector((x->count + 1) / 2, 1, 2, x->type, &made);
        if (status == MPI_SUCCESS)
            status = MPI_Type_commit(&made);
        if (status == MPI_SUCCESS)
            status = MPI_Type_free(&made);
        if (status != MPI_SUCCESS)
            return status;
    }
    return MPI_SUCCESS;
}

int sk_simple_iprobe(const void *operands)
{
    const struct sk_operands *x = operands;
    for (int i = 0; i < SK_SIMPLE_CALLS; i++) {
        int there = 1, status = MPI_Iprobe(MPI_ANY_SOURCE, TAG, x->comm, &there, MPI_STATUS_IGNORE);
        if (status != MPI_SUCCESS || there)
            return status != MPI_SUCCESS ? status : MPI_ERR_OTHER;
    }
    return MPI_SUCCESS;
}
