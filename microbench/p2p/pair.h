/* What a trip of messages is made with: process 0, which times it, another process, and their buffers. */
#ifndef SK_P2P_PAIR_H
#define SK_P2P_PAIR_H

#include "base/world.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sk_pair {
    const struct sk_world *world;
    bool leads;        /* this process is number 0 and times */
    bool takes_part;   /* processes between the two only wait */
    int other;         /* rank of the partner */
    MPI_Datatype type; /* of a message, and how many of it */
    int count;
    size_t width, step, blocks; /* bytes of a block, from one block to the next, and blocks: where the data lie */
    char *out, *in;
    int64_t messages;  /* of a train */
    int64_t delay_ns;  /* what a trip waits, at places of its own */
    int64_t rounds;    /* of local work */
    int queued;        /* receives that wait on the partner */
    MPI_Request *requests;
    uint64_t seed;
};

/* What one trip gave; process 0 only, but for trips of all processes. */
struct sk_trip {
    int64_t t_ns, beside_ns; /* the value; what was waited, or the transfer alone */
    int64_t work_ns;         /* the local work alone */
};

enum { SK_TAG = 0, SK_TAG_READY = 1, SK_TAG_QUEUED = 2 };

/* One message each, with the pair's buffers, type and count; they call what is measured. */
void sk_pair_send(const struct sk_pair *pair);
void sk_pair_receive(const struct sk_pair *pair);

/* A message without data: "go on". */
void sk_pair_nod(const struct sk_pair *pair);
void sk_pair_await_nod(const struct sk_pair *pair);

/* Passes at least `ns` without calling MPI (simulated: asleep); returns how long it took. */
int64_t sk_pair_wait(int64_t ns);

/* Fills `out`, which tells the two apart, and clears `in`. */
void sk_pair_fill(const struct sk_pair *pair);

/* Returns whether `in` holds what the partner filled in. */
bool sk_pair_check(const struct sk_pair *pair);

#endif
