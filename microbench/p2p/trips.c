/* Round trips of one message and of trains, as LogGP's parameters are found from (Hoefler, Lichei, Rehm 2007). */
#include "base/check.h"
#include "p2p/kinds.h"
#include "time/clock.h"

struct sk_trip sk_round_trip(const struct sk_pair *pair)
{
    int64_t begin = sk_clock_now();
    if (pair->leads) {
        sk_pair_send(pair);
        sk_pair_receive(pair);
    } else {
        sk_pair_receive(pair);
        sk_pair_send(pair);
    }
    return (struct sk_trip){.t_ns = sk_clock_now() - begin};
}

static void exchange(const struct sk_pair *pair)
{
    SK_MPI(MPI_Sendrecv(pair->out, pair->count, pair->type, pair->other, SK_TAG, pair->in, pair->count, pair->type,
                        pair->other, SK_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static struct sk_trip nods(const struct sk_pair *pair)
{
    int64_t begin = sk_clock_now();
    if (pair->leads)
        sk_pair_nod(pair);
    sk_pair_await_nod(pair);
    if (!pair->leads)
        sk_pair_nod(pair);
    return (struct sk_trip){.t_ns = sk_clock_now() - begin};
}

/* The delay is that of a nod, so that both begin at once. */
void sk_exchange_open(struct sk_pair *pair, int64_t detail)
{
    (void)detail;
    pair->delay_ns = sk_p2p_usual(pair, nods) / 2;
}

/* Who begins earlier nevertheless waits longer, and begins the next exchange later by as much. So exchanges are timed
 * in pairs, and the value is that of one of them. */
struct sk_trip sk_exchange(const struct sk_pair *pair)
{
    enum { PAIRED = 4 };
    if (pair->leads) {
        sk_pair_nod(pair);
        sk_pair_wait(pair->delay_ns);
    } else {
        sk_pair_await_nod(pair);
    }
    int64_t begin = sk_clock_now();
    for (int i = 0; i < PAIRED; i++)
        exchange(pair);
    return (struct sk_trip){.t_ns = (sk_clock_now() - begin) / PAIRED};
}

static struct sk_trip train(const struct sk_pair *pair, int64_t delay_ns)
{
    struct sk_trip trip = {0};
    int64_t begin = sk_clock_now();
    for (int64_t i = 0; i < pair->messages; i++) {
        if (!pair->leads) {
            sk_pair_receive(pair);
            continue;
        }
        if (i > 0 && delay_ns > 0)
            trip.beside_ns += sk_pair_wait(delay_ns);
        sk_pair_send(pair);
    }
    if (pair->leads)
        sk_pair_receive(pair);
    else
        sk_pair_send(pair);
    trip.t_ns = sk_clock_now() - begin;
    return trip;
}

struct sk_trip sk_train(const struct sk_pair *pair)
{
    return train(pair, 0);
}

/* The delay is a round trip: longer than the gap between two messages. */
void sk_train_open(struct sk_pair *pair, int64_t detail)
{
    (void)detail;
    pair->delay_ns = sk_p2p_usual(pair, sk_round_trip);
}

struct sk_trip sk_train_delayed(const struct sk_pair *pair)
{
    return train(pair, pair->delay_ns);
}
