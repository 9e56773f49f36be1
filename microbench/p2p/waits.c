/* One side is late: a receive whose message is there, and a send whose receive is not posted yet. */
#include "p2p/kinds.h"
#include "time/clock.h"

enum { MARGIN_NS = 10000 };

/* The message travels meanwhile: twice a round trip is ample. */
void sk_arrived_open(struct sk_pair *pair, int64_t detail)
{
    (void)detail;
    pair->delay_ns = 2 * sk_p2p_usual(pair, sk_round_trip) + MARGIN_NS;
}

struct sk_trip sk_arrived(const struct sk_pair *pair)
{
    struct sk_trip trip = {0};
    if (!pair->leads) {
        sk_pair_await_nod(pair);
        sk_pair_send(pair);
        return trip;
    }
    sk_pair_nod(pair);
    trip.beside_ns = sk_pair_wait(pair->delay_ns);
    int64_t begin = sk_clock_now();
    sk_pair_receive(pair);
    trip.t_ns = sk_clock_now() - begin;
    return trip;
}

struct sk_trip sk_late(const struct sk_pair *pair)
{
    struct sk_trip trip = {0};
    if (!pair->leads) {
        sk_pair_nod(pair);
        sk_pair_wait(pair->delay_ns);
        sk_pair_receive(pair);
        return trip;
    }
    sk_pair_await_nod(pair);
    int64_t begin = sk_clock_now();
    sk_pair_send(pair);
    trip.t_ns = sk_clock_now() - begin;
    return trip;
}
