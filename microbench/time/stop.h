/* When are there enough repetitions? Nonparametric intervals from order statistics (Hoefler and Belli 2015). */
#ifndef SK_TIME_STOP_H
#define SK_TIME_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sk_interval {
    int64_t value;     /* the quantile of the sample (lower of the two middle ones) */
    double below, above; /* distance of the interval's ends, relative to the value; infinite when n is too small */
};

/* Finds the 1-based ranks low <= high whose order statistics enclose the q-quantile with 95 % confidence or more, at
 * most 2.5 % on each side. Returns false when n observations are too few. */
bool sk_stop_ranks(size_t n, double q, size_t *low, size_t *high);

/* Returns the q-quantile of the n >= 1 ascending values and its interval. */
struct sk_interval sk_stop_interval(const int64_t *ascending, size_t n, double q);

struct sk_summary {
    size_t n; /* repetitions that counted: neither late nor overrun */
    struct sk_interval median, first_quartile;
    bool converged;
};

/* Sorts `values` (n of them, changed) and says whether median and first quartile are both known to `precision`. */
struct sk_summary sk_stop_assess(int64_t *values, size_t n, size_t least, double precision);

#endif
