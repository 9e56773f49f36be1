/* Windows of MPI as transports: locked when a target is needed for the first time, or for each transfer. Functions are
 * not static here, so that call sites in traces have a name. */
#include "base/alloc.h"
#include "base/check.h"
#include "onesided/transport.h"
#include "trace/now.h"

#include <mpi.h>
#include <stdbool.h>
#include <string.h>

enum { MOST = 64 }; /* operations under way */

static MPI_Win win = MPI_WIN_NULL;
static char *memory;
static bool *is_locked, is_each; /* each transfer has a lock of its own */
static int rank, size;
static MPI_Request requests[MOST];
static bool is_live[MOST];

void *sk_rma_begin(int64_t bytes, const char *truth)
{
    (void)truth; /* MPI does not tell */
    SK_MPI(PMPI_Comm_rank(MPI_COMM_WORLD, &rank));
    SK_MPI(PMPI_Comm_size(MPI_COMM_WORLD, &size));
    SK_MPI(MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    memset(memory, 0, (size_t)bytes);
    is_locked = sk_alloc((size_t)size * sizeof *is_locked);
    SK_MPI(MPI_Barrier(MPI_COMM_WORLD));
    return memory;
}

void *sk_locks_begin(int64_t bytes, const char *truth)
{
    is_each = true;
    return sk_rma_begin(bytes, truth);
}

void sk_rma_end(void)
{
    for (int target = 0; target < size; target++)
        if (is_locked[target])
            SK_MPI(MPI_Win_unlock(target, win));
    SK_MPI(MPI_Barrier(MPI_COMM_WORLD));
    SK_MPI(MPI_Win_free(&win));
    sk_free(is_locked);
}

void sk_rma_barrier(void)
{
    SK_MPI(MPI_Barrier(MPI_COMM_WORLD));
}

/* Locks a target when it is needed for the first time: a lock of all is slow in a simulator. */
void sk_rma_reach(int target)
{
    if (is_each) {
        sk_completing = sk_now();
        SK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
        return;
    }
    if (!is_locked[target])
        SK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, MPI_MODE_NOCHECK, win));
    is_locked[target] = true;
}

/* Completes what was begun: the target may have to grant a lock, or to take part in the flush. */
void sk_rma_complete(int target)
{
    if (is_each) {
        SK_MPI(MPI_Win_unlock(target, win));
        return;
    }
    sk_completing = sk_now();
    SK_MPI(MPI_Win_flush(target, win));
}

/* The type of the pieces from their first byte on, of doubles if they are to be added; the caller frees it. */
static MPI_Datatype type_of(const struct sk1s_layout *there, MPI_Datatype element, MPI_Aint *at)
{
    MPI_Datatype piece, type;
    MPI_Aint lower;
    MPI_Aint extent;
    SK_MPI(PMPI_Type_get_extent(element, &lower, &extent));
    int n = (int)(there->bytes / (int64_t)extent), count = (int)there->count;
    if (!there->at) {
        *at = (MPI_Aint)there->start;
        SK_MPI(PMPI_Type_create_hvector(count, n, (MPI_Aint)there->stride, element, &type));
    } else {
        MPI_Aint *places = sk_alloc((size_t)count * sizeof *places);
        for (int k = 0; k < count; k++)
            places[k] = (MPI_Aint)there->at[k];
        *at = 0;
        SK_MPI(PMPI_Type_contiguous(n, element, &piece));
        SK_MPI(PMPI_Type_create_hindexed_block(count, 1, places, piece, &type));
        SK_MPI(PMPI_Type_free(&piece));
        sk_free(places);
    }
    SK_MPI(PMPI_Type_commit(&type));
    return type;
}

static bool is_simple(const struct sk1s_layout *there)
{
    return there->count == 1 && !there->at;
}

