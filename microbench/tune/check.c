/* What a substitute delivers beside what the call delivers. */
#include "base/check.h"
#include "tune/scalkit_tune.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sk_tune_checks;

/* Of floating-point sums in another order: a few roundings of the largest element;
 * what is no number stays that. */
static const double OF_FLOAT = 1e-5, OF_DOUBLE = 1e-12;

int sk_check_agreed(struct sk_rule *rule, long long count, MPI_Comm comm)
{
    long long mine[4] = { rule->bytes_low, -rule->bytes_low, count, -count }, least[4];
    PMPI_Allreduce(mine, least, 4, MPI_LONG_LONG, MPI_MIN, comm);
    if (least[0] == -least[1] && least[2] == -least[3])
        return 1;
    sk_say("processes pass different counts or types to a call of which a rule is followed; it is made as it is, but "
           "without SCALKIT_TUNE_CHECK the program may hang.");
    return 0;
}

void sk_check_begin(struct sk_result *result, const void *place, long long count, MPI_Datatype type, int is_sum)
{
    MPI_Aint lower, extent, true_lower, true_extent;
    *result = (struct sk_result){ .type = type, .is_sum = is_sum };
    if (place == NULL || count == 0)
        return;
    PMPI_Type_get_extent(type, &lower, &extent);
    PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
    result->place = (char *)((uintptr_t)place + (uintptr_t)true_lower);
    result->bytes = (count - 1) * extent + true_extent;
    result->before = malloc((size_t)result->bytes + 1);
    result->expected = malloc((size_t)result->bytes + 1);
    SK_ASSERT(result->before && result->expected);
    memcpy(result->before, result->place, (size_t)result->bytes);
}

void sk_check_keep(struct sk_result *result)
{
    if (result->place == NULL)
        return;
    memcpy(result->expected, result->place, (size_t)result->bytes);
    memcpy(result->place, result->before, (size_t)result->bytes);
}

#define ARE_CLOSE(name, number, rounding) \
    static int name(const number *a, const number *b, long long n) \
    { \
        double largest = 0, off = 0; \
        for (long long i = 0; i < n; i++) { \
            double one = (double)a[i], other = (double)b[i]; \
            if (isnan(one) != isnan(other) || isinf(one) != isinf(other) || (isinf(one) && one != other)) \
                return 0; \
            if (isfinite(one)) { \
                largest = fmax(largest, fabs(one)); \
                off = fmax(off, fabs(one - other)); \
            } \
        } \
        return off <= (rounding) * largest; \
    }

ARE_CLOSE(are_close_floats, float, OF_FLOAT)
ARE_CLOSE(are_close_doubles, double, OF_DOUBLE)

static int is_same(const struct sk_result *one)
{
    const void *got = one->place, *expected = one->expected;
    if (memcmp(got, expected, (size_t)one->bytes) == 0)
        return 1;
    if (one->is_sum && one->type == MPI_FLOAT)
        return are_close_floats(expected, got, one->bytes / (long long)sizeof(float));
    if (one->is_sum && one->type == MPI_DOUBLE)
        return are_close_doubles(expected, got, one->bytes / (long long)sizeof(double));
    return 0;
}

void sk_check_end(struct sk_result *result, struct sk_rule *rule)
{
    if (result->place != NULL) {
        if (!is_same(result) && atomic_fetch_add(&rule->different, 1) == 0)
            sk_say("a substitute delivers something else than the call itself, for %lld to %lld processes and %lld to "
                   "%lld B; the program gets what the call delivers. Take this rule out of the file.",
                   rule->p_low, rule->p_high, rule->bytes_low, rule->bytes_high);
        memcpy(result->place, result->expected, (size_t)result->bytes);
    }
    free(result->before);
    free(result->expected);
}
