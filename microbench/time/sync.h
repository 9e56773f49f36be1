/* One repetition of an operation from a common start, on all processes.
 *
 * Process 0 sends an order; every process carries it out and the results are reduced to process 0.
 *   round          one repetition: start_ns is an instant on the clock of process 0, chosen for this repetition alone
 *   window         n repetitions, one each length_ns from start_ns on
 *   dissemination  n repetitions, each after a dissemination barrier of our own (point-to-point, log2 p rounds)
 * An order with n = 0 ends the exchange.
 */
#ifndef SK_TIME_SYNC_H
#define SK_TIME_SYNC_H

#include "base/world.h"
#include "time/clock.h"

enum sk_sync_kind { SK_ROUND, SK_WINDOW, SK_DISSEMINATION, SK_SYNC_KINDS };
enum { SK_BATCH = 16 }; /* most repetitions of one order */

extern const char *const sk_sync_names[SK_SYNC_KINDS];

struct sk_order {
    int64_t n;
    int64_t sent_ns;   /* all times: clock of process 0 */
    int64_t start_ns;
    int64_t length_ns; /* window only */
};

/* What one repetition gave; the largest over all processes, times on the clock of process 0. */
struct sk_sample {
    int64_t end_ns;         /* the last process left the operation */
    int64_t start_ns;       /* the last process entered it */
    int64_t minus_start_ns; /* -1 times when the first one entered it */
    int64_t late;           /* 1 when a process came to the start after its time */
    int64_t latency_ns;     /* from the sending of the order to its arrival; first repetition of an order only */
    int64_t local_ns;       /* the longest between entering and leaving, by a process' own clock */
    int64_t messages;       /* the most that a process sent meanwhile; -1 where nobody counts them */
};

struct sk_sync {
    enum sk_sync_kind kind;
    const struct sk_world *world;
    struct sk_clock clock;
    bool each;        /* also gather when each process left the operation; the same on all processes */
    int64_t *ends_ns; /* then, on process 0: room for SK_BATCH * size, on its clock; process k of repetition i of n is
                       * at k * n + i */
};

typedef int (*sk_call)(const void *operands); /* returns MPI's error code */

/* Every process must call it. Process 0 passes the order; the others receive it into `order`. Returns n. On process 0
 * `samples` (SK_BATCH of them) holds the results. Aborts when the operation returns an error. */
int sk_sync_carry_out(const struct sk_sync *sync, struct sk_order *order, sk_call call, const void *operands,
                      struct sk_sample *samples);

/* Duration in ns: from the common start (dissemination: the latest entry) to the last end. */
int64_t sk_sync_duration(enum sk_sync_kind kind, const struct sk_order *order, int i, const struct sk_sample *sample);

#endif
