/* What others did to a measurement: their share of the node's processor time, from /proc/stat less what the job used,
 * and how often the scheduler took a processor from a process of the job. */
#ifndef SK_TIME_LOAD_H
#define SK_TIME_LOAD_H

#include "base/json.h"
#include "base/world.h"

#include <stddef.h>
#include <stdint.h>

struct sk_load_point {
    int64_t at_ns;
    double busy_s; /* all cores of the node since boot, steal included; NaN when /proc/stat cannot be read */
    double own_s;  /* all processes of the job on the node; valid on the first process of the node, as is the next */
    double switches; /* involuntary context switches of these processes */
};

/* Returns the seconds that the cores of the node were not idle, from the first line of /proc/stat; NaN if malformed. */
double sk_load_busy_seconds(const char *stat_line, double ticks_per_s);

/* Returns the share of `cores` cores that others used between the two, from 0 to 1; NaN when unknown. */
double sk_load_share(const struct sk_load_point *from, const struct sk_load_point *to, int cores);

/* Takes a point. Every process must call it. */
struct sk_load_point sk_load_now(const struct sk_world *world);

enum { SK_LOAD_POINTS = 64 };

/* The share over the last cell, or over the last 0.2 s where the cell was shorter: the kernel counts ticks of 10 ms. */
struct sk_load { struct sk_load_point points[SK_LOAD_POINTS]; int n; };

void sk_load_begin(struct sk_load *load, const struct sk_world *world);

/* The largest of all nodes; NaN when unknown. */
struct sk_disturbance {
    double share;    /* of the node's cores, used by others, from 0 to 1 */
    double switches; /* involuntary context switches of a process a second, the mean over the processes of a node */
};

/* Every process must call it; process 0 gets what others did. */
struct sk_disturbance sk_load_end(const struct sk_load *load, const struct sk_world *world);

/* Writes "foreign_load" and "involuntary_switches", each if it is known. */
void sk_disturbance_write(const struct sk_disturbance *seen, struct sk_json *json);

#endif
