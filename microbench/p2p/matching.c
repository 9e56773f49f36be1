/* Random perfect matchings: what is left of the bandwidth when all processes use the network (Hoefler, Schneider,
 * Lumsdaine 2008). */
#include "base/alloc.h"
#include "base/check.h"
#include "base/rng.h"
#include "p2p/kinds.h"
#include "time/clock.h"

/* Every process draws the same order; neighbours in it are partners. */
void sk_matching_open(struct sk_pair *pair, int64_t round)
{
    int p = pair->world->size, *order = sk_alloc((size_t)p * sizeof *order);
    for (int i = 0; i < p; i++)
        order[i] = i;
    struct sk_rng rng = sk_rng_seeded(pair->seed, (uint64_t)round);
    sk_rng_shuffle(&rng, order, p);
    for (int i = 0; i < p; i++)
        if (order[i] == pair->world->rank)
            pair->other = order[i ^ 1];
    pair->leads = pair->world->rank < pair->other;
    sk_free(order);
}

struct sk_trip sk_matching(const struct sk_pair *pair)
{
    MPI_Request requests[2];
    SK_MPI(PMPI_Barrier(pair->world->harness));
    int64_t begin = sk_clock_now();
    for (int64_t i = 0; i < pair->messages; i++) {
        SK_MPI(MPI_Irecv(pair->in, pair->count, pair->type, pair->other, SK_TAG, MPI_COMM_WORLD, &requests[0]));
        SK_MPI(MPI_Isend(pair->out, pair->count, pair->type, pair->other, SK_TAG, MPI_COMM_WORLD, &requests[1]));
        SK_MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    return (struct sk_trip){.t_ns = (sk_clock_now() - begin) / pair->messages};
}
