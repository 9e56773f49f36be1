#include "nbh/geometry.h"

#include "base/alloc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Whether a step leads from place `from` to place `to` of a dimension. */
static bool leads(const struct sk_neighbourhood *x, int d, int from, int step, int to)
{
    int place = from + step;
    return d < x->n_finite ? place == to : (place - to) % x->dims[d] == 0;
}

/* ways[k]: in how many ways the dimensions so far can be crossed with distances that add up to k; of moore, in all. */
static void cross(const struct sk_neighbourhood *x, int d, int from, int to, int64_t *ways)
{
    int reach = x->topology == SK_MOORE ? 0 : x->radius;
    int64_t *next = sk_alloc((size_t)(reach + 1) * sizeof *next);
    for (int step = -x->radius; step <= x->radius; step++) {
        int length = x->topology == SK_MOORE ? 0 : abs(step);
        for (int k = 0; leads(x, d, from, step, to) && k + length <= reach; k++)
            next[k + length] += ways[k];
    }
    memcpy(ways, next, (size_t)(reach + 1) * sizeof *next);
    sk_free(next);
}

int64_t sk_edges(const struct sk_neighbourhood *x, int from, int to)
{
    if (x->topology == SK_FULL)
        return 1;
    struct sk_neighbourhood mask = *x;
    if (x->topology == SK_CART) { /* the two next to it in each dimension */
        mask.topology = SK_VONNEUMANN;
        mask.radius = 1;
    }
    int here[SK_MOST_DIMS], there[SK_MOST_DIMS];
    sk_coordinates(x, from, here);
    sk_coordinates(x, to, there);
    int64_t *ways = sk_alloc((size_t)(mask.radius + 1) * sizeof *ways), edges = 0;
    ways[0] = 1;
    for (int d = 0; d < x->n_dim; d++)
        cross(&mask, d, here[d], there[d], ways);
    for (int k = 0; k <= (mask.topology == SK_MOORE ? 0 : mask.radius); k++)
        edges += ways[k];
    sk_free(ways);
    return edges - (from == to); /* not without a step */
}

int sk_wrong_neighbours(const struct sk_neighbourhood *x, int rank, const int *list, int n, int is_in)
{
    int64_t *met = sk_alloc((size_t)x->p * sizeof *met);
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        if (list[i] >= x->p)
            wrong++;
        else if (list[i] >= 0)
            met[list[i]]++;
    }
    for (int other = 0; other < x->p; other++)
        wrong += met[other] != (is_in ? sk_edges(x, other, rank) : sk_edges(x, rank, other));
    sk_free(met);
    return wrong;
}
