/* Process 0 chooses the next order: how far ahead the start lies, how long a window is, how many fit.
 *
 * The start lies 1.5 times the 95th percentile of recent order latencies ahead. A window is 4 times the 95th
 * percentile of recent durations, doubled when more than a tenth of the last slots were late or overrun, and eased
 * again while all is well. After such a slot the next order has one slot only, so that the grid is anchored anew; clean
 * orders double the number of slots up to SK_BATCH. Nothing here talks to MPI.
 */
#ifndef SK_TIME_PACER_H
#define SK_TIME_PACER_H

#include "time/sync.h"

enum { SK_RECENT = 64 };

struct sk_recent { int64_t values[SK_RECENT]; int n, next; };

struct sk_pacer {
    enum sk_sync_kind kind;
    struct sk_recent latency, duration;
    double stretch;   /* factor on the window */
    int slots;        /* of the next order */
    int recent_slots, recent_bad; /* since the window was last judged */
};

struct sk_pacer sk_pacer_start(enum sk_sync_kind kind);

/* Returns the order to send at `now_ns`, of at most `most` (>= 1) repetitions. */
struct sk_order sk_pacer_next(const struct sk_pacer *pacer, int64_t now_ns, int most);

/* Takes in what an order gave. Sets overrun[i] when repetition i ended after its window. */
void sk_pacer_learn(struct sk_pacer *pacer, const struct sk_order *order, const struct sk_sample *samples,
                    bool *overrun);

/* Returns the length of the window that the next order would have. */
int64_t sk_pacer_window_ns(const struct sk_pacer *pacer);

#endif
