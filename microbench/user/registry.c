#include "user/registry.h"

#include "base/alloc.h"
#include "base/check.h"
#include "main/timing.h"

enum { MOST = 32 };

/* A function, what it is called with, and its name for messages. */
struct member { const struct sk_user *user; struct sk_call call; };

static struct member members[MOST];
static struct sk_op ops[MOST];
static int n_members;

static const char summary[] =
    "Measures functions of your own, from a common start to the last end over all processes.\n"
    "Start it with the mpiexec of the MPI library it was compiled with.";

void sk_user_add(const struct sk_user *user)
{
    SK_ASSERT(n_members < MOST);
    members[n_members++].user = user;
}

static void require_success(const struct member *member, const char *part, int status)
{
    if (status == 0)
        return;
    sk_say("%s%s returned %d on process %d; 0 means success", member->user->name, part, status, member->call.rank);
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

static int call_member(const void *own)
{
    struct member *member = (struct member *)own;
    int status = member->user->call(&member->call);
    if (status != 0)
        require_success(member, "", status);
    return MPI_SUCCESS;
}

static long check_member(const void *own)
{
    struct member *member = (struct member *)own;
    return member->user->check(&member->call);
}

static void open_members(const struct sk_operands *x)
{
    size_t bytes = (size_t)x->count * sk_datatype_bytes(x->datatype);
    for (int i = 0; i < n_members; i++) {
        struct sk_call *call = &members[i].call;
        *call = (struct sk_call){.rank = x->rank, .size = x->size, .bytes = bytes, .count = x->count,
                                 .type = x->sum_type};
        SK_MPI(PMPI_Comm_dup(x->comm, &call->comm));
        call->send = sk_alloc((size_t)x->size * bytes);
        call->receive = sk_alloc((size_t)x->size * bytes);
        if (members[i].user->setup)
            require_success(&members[i], "_setup", members[i].user->setup(call));
    }
}

static void close_members(void)
{
    for (int i = 0; i < n_members; i++) {
        struct sk_call *call = &members[i].call;
        if (members[i].user->teardown)
            require_success(&members[i], "_teardown", members[i].user->teardown(call));
        sk_free(call->send);
        sk_free(call->receive);
        SK_MPI(PMPI_Comm_free(&call->comm));
    }
}

int sk_functions_main(int argc, char **argv)
{
    for (int i = 0; i < n_members; i++)
        ops[i] = (struct sk_op){.name = members[i].user->name, .call = call_member, .group = SK_OWN,
                                .own = &members[i], .check = members[i].user->check ? check_member : NULL};
    const struct sk_suite suite = {.name = "sk_function", .summary = summary, .usual = "all", .ops = ops,
                                   .n_ops = n_members, .open = open_members, .close = close_members};
    return sk_timing(&suite, argc, argv);
}
