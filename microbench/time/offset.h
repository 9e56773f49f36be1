/* The offset of a clock to that of process 0 from a ping-pong, after SKaMPI.
 *
 * Process 0 sends at s_i (its clock), the other notes its own time o_i and answers, process 0 receives at r_i. With
 * d = clock of process 0 - other clock, every exchange says s_i - o_i <= d <= r_i - o_i whatever the network did; the
 * fastest ways there and back give the tightest bounds.
 */
#ifndef SK_TIME_OFFSET_H
#define SK_TIME_OFFSET_H

#include "base/world.h"
#include "time/clock.h"

struct sk_exchange { int64_t sent_ns, seen_ns, received_ns; };

/* Returns offset (the middle of the tightest bounds), error (half their distance) and reference; drift is 0. */
struct sk_clock sk_offset_estimate(const struct sk_exchange *exchanges, int n);

/* Returns the later clock with the drift between the two; 0 when their offsets agree within their errors: a drift made
 * of noise would do more harm than none. */
struct sk_clock sk_offset_with_drift(const struct sk_clock *first, const struct sk_clock *later);

/* Measures the clock of this process against process 0. Every process must call it. Processes of one node share a
 * measurement; on a single node nothing is sent and the result is exact, unless `always` (for tests) measures each. */
struct sk_clock sk_offset_measure(const struct sk_world *world, bool always);

#endif
