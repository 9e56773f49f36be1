/* The operations of the table: one call is one indirect function call, by the MPI_ name, so that preloaded tools are
 * measured. */
#ifndef SK_NBH_CALLS_H
#define SK_NBH_CALLS_H

#include "nbh/topology.h"
#include "time/sync.h"

/* What a call works on. Blocks lie one after the other, in the order of the neighbours. */
struct sk_call_data {
    MPI_Comm comm;
    int n_out, n_in, count;     /* destinations, sources; elements of a block */
    MPI_Datatype type, *types;
    int *counts, *places, *distances; /* of each block: elements, first element, first byte */
    MPI_Aint *addresses;
    unsigned char *send, *receive;
    size_t block;               /* bytes */
    int64_t work;
    MPI_Request request;
    const struct sk_plan *plan; /* creation only, as the next two */
    MPI_Comm made[SK_BATCH];
    int n_made;
};

/* For sk_sync_carry_out: takes a struct sk_call_data. */
extern const sk_call sk_nbh_calls[SK_NBH_OPS];

/* The caller frees with sk_call_data_free. `plan` and `comm` must outlive it. */
struct sk_call_data sk_call_data_new(const struct sk_experiment *x, const struct sk_plan *plan, MPI_Comm comm,
                                     int n_in, int n_out);
void sk_call_data_free(struct sk_call_data *data);

/* Frees the communicators that calls have made. Every process must call it. */
void sk_call_data_drop(struct sk_call_data *data);

/* Every process must call it; all get the answer. Calls the operation once on known contents: has every process what
 * the topology says, and nothing else? Says in `why` what is wrong. `sources` are the ranks behind the blocks that
 * come in. */
bool sk_call_is_right(enum sk_nbh_op op, struct sk_call_data *data, const int *sources, const int *destinations,
                      const struct sk_world *world, char *why, size_t room);

#endif
