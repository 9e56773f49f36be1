#include "ops/persistent.h"

#include "base/check.h"
#include "ops/data.h"
#include "ops/mpi4.h"

enum { TAG = 80, MOST_PARTITIONS = 8 };

enum collective {
#define SK_PERSISTENT(stem, call) OF_##stem,
#include "ops/persistent.def"
#undef SK_PERSISTENT
    COLLECTIVES
};

struct trip { MPI_Request receive, send; bool is_made; };

static MPI_Request made[COLLECTIVES];
static bool is_made[COLLECTIVES];
static struct trip messages, partitioned;

/* ---- collectives ------------------------------------------------------------------------------------------------- */

static int started(MPI_Request *request)
{
    int status = MPI_Start(request);
    return status == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : status;
}

#if SK_HAS_MPI_4
#define SK_INIT(call) call
#else
#define SK_INIT(call) ((void)x, (void)request, MPI_ERR_OTHER) /* sk_lacks says so before anything is called */
#endif

#define SK_PERSISTENT(stem, call)                                                                                      \
    static int make_##stem(const struct sk_operands *x, MPI_Request *request)                                          \
    {                                                                                                                  \
        return SK_INIT(call);                                                                                          \
    }                                                                                                                  \
                                                                                                                       \
    int sk_persistent_##stem(const void *operands)                                                                     \
    {                                                                                                                  \
        int status = is_made[OF_##stem] ? MPI_SUCCESS : make_##stem(operands, &made[OF_##stem]);                       \
        is_made[OF_##stem] = status == MPI_SUCCESS;                                                                    \
        return status == MPI_SUCCESS ? started(&made[OF_##stem]) : status;                                             \
    }
#include "ops/persistent.def"
#undef SK_PERSISTENT

/* ---- round trips ------------------------------------------------------------------------------------------------- */

static int partitions_of(const struct sk_operands *x)
{
    int n = MOST_PARTITIONS;
    while (x->count % n != 0)
        n /= 2;
    return n;
}

static int make_messages(const struct sk_operands *x, int other)
{
    int status = MPI_Recv_init(x->receive, x->count, x->type, other, TAG, x->comm, &messages.receive);
    if (status == MPI_SUCCESS)
        status = MPI_Send_init(x->send, x->count, x->type, other, TAG, x->comm, &messages.send);
    return status;
}

static int make_partitioned(const struct sk_operands *x, int other)
{
#if SK_HAS_MPI_4
    int n = partitions_of(x), count = x->count / n;
    int status = MPI_Precv_init(x->receive, n, count, x->type, other, TAG, x->comm, MPI_INFO_NULL,
                                &partitioned.receive);
    if (status == MPI_SUCCESS)
        status = MPI_Psend_init(x->send, n, count, x->type, other, TAG, x->comm, MPI_INFO_NULL, &partitioned.send);
    return status;
#else
    (void)x, (void)other;
    return MPI_ERR_OTHER;
#endif
}

/* The last of the partitions first, as threads may be done in any order. */
static int ready(MPI_Request send, int partitions)
{
    int status = MPI_SUCCESS;
#if SK_HAS_MPI_4
    for (int i = partitions - 1; i >= 0 && status == MPI_SUCCESS; i--)
        status = MPI_Pready(i, send);
#else
    (void)send, (void)partitions;
#endif
    return status;
}

/* Process 0 sends at once, the last one when it has received; a process alone sends to itself. `partitions` is 0 for
 * messages without any. */
static int round_trip(struct trip *trip, bool sends_at_once, int partitions)
{
    int status = MPI_Start(&trip->receive);
    if (status == MPI_SUCCESS && !sends_at_once)
        status = MPI_Wait(&trip->receive, MPI_STATUS_IGNORE);
    if (status == MPI_SUCCESS)
        status = MPI_Start(&trip->send);
    if (status == MPI_SUCCESS)
        status = ready(trip->send, partitions);
    if (status == MPI_SUCCESS)
        status = MPI_Wait(&trip->send, MPI_STATUS_IGNORE);
    return status == MPI_SUCCESS && sends_at_once ? MPI_Wait(&trip->receive, MPI_STATUS_IGNORE) : status;
}

static bool takes_part(const struct sk_operands *x)
{
    return x->rank == 0 || x->rank == x->size - 1;
}

int sk_persistent_round_trip(const void *operands)
{
    const struct sk_operands *x = operands;
    if (!takes_part(x))
        return MPI_SUCCESS;
    int status = messages.is_made ? MPI_SUCCESS : make_messages(x, x->size - 1 - x->rank);
    messages.is_made = status == MPI_SUCCESS;
    return status == MPI_SUCCESS ? round_trip(&messages, x->rank == 0, 0) : status;
}

/* In the first call the others send to themselves: Open MPI duplicates MPI_COMM_WORLD then, for which it needs all. */
int sk_partitioned_round_trip(const void *operands)
{
    const struct sk_operands *x = operands;
    bool looks_on = !takes_part(x);
    if (looks_on && partitioned.is_made)
        return MPI_SUCCESS;
    int status = MPI_SUCCESS;
    if (!partitioned.is_made)
        status = make_partitioned(x, looks_on ? x->rank : x->size - 1 - x->rank);
    partitioned.is_made = status == MPI_SUCCESS;
    return status == MPI_SUCCESS ? round_trip(&partitioned, x->rank == 0 || looks_on, partitions_of(x)) : status;
}

static void free_trip(struct trip *trip)
{
    if (trip->is_made) {
        SK_MPI(PMPI_Request_free(&trip->receive));
        SK_MPI(PMPI_Request_free(&trip->send));
    }
    trip->is_made = false;
}

void sk_persistent_close(void)
{
    for (int i = 0; i < COLLECTIVES; i++) {
        if (is_made[i])
            SK_MPI(PMPI_Request_free(&made[i]));
        is_made[i] = false;
    }
    free_trip(&messages);
    free_trip(&partitioned);
}
