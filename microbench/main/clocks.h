/* The clocks of a launch: measured against process 0 at the begin, again now and then, and kept in the run file. */
#ifndef SK_MAIN_CLOCKS_H
#define SK_MAIN_CLOCKS_H

#include "base/json.h"
#include "base/world.h"
#include "time/clock.h"

#include <stdbool.h>

struct sk_clocks {
    const struct sk_world *world;
    bool always;            /* measure offsets even where processes share a clock */
    struct sk_clock first;  /* as measured at the begin */
};

/* Measures twice, half a second apart at most: offset and drift; less apart where the budget is below 10 s. Every
 * process must call these three. */
struct sk_clock sk_clocks_open(struct sk_clocks *clocks, double budget_s);

/* Measures again, over a longer time; returns `now` where the clock is shared. */
struct sk_clock sk_clocks_renew(const struct sk_clocks *clocks, struct sk_clock now);

/* Process 0 appends offsets, drifts and the largest error as the object "clock". */
void sk_clocks_write(const struct sk_clocks *clocks, const struct sk_clock *now, struct sk_json *json);

#endif
