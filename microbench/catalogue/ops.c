#include "catalogue/ops.h"

#include "base/options.h"
#include "ops/bandwidth.h"
#include "ops/creation.h"
#include "ops/in_place.h"
#include "ops/nonblocking.h"
#include "ops/persistent.h"
#include "ops/simple.h"
#include "ops/tree.h"
#include "rma/operations.h"
#include "rma/windows.h"
#include "subst/collectives.h"
#include "subst/modes.h"

#include <string.h>

enum { PING_TAG = 74 };

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

static int scatter(const void *operands)
{
    const struct sk_operands *x = operands;
    return MPI_Scatter(x->send, x->count, x->type, x->receive, x->count, x->type, 0, x->comm);
}

static int reduce_scatter(const void *operands)
{
    const struct sk_operands *x = operands;
    return MPI_Reduce_scatter(x->send, x->receive, x->counts, x->sum_type, MPI_SUM, x->comm);
}

static int reduce_scatter_block(const void *operands)
{
    const struct sk_operands *x = operands;
    return MPI_Reduce_scatter_block(x->send, x->receive, x->count, x->sum_type, MPI_SUM, x->comm);
}

static int scan(const void *operands)
{
    const struct sk_operands *x = operands;
    return MPI_Scan(x->send, x->receive, x->count, x->sum_type, MPI_SUM, x->comm);
}

static int exscan(const void *operands)
{
    const struct sk_operands *x = operands;
    return MPI_Exscan(x->send, x->receive, x->count, x->sum_type, MPI_SUM, x->comm);
}

/* Without communication: every process adds its own block onto what it has. */
static int reduce_local(const void *operands)
{
    const struct sk_operands *x = operands;
    return MPI_Reduce_local(x->send, x->receive, x->count, x->sum_type, MPI_SUM);
}

static int gatherv(const void *operands)
{
    const struct sk_operands *x = operands;
    return MPI_Gatherv(x->send, x->count, x->type, x->receive, x->counts, x->places, x->type, 0, x->comm);
}

static int scatterv(const void *operands)
{
    const struct sk_operands *x = operands;
    return MPI_Scatterv(x->send, x->counts, x->places, x->type, x->receive, x->count, x->type, 0, x->comm);
}

static int allgatherv(const void *operands)
{
    const struct sk_operands *x = operands;
    return MPI_Allgatherv(x->send, x->count, x->type, x->receive, x->counts, x->places, x->type, x->comm);
}

static int alltoallv(const void *operands)
{
    const struct sk_operands *x = operands;
    return MPI_Alltoallv(x->send, x->counts, x->places, x->type, x->receive, x->counts, x->places, x->type, x->comm);
}

/* One round trip between the first and the last process; the others have nothing to do. */
static int ping_pong(const void *operands)
{
    const struct sk_operands *x = operands;
    int last = x->size - 1, status = MPI_SUCCESS;
    if (last == 0)
        return MPI_Sendrecv(x->send, x->count, x->type, 0, PING_TAG, x->receive, x->count, x->type, 0, PING_TAG,
                            x->comm, MPI_STATUS_IGNORE);
    if (x->rank == 0) {
        status = MPI_Send(x->send, x->count, x->type, last, PING_TAG, x->comm);
        if (status == MPI_SUCCESS)
            status = MPI_Recv(x->receive, x->count, x->type, last, PING_TAG, x->comm, MPI_STATUS_IGNORE);
    } else if (x->rank == last) {
        status = MPI_Recv(x->receive, x->count, x->type, 0, PING_TAG, x->comm, MPI_STATUS_IGNORE);
        if (status == MPI_SUCCESS)
            status = MPI_Send(x->send, x->count, x->type, 0, PING_TAG, x->comm);
    }
    return status;
}

const struct sk_op sk_ops[SK_OPS] = {
#define SK_OP(id, name, function, flow, group) {name, function, flow, SK_##group, NULL, NULL},
#include "catalogue/ops.def"
#undef SK_OP
};

const char *const sk_op_group_names[SK_OP_GROUPS] = {"paper", "blocking", "nonblocking", "overlap", "point-to-point",
                                                     "bandwidth", "persistent", "partitioned", "in-place", "further",
                                                     "substitutes", "send-modes", "rma", "simple", "all"};

