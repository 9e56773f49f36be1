#include "time/sync.h"

#include "base/check.h"

#include <sched.h>

enum { TAG = 72,
       ORDER_FIELDS = sizeof(struct sk_order) / sizeof(int64_t),
       SAMPLE_FIELDS = sizeof(struct sk_sample) / sizeof(int64_t) };

const char *const sk_sync_names[SK_SYNC_KINDS] = {"round", "window", "dissemination"};

/* Waits until `target` on this process' clock, yielding the core when others need it. Returns whether it was past. In a
 * simulation time passes only while a process sleeps, and in virtual time looking at the clock would move it. */
static bool wait_until(int64_t target, bool yield)
{
    int64_t now = sk_clock_now();
    if (now > target)
        return true;
    if (sk_clock_is_virtual()) {
        sk_clock_sleep(target - now);
        return false;
    }
    while (sk_clock_now() < target)
        if (yield)
            sched_yield();
    return false;
}

static void dissemination_barrier(const struct sk_world *world)
{
    for (int distance = 1; distance < world->size; distance *= 2) {
        int to = (world->rank + distance) % world->size;
        int from = (world->rank - distance + world->size) % world->size;
        char out = 0, in;
        SK_MPI(PMPI_Sendrecv(&out, 1, MPI_CHAR, to, TAG, &in, 1, MPI_CHAR, from, TAG, world->harness,
                             MPI_STATUS_IGNORE));
    }
}

static bool await_start(const struct sk_sync *sync, const struct sk_order *order, int i)
{
    if (sync->kind == SK_DISSEMINATION) {
        dissemination_barrier(sync->world);
        return false;
    }
    int64_t start = order->start_ns + (sync->kind == SK_WINDOW ? i * order->length_ns : 0);
    return wait_until(sk_clock_local(&sync->clock, start), sync->world->oversubscribed);
}

static void repeat(const struct sk_sync *sync, const struct sk_order *order, int i, sk_call call, const void *operands,
                   struct sk_sample *sample)
{
    sample->late = await_start(sync, order, i);
    int64_t sent = sk_clock_messages(), begin = sk_clock_now();
    int status = call(operands);
    int64_t end = sk_clock_now();
    sample->messages = sent < 0 ? -1 : sk_clock_messages() - sent;
    if (status != MPI_SUCCESS)
        sk_mpi_check(status, "the measured operation", __FILE__, __LINE__);
    sample->start_ns = sk_clock_global(&sync->clock, begin);
    sample->minus_start_ns = -sample->start_ns;
    sample->end_ns = sk_clock_global(&sync->clock, end);
    sample->local_ns = end - begin;
}

static void gather_ends(const struct sk_sync *sync, const struct sk_sample *samples, int n)
{
    int64_t mine[SK_BATCH];
    for (int i = 0; i < n; i++)
        mine[i] = samples[i].end_ns;
    SK_MPI(PMPI_Gather(mine, n, MPI_INT64_T, sync->ends_ns, n, MPI_INT64_T, 0, sync->world->harness));
}

int sk_sync_carry_out(const struct sk_sync *sync, struct sk_order *order, sk_call call, const void *operands,
                      struct sk_sample *samples)
{
    MPI_Comm comm = sync->world->harness;
    struct sk_sample mine[SK_BATCH] = {{0}};
    SK_MPI(PMPI_Bcast(order, ORDER_FIELDS, MPI_INT64_T, 0, comm));
    if (order->n == 0)
        return 0;
    SK_ASSERT(order->n > 0 && order->n <= SK_BATCH);
    mine[0].latency_ns = sk_clock_global(&sync->clock, sk_clock_now()) - order->sent_ns;
    int n = (int)order->n;
    for (int i = 0; i < n; i++)
        repeat(sync, order, i, call, operands, &mine[i]);
    SK_MPI(PMPI_Reduce(mine, samples, n * SAMPLE_FIELDS, MPI_INT64_T, MPI_MAX, 0, comm));
    if (sync->each)
        gather_ends(sync, mine, n);
    return n;
}

int64_t sk_sync_duration(enum sk_sync_kind kind, const struct sk_order *order, int i, const struct sk_sample *sample)
{
    if (kind == SK_DISSEMINATION)
        return sample->end_ns - sample->start_ns;
    return sample->end_ns - order->start_ns - (kind == SK_WINDOW ? i * order->length_ns : 0);
}
