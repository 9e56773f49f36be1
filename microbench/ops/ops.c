#include "ops/ops.h"

#include "ops/tree.h"

static int barrier(const void *operands)
{
    const struct sk_operands *x = operands;
    return MPI_Barrier(x->comm);
}

static int bcast(const void *operands)
{
    const struct sk_operands *x = operands;
    return MPI_Bcast(x->receive, x->count, x->type, 0, x->comm);
}

static int reduce(const void *operands)
{
    const struct sk_operands *x = operands;
    return MPI_Reduce(x->send, x->receive, x->count, x->sum_type, MPI_SUM, 0, x->comm);
}

static int allreduce(const void *operands)
{
    const struct sk_operands *x = operands;
    return MPI_Allreduce(x->send, x->receive, x->count, x->sum_type, MPI_SUM, x->comm);
}

static int gather(const void *operands)
{
    const struct sk_operands *x = operands;
    return MPI_Gather(x->send, x->count, x->type, x->receive, x->count, x->type, 0, x->comm);
}

static int allgather(const void *operands)
{
    const struct sk_operands *x = operands;
    return MPI_Allgather(x->send, x->count, x->type, x->receive, x->count, x->type, x->comm);
}

static int alltoall(const void *operands)
{
    const struct sk_operands *x = operands;
    return MPI_Alltoall(x->send, x->count, x->type, x->receive, x->count, x->type, x->comm);
}

static int bcast_binary_tree(const void *operands)
{
    const struct sk_operands *x = operands;
    return sk_tree_bcast(x->receive, x->count, x->type, x->comm, x->rank, x->size);
}

const struct sk_op sk_ops[SK_OPS] = {
#define SK_OP(id, name, function, flow) {name, function, flow},
#include "ops/ops.def"
#undef SK_OP
};

const char *const sk_op_names[SK_OPS] = {
#define SK_OP(id, name, function, flow) name,
#include "ops/ops.def"
#undef SK_OP
};