static bool belongs(const struct sk_op *op, int group)
{
    return group == SK_OWN || (int)op->group == group;
}

/* Adds those that are not there yet; returns how many there are then. */
static int add(int *found, int count, int index)
{
    for (int i = 0; i < count; i++)
        if (found[i] == index)
            return count;
    found[count] = index;
    return count + 1;
}

int sk_ops_choose(const struct sk_op *ops, int n, const char *text, int *found, char *why, size_t room)
{
    const char *names[SK_MOST_OPS + SK_OP_GROUPS];
    int words[SK_MOST_OPS + SK_OP_GROUPS], count = 0;
    for (int i = 0; i < n; i++)
        names[i] = ops[i].name;
    memcpy(names + n, sk_op_group_names, sizeof sk_op_group_names);
    int chosen = sk_options_choose("ops", text, names, n + SK_OP_GROUPS, words, why, room);
    for (int w = 0; w < chosen; w++)
        if (words[w] < n)
            count = add(found, count, words[w]);
        else
            for (int i = 0; i < n; i++)
                if (belongs(&ops[i], words[w] - n))
                    count = add(found, count, i);
    return chosen < 0 ? chosen : count;
}

int sk_op_call(const struct sk_op *op, const struct sk_operands *operands)
{
    return op->call(op->own ? op->own : operands);
}

bool sk_op_is_round_trip(const struct sk_op *op)
{
    bool keeps_requests = op->group == SK_PERSISTENT || op->group == SK_PARTITIONED;
    return op->group == SK_POINT_TO_POINT || (keeps_requests && op->flow == SK_FLOW_ENDS);
}

static const char *definition_of_window(enum sk_flow flow)
{
    switch (flow) {
    case SK_FLOW_WINDOW:
        return "64 messages of process 0 to p - 1, all on the way at once, from a common start to the end of the last "
               "process";
    case SK_FLOW_WINDOWS_BOTH_WAYS:
        return "64 messages each way between processes 1 and p - 1 (0 and 1 of two), all on the way at once, from a "
               "common start to the end of the last process";
    default:
        return "64 messages of each process of the first half to its partner in the second, all on the way at once, "
               "from a common start to the end of the last process";
    }
}

const char *sk_op_definition(const struct sk_op *op)
{
    switch (op->group) {
    case SK_NONBLOCKING: return "call and wait, from a common start to the end of the last process";
    case SK_OVERLAP:
        return "call, local work as long as call and wait, wait; from a common start to the end of the last process";
    case SK_BANDWIDTH: return definition_of_window(op->flow);
    case SK_PERSISTENT:
        return sk_op_is_round_trip(op)
                   ? "half of a round trip between processes 0 and p - 1, started and waited for with requests made "
                     "in the first call, from a common start to the end of the last process"
                   : "start and wait with a request made in the first call, from a common start to the end of the last "
                     "process";
    case SK_PARTITIONED:
        return "half of a round trip between processes 0 and p - 1 of messages of up to 8 partitions, with requests "
               "made in the first call, from a common start to the end of the last process";
    case SK_POINT_TO_POINT:
        return "half of a round trip between processes 0 and p - 1, from a common start to the end of the last process";
    case SK_SEND_MODES:
        return op->call == sk_exchange_sendrecv || op->call == sk_exchange_isend_irecv
                   ? "processes 0 and p - 1 send at once, from a common start to the end of the last process"
                   : "p - 1 tells 0 that it is ready, 0 sends, p - 1 sends back, from a common start to the end of "
                     "the last process";
    case SK_RMA:
        return op->flow == SK_FLOW_FETCH_AND_OP || op->flow == SK_FLOW_COMPARE_AND_SWAP
                   ? "process 0 works on one integer of 8 bytes of process p - 1, whatever the message size, and "
                     "completes it, from a common start to the end of the last process"
                   : "process 0 works on the memory of process p - 1 and completes it, from a common start to the end "
                     "of the last process";
    case SK_SIMPLE:
        return "1000 local calls one after the other on every process, from a common start to the end of the last "
               "process";
    case SK_FURTHER: return "made and freed, from a common start to the end of the last process";
    default: return "from a common start to the end of the last process";
    }
}
