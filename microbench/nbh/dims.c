#include "nbh/dims.h"

#include "base/check.h"

#include <stdbool.h>
#include <string.h>

struct search {
    int n;
    int now[SK_MOST_DIMS], best[SK_MOST_DIMS];
    bool found;
};

static int sum(const int *dims, int n)
{
    int total = 0;
    for (int i = 0; i < n; i++)
        total += dims[i];
    return total;
}

/* Does `now` come before `best`? */
static bool is_better(const struct search *s)
{
    int last = s->n - 1, spread = s->now[0] - s->now[last], best = s->best[0] - s->best[last];
    if (!s->found || spread != best)
        return !s->found || spread < best;
    int now_sum = sum(s->now, s->n), best_sum = sum(s->best, s->n);
    if (now_sum != best_sum)
        return now_sum < best_sum;
    for (int i = 0; i < s->n; i++)
        if (s->now[i] != s->best[i])
            return s->now[i] < s->best[i];
    return false;
}

/* Tries every descending list: `place` is the next dimension, `left` the product of it and those after it. */
static void descend(struct search *s, int place, int left, int most)
{
    if (place == s->n - 1) {
        if (left > most)
            return;
        s->now[place] = left;
        if (is_better(s)) {
            memcpy(s->best, s->now, sizeof s->best);
            s->found = true;
        }
        return;
    }
    for (int d = 1; d <= most && d <= left; d++) {
        if (left % d != 0)
            continue;
        s->now[place] = d;
        descend(s, place + 1, left / d, d);
    }
}

void sk_balanced_dims(int p, int n, int *dims)
{
    SK_ASSERT(p >= 1 && n >= 1 && n <= SK_MOST_DIMS);
    struct search s = {.n = n};
    descend(&s, 0, p, p);
    memcpy(dims, s.best, (size_t)n * sizeof *dims);
}
