#include "nbh/calls.h"

#include "base/alloc.h"
#include "base/check.h"
#include "ops/work.h"

#include <stdio.h>
#include <string.h>

/* After a call that returned at once: work, and the wait. */
static int finished(struct sk_call_data *x, int status)
{
    if (x->work > 0)
        sk_work(x->work);
    return status == MPI_SUCCESS ? MPI_Wait(&x->request, MPI_STATUS_IGNORE) : status;
}

static int made(struct sk_call_data *x, enum sk_constructor constructor)
{
    (void)constructor; /* that of the plan */
    return sk_plan_make(x->plan, &x->made[x->n_made++]);
}

static int worked(const struct sk_call_data *x)
{
    sk_work(x->work);
    return MPI_SUCCESS;
}

/* sk_call takes what it works on as constant; a request and new communicators are kept there nevertheless. */
#define SK_NBH(id, name, kind, call)                                                                                   \
    static int call_##id(const void *operands)                                                                         \
    {                                                                                                                  \
        struct sk_call_data *x = (struct sk_call_data *)operands;                                                      \
        return call;                                                                                                   \
    }
#include "nbh/operations.def"
#undef SK_NBH

const sk_call sk_nbh_calls[SK_NBH_OPS] = {
#define SK_NBH(id, name, kind, call) call_##id,
#include "nbh/operations.def"
#undef SK_NBH
};

static bool copies_one_block(enum sk_nbh_kind kind)
{
    return kind == SK_NBH_GATHER || kind == SK_NBH_IGATHER || kind == SK_NBH_ALL_GATHER;
}

static void place_blocks(struct sk_call_data *data, int n)
{
    size_t room = (size_t)n;
    data->counts = sk_alloc(room * sizeof(int));
    data->places = sk_alloc(room * sizeof(int));
    data->distances = sk_alloc(room * sizeof(int));
    data->addresses = sk_alloc(room * sizeof(MPI_Aint));
    data->types = sk_alloc(room * sizeof(MPI_Datatype));
    for (int i = 0; i < n; i++) {
        data->counts[i] = data->count;
        data->places[i] = i * data->count;
        data->distances[i] = i * (int)data->block;
        data->addresses[i] = i * (MPI_Aint)data->block;
        data->types[i] = data->type;
    }
}

struct sk_call_data sk_call_data_new(const struct sk_experiment *x, const struct sk_plan *plan, MPI_Comm comm,
                                     int n_in, int n_out)
{
    const MPI_Datatype types[SK_DATATYPES] = {MPI_BYTE, MPI_INT, MPI_DOUBLE};
    struct sk_call_data data = {.comm = comm, .n_out = n_out, .n_in = n_in, .plan = plan, .work = x->work,
                                .type = types[x->datatype], .block = (size_t)x->size, .request = MPI_REQUEST_NULL};
    data.count = (int)(x->size / (int64_t)sk_datatype_bytes(x->datatype));
    int blocks = copies_one_block(sk_nbh_kinds[x->op]) ? 1 : n_out;
    data.send = sk_alloc((size_t)blocks * data.block);
    data.receive = sk_alloc((size_t)n_in * data.block);
    place_blocks(&data, n_in > n_out ? n_in : n_out);
    return data;
}

void sk_call_data_drop(struct sk_call_data *data)
{
    for (int i = 0; i < data->n_made; i++)
        if (data->made[i] != MPI_COMM_NULL)
            SK_MPI(PMPI_Comm_free(&data->made[i]));
    data->n_made = 0;
}

void sk_call_data_free(struct sk_call_data *data)
{
    sk_free(data->send);
    sk_free(data->receive);
    sk_free(data->counts);
    sk_free(data->places);
    sk_free(data->distances);
    sk_free(data->addresses);
    sk_free(data->types);
}

/* Byte `i` of the block that one process has for another: with up to 251 of them the first byte tells all apart. */
static unsigned char known(int from, int to, size_t i)
{
    unsigned a = (unsigned)from, b = (unsigned)to;
    if (i % 2) {
        a = a / 251 + 3 * a;
        b = b / 251 + 5 * b;
    }
    return (unsigned char)((31 * (a % 251) + 17 * (b % 251) + 7 * (i % 251)) % 251 + 1);
}

/* Blocks for the same process are alike, so it does not matter which of them comes first. */
static void fill(struct sk_call_data *data, bool is_copied, int rank, const int *destinations)
{
    int blocks = is_copied ? 1 : data->n_out;
    for (int k = 0; k < blocks; k++)
        for (size_t i = 0; i < data->block; i++)
            data->send[(size_t)k * data->block + i] = known(rank, is_copied ? 0 : destinations[k], i);
    memset(data->receive, 0, (size_t)data->n_in * data->block);
}

/* Returns the first block that is wrong, -1 if none is. What has no source must have been left alone. */
static int first_wrong(const struct sk_call_data *data, bool is_copied, int rank, const int *sources)
{
    for (int k = 0; k < data->n_in; k++)
        for (size_t i = 0; i < data->block; i++) {
            unsigned char expected = sources[k] < 0 ? 0 : known(sources[k], is_copied ? 0 : rank, i);
            if (data->receive[(size_t)k * data->block + i] != expected)
                return k;
        }
    return -1;
}

bool sk_call_is_right(enum sk_nbh_op op, struct sk_call_data *data, const int *sources, const int *destinations,
                      const struct sk_world *world, char *why, size_t room)
{
    bool is_copied = copies_one_block(sk_nbh_kinds[op]);
    int rank;
    SK_MPI(PMPI_Comm_rank(data->comm, &rank));
    fill(data, is_copied, rank, destinations);
    SK_MPI(PMPI_Barrier(world->harness));
    SK_MPI(sk_nbh_calls[op](data));
    int wrong = first_wrong(data, is_copied, rank, sources);
    if (wrong >= 0)
        snprintf(why, room, "on process %d block %d, from process %d, is wrong", rank, wrong, sources[wrong]);
    return sk_all_agree(wrong < 0, world, why, room);
}
