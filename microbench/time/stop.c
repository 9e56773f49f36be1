#include "time/stop.h"

#include <math.h>
#include <stdlib.h>

static const double tail = 0.025;

/* Probability of exactly k successes out of n. */
static double binomial(size_t n, size_t k, double q)
{
    double log_ways = lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
    return exp(log_ways + (double)k * log(q) + (double)(n - k) * log1p(-q));
}

bool sk_stop_ranks(size_t n, double q, size_t *low, size_t *high)
{
    *low = 0; /* the largest l with P(fewer than l of n lie below the quantile) <= tail */
    for (double sum = binomial(n, 0, q); sum <= tail && *low < n; sum += binomial(n, *low, q))
        ++*low;
    *high = n + 1; /* the smallest u with P(u or more lie below it) <= tail */
    for (double sum = binomial(n, n, q); sum <= tail && *high > 1; sum += binomial(n, *high - 1, q))
        --*high;
    return *low >= 1 && *high <= n;
}

struct sk_interval sk_stop_interval(const int64_t *ascending, size_t n, double q)
{
    size_t rank = (size_t)ceil(q * (double)n), low, high;
    struct sk_interval interval = {ascending[rank > 0 ? rank - 1 : 0], INFINITY, INFINITY};
    if (!sk_stop_ranks(n, q, &low, &high))
        return interval;
    double value = interval.value > 0 ? (double)interval.value : 1;
    interval.below = (double)(interval.value - ascending[low - 1]) / value;
    interval.above = (double)(ascending[high - 1] - interval.value) / value;
    return interval;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool within(const struct sk_interval *interval, double precision)
{
    return interval->below <= precision && interval->above <= precision;
}

struct sk_summary sk_stop_assess(int64_t *values, size_t n, size_t least, double precision)
{
    struct sk_summary summary = {.n = n};
    if (n == 0)
        return summary;
    qsort(values, n, sizeof values[0], ascending);
    summary.median = sk_stop_interval(values, n, 0.5);
    summary.first_quartile = sk_stop_interval(values, n, 0.25);
    summary.converged = n >= least && within(&summary.median, precision) && within(&summary.first_quartile, precision);
    return summary;
}
