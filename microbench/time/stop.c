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

/* The quantile `share` of the ascending values, between two of them where it falls there. */
static double quantile(const int64_t *ascending, size_t n, double share)
{
    double place = share * (double)(n - 1);
    size_t low = (size_t)place, high = low + 1 < n ? low + 1 : n - 1;
    return (double)ascending[low] + ((double)ascending[high] - (double)ascending[low]) * (place - (double)low);
}

static double between(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* Standard deviation of the values, those beyond low and high moved there. */
static double deviation(const int64_t *ascending, size_t n, double low, double high)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += between((double)ascending[i], low, high);
    for (size_t i = 0; i < n; i++) {
        double away = between((double)ascending[i], low, high) - sum / (double)n;
        squares += away * away;
    }
    return sqrt(squares / (double)(n - 1));
}

struct sk_mean sk_stop_mean(const int64_t *ascending, size_t n, struct sk_cut cut)
{
    double low = quantile(ascending, n, 0.25 * cut.lowest), high = quantile(ascending, n, 1 - 0.25 * cut.highest);
    double sum = 0, left = 1 - 0.25 * (cut.lowest + cut.highest);
    size_t inside = 0;
    for (size_t i = 0; i < n; i++)
        if ((double)ascending[i] >= low && (double)ascending[i] <= high) {
            sum += (double)ascending[i];
            inside++;
        }
    struct sk_mean mean = {inside > 0 ? sum / (double)inside : quantile(ascending, n, 0.5), INFINITY};
    if (n > 1 && mean.value > 0)
        mean.relative_error = deviation(ascending, n, low, high) / (left * sqrt((double)n)) / mean.value;
    return mean;
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

struct sk_summary sk_stop_assess(int64_t *values, size_t n, const struct sk_stop_rule *rule)
{
    struct sk_summary summary = {.n = n};
    if (n == 0)
        return summary;
    qsort(values, n, sizeof values[0], ascending);
    summary.median = sk_stop_interval(values, n, 0.5);
    summary.first_quartile = sk_stop_interval(values, n, 0.25);
    summary.mean = sk_stop_mean(values, n, rule->cut);
    bool known = rule->standard_error > 0
                     ? summary.mean.relative_error <= rule->standard_error
                     : within(&summary.median, rule->precision) && within(&summary.first_quartile, rule->precision);
    summary.converged = n >= rule->least && known;
    return summary;
}
