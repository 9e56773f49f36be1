/* Windows of messages on the way at once: what a bandwidth and a rate of messages are found from. */
#ifndef SK_OPS_BANDWIDTH_H
#define SK_OPS_BANDWIDTH_H

#include "ops/data.h"

/* Returns the messages of one call, all processes together; 0 for flows without a window. */
int64_t sk_window_messages(enum sk_flow flow, int size);

int sk_window_one_way(const void *operands);
int sk_window_both_ways(const void *operands);
int sk_window_pairs(const void *operands);

#endif
