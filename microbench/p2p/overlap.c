/* Does a transfer progress while its process works and does not call MPI? */
#include "base/check.h"
#include "ops/work.h"
#include "p2p/kinds.h"
#include "time/clock.h"

/* The time from the call until the data are on the other side, with `rounds` of work between call and wait. */
static int64_t sending(const struct sk_pair *pair, int64_t rounds)
{
    if (!pair->leads) {
        sk_pair_nod(pair);
        sk_pair_receive(pair);
        sk_pair_nod(pair);
        return 0;
    }
    MPI_Request request;
    sk_pair_await_nod(pair);
    int64_t begin = sk_clock_now();
    SK_MPI(MPI_Isend(pair->out, pair->count, pair->type, pair->other, SK_TAG, MPI_COMM_WORLD, &request));
    sk_work(rounds);
    SK_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    sk_pair_await_nod(pair);
    return sk_clock_now() - begin;
}

static int64_t receiving(const struct sk_pair *pair, int64_t rounds)
{
    if (!pair->leads) {
        sk_pair_await_nod(pair);
        sk_pair_send(pair);
        return 0;
    }
    MPI_Request request;
    int64_t begin = sk_clock_now();
    SK_MPI(MPI_Irecv(pair->in, pair->count, pair->type, pair->other, SK_TAG, MPI_COMM_WORLD, &request));
    sk_pair_nod(pair);
    sk_work(rounds);
    SK_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return sk_clock_now() - begin;
}

/* Transfer alone, work alone, both. */
static struct sk_trip measured(const struct sk_pair *pair, int64_t (*transfer)(const struct sk_pair *, int64_t))
{
    struct sk_trip trip = {0};
    trip.beside_ns = transfer(pair, 0);
    int64_t begin = sk_clock_now();
    if (pair->leads)
        sk_work(pair->rounds);
    trip.work_ns = sk_clock_now() - begin;
    trip.t_ns = transfer(pair, pair->rounds);
    return trip;
}

static struct sk_trip sent_alone(const struct sk_pair *pair)
{
    return (struct sk_trip){.t_ns = sending(pair, 0)};
}

static struct sk_trip received_alone(const struct sk_pair *pair)
{
    return (struct sk_trip){.t_ns = receiving(pair, 0)};
}

/* As much work as the transfer takes. */
void sk_overlap_send_open(struct sk_pair *pair, int64_t detail)
{
    (void)detail;
    int64_t alone = sk_p2p_usual(pair, sent_alone);
    pair->rounds = pair->leads ? sk_work_rounds(alone) : 0;
}

void sk_overlap_receive_open(struct sk_pair *pair, int64_t detail)
{
    (void)detail;
    int64_t alone = sk_p2p_usual(pair, received_alone);
    pair->rounds = pair->leads ? sk_work_rounds(alone) : 0;
}

struct sk_trip sk_overlap_send(const struct sk_pair *pair)
{
    return measured(pair, sending);
}

struct sk_trip sk_overlap_receive(const struct sk_pair *pair)
{
    return measured(pair, receiving);
}
