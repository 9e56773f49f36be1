/* When are there enough repetitions? Either nonparametric intervals from order statistics are narrow (Hoefler and Belli
 * 2015), or the standard error of the mean, of all or of the quarters that are not cut, is small (SKaMPI). */
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

struct sk_cut { int lowest, highest; }; /* how many quarters are left out at each end; together at most 3 */

struct sk_mean {
    double value;          /* mean of the values from the quantile lowest / 4 to 1 - highest / 4, both included */
    double relative_error; /* standard error of it over its value; infinite when n is too small */
};

/* Returns the mean of the n >= 1 ascending values that the cut leaves; their median if none lies between the quantiles,
 * which interpolate linearly. The standard error is that of Tukey and McLaughlin (1963): the deviation of the values
 * with what is cut moved to the quantiles, over the share that is left and the root of n; without a cut s / sqrt(n). */
struct sk_mean sk_stop_mean(const int64_t *ascending, size_t n, struct sk_cut cut);

/* What is enough: `least` repetitions that count and, if standard_error is above 0, a mean known to that share of it,
 * else median and first quartile known to `precision`. */
struct sk_stop_rule {
    size_t least;
    double precision, standard_error;
    struct sk_cut cut;
};

struct sk_summary {
    size_t n; /* repetitions that counted: neither late nor overrun */
    struct sk_interval median, first_quartile;
    struct sk_mean mean;
    bool converged;
};

/* Sorts `values` (n of them, changed) and says whether there are enough. */
struct sk_summary sk_stop_assess(int64_t *values, size_t n, const struct sk_stop_rule *rule);

#endif