void sk_rma_post_get(int target, void *local, const struct sk1s_layout *there, MPI_Request *request)
{
    int n = (int)sk1s_total(there), count = is_simple(there) ? n : 1;
    MPI_Aint at = (MPI_Aint)there->start;
    MPI_Datatype type = is_simple(there) ? MPI_BYTE : type_of(there, MPI_BYTE, &at);
    sk_rma_reach(target);
    if (request)
        SK_MPI(MPI_Rget(local, n, MPI_BYTE, target, at, count, type, win, request));
    else
        SK_MPI(MPI_Get(local, n, MPI_BYTE, target, at, count, type, win));
    if (type != MPI_BYTE)
        SK_MPI(MPI_Type_free(&type));
}

void sk_rma_get(int target, void *local, struct sk1s_layout there)
{
    if (target == rank) {
        sk1s_pack(local, memory, &there);
        return;
    }
    sk_rma_post_get(target, local, &there, NULL);
    sk_rma_complete(target);
}

void sk_rma_put(int target, const void *local, struct sk1s_layout there)
{
    int n = (int)sk1s_total(&there), count = is_simple(&there) ? n : 1;
    MPI_Aint at = (MPI_Aint)there.start;
    MPI_Datatype type = is_simple(&there) ? MPI_BYTE : type_of(&there, MPI_BYTE, &at);
    sk_rma_reach(target);
    SK_MPI(MPI_Put(local, n, MPI_BYTE, target, at, count, type, win));
    sk_rma_complete(target);
    if (type != MPI_BYTE)
        SK_MPI(MPI_Type_free(&type));
}

void sk_rma_accumulate(int target, const void *local, struct sk1s_layout there)
{
    int n = (int)(sk1s_total(&there) / (int64_t)sizeof(double)), count = is_simple(&there) ? n : 1;
    MPI_Aint at = (MPI_Aint)there.start;
    MPI_Datatype type = is_simple(&there) ? MPI_DOUBLE : type_of(&there, MPI_DOUBLE, &at);
    sk_rma_reach(target);
    SK_MPI(MPI_Accumulate(local, n, MPI_DOUBLE, target, at, count, type, MPI_SUM, win));
    sk_rma_complete(target);
    if (type != MPI_DOUBLE)
        SK_MPI(MPI_Type_free(&type));
}

int64_t sk_rma_fetch_and_add(int target, int64_t at, int64_t value)
{
    int64_t was;
    sk_rma_reach(target);
    SK_MPI(MPI_Fetch_and_op(&value, &was, MPI_INT64_T, target, (MPI_Aint)at, MPI_SUM, win));
    sk_rma_complete(target);
    return was;
}

int sk_rma_nbget(int target, void *local, struct sk1s_layout there)
{
    int at = 0;
    while (at < MOST && is_live[at])
        at++;
    SK_ASSERT(at < MOST);
    is_live[at] = true;
    requests[at] = MPI_REQUEST_NULL;
    if (target == rank || is_each)
        sk_rma_get(target, local, there);
    else
        sk_rma_post_get(target, local, &there, &requests[at]);
    return at;
}

void sk_rma_wait(int operation)
{
    SK_ASSERT(operation >= 0 && operation < MOST && is_live[operation]);
    sk_completing = sk_now();
    if (requests[operation] != MPI_REQUEST_NULL)
        SK_MPI(MPI_Wait(&requests[operation], MPI_STATUS_IGNORE));
    is_live[operation] = false;
}

void sk_rma_poll(void)
{
    int flag;
    SK_MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
}

const struct sk_transport sk_over_rma = {
    "rma",      sk_rma_begin,      sk_rma_end,           sk_rma_barrier, sk_rma_get,
    sk_rma_put, sk_rma_accumulate, sk_rma_fetch_and_add, sk_rma_nbget,   sk_rma_wait,
    sk_rma_poll,
};

const struct sk_transport sk_over_locks = {
    "locks",    sk_locks_begin,    sk_rma_end,           sk_rma_barrier, sk_rma_get,
    sk_rma_put, sk_rma_accumulate, sk_rma_fetch_and_add, sk_rma_nbget,   sk_rma_wait,
    sk_rma_poll,
};
