#include "time/offset.h"

#include "base/check.h"

enum { EXCHANGES = 100, TAG = 71 };

struct sk_clock sk_offset_estimate(const struct sk_exchange *exchanges, int n)
{
    SK_ASSERT(n > 0);
    int64_t low = exchanges[0].sent_ns - exchanges[0].seen_ns;
    int64_t high = exchanges[0].received_ns - exchanges[0].seen_ns;
    for (int i = 1; i < n; i++) {
        int64_t below = exchanges[i].sent_ns - exchanges[i].seen_ns;
        int64_t above = exchanges[i].received_ns - exchanges[i].seen_ns;
        low = below > low ? below : low;
        high = above < high ? above : high;
    }
    int64_t width = high - low; /* negative only when a clock drifts by more than the fastest round trip */
    struct sk_clock clock = {.reference_ns = exchanges[n / 2].seen_ns};
    clock.offset_ns = low + width / 2;
    clock.error_ns = (width < 0 ? -width : width) / 2 + 1;
    return clock;
}

struct sk_clock sk_offset_with_drift(const struct sk_clock *first, const struct sk_clock *later)
{
    struct sk_clock clock = *later;
    int64_t between = later->reference_ns - first->reference_ns, moved = later->offset_ns - first->offset_ns;
    int64_t distance = moved < 0 ? -moved : moved;
    if (between > 0 && distance > first->error_ns + later->error_ns)
        clock.drift = (double)moved / (double)between;
    return clock;
}

static void ask(MPI_Comm comm, int other, struct sk_exchange *exchange)
{
    exchange->sent_ns = sk_clock_now();
    SK_MPI(PMPI_Send(&exchange->sent_ns, 1, MPI_INT64_T, other, TAG, comm));
    SK_MPI(PMPI_Recv(&exchange->seen_ns, 1, MPI_INT64_T, other, TAG, comm, MPI_STATUS_IGNORE));
    exchange->received_ns = sk_clock_now();
}

static void answer(MPI_Comm comm)
{
    int64_t ignored, seen;
    SK_MPI(PMPI_Recv(&ignored, 1, MPI_INT64_T, 0, TAG, comm, MPI_STATUS_IGNORE));
    seen = sk_clock_now();
    SK_MPI(PMPI_Send(&seen, 1, MPI_INT64_T, 0, TAG, comm));
}

/* Process 0 and `other` exchange; the other ends with its clock. */
static void measure_pair(const struct sk_world *world, int other, struct sk_clock *clock)
{
    struct sk_exchange exchanges[EXCHANGES];
    for (int i = 0; i < EXCHANGES; i++)
        if (world->rank == 0)
            ask(world->harness, other, &exchanges[i]);
        else
            answer(world->harness);
    if (world->rank == 0)
        SK_MPI(PMPI_Send(exchanges, (int)sizeof exchanges, MPI_BYTE, other, TAG, world->harness));
    else {
        SK_MPI(PMPI_Recv(exchanges, (int)sizeof exchanges, MPI_BYTE, 0, TAG, world->harness, MPI_STATUS_IGNORE));
        *clock = sk_offset_estimate(exchanges, EXCHANGES);
    }
}

/* Returns whether `rank` measures for itself: the first process of each node that is not that of process 0. */
static bool measures(const struct sk_world *world, bool always)
{
    int with_zero = world->rank == 0;
    SK_MPI(PMPI_Bcast(&with_zero, 1, MPI_INT, 0, world->node));
    return world->rank != 0 && (always || (world->node_rank == 0 && !with_zero));
}

struct sk_clock sk_offset_measure(const struct sk_world *world, bool always)
{
    struct sk_clock clock = {.reference_ns = sk_clock_now()};
    if (world->single_node && !always)
        return clock;
    int mine = measures(world, always);
    for (int other = 1; other < world->size; other++) {
        int partner = mine; /* everybody learns whether `other` takes part */
        SK_MPI(PMPI_Bcast(&partner, 1, MPI_INT, other, world->harness));
        if (partner && (world->rank == 0 || world->rank == other))
            measure_pair(world, other, &clock);
    }
    if (!always)
        SK_MPI(PMPI_Bcast(&clock, (int)sizeof clock, MPI_BYTE, 0, world->node));
    return clock;
}
