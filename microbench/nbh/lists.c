#include "nbh/lists.h"

#include "base/alloc.h"
#include "base/check.h"
#include "base/rng.h"

#include <stdbool.h>
#include <stdlib.h>

const char *const sk_topology_names[SK_TOPOLOGIES] = {"cart", "vonneumann", "moore", "full"};
const char *const sk_order_names[SK_NEIGHBOUR_ORDERS] = {"fmaj", "lmaj", "rand", "linear"};

int sk_rank_in_grid(void *grid, const int *coordinates)
{
    const struct sk_neighbourhood *x = grid;
    int rank = 0;
    for (int d = 0; d < x->n_dim; d++)
        rank = rank * x->dims[d] + coordinates[d];
    return rank;
}

void sk_coordinates(const struct sk_neighbourhood *x, int rank, int *coordinates)
{
    for (int d = x->n_dim - 1; d >= 0; d--) {
        coordinates[d] = rank % x->dims[d];
        rank /= x->dims[d];
    }
}

int64_t sk_cube(int radius, int n_dim)
{
    int64_t cells = 1;
    for (int d = 0; d < n_dim && cells <= SK_MOST_NEIGHBOURS; d++)
        cells *= 2 * (int64_t)radius + 1;
    return cells <= SK_MOST_NEIGHBOURS ? cells : SK_MOST_NEIGHBOURS + 1;
}

/* The offset of a cell of the cube. Counting up, the last coordinate changes fastest in fmaj, the first in lmaj.
 * Returns whether it belongs to the neighbourhood. */
static bool offset_of(const struct sk_neighbourhood *x, int cell, int *offset)
{
    int side = 2 * x->radius + 1, distance = 0;
    for (int i = 0; i < x->n_dim; i++) {
        int d = x->order == SK_LMAJ ? i : x->n_dim - 1 - i;
        offset[d] = cell % side - x->radius;
        cell /= side;
        distance += abs(offset[d]);
    }
    return distance > 0 && (x->topology == SK_MOORE || distance <= x->radius);
}

/* Returns who is `sign` times the offset away from `here`, -1 beyond a border. */
static int neighbour(const struct sk_neighbourhood *x, const int *here, const int *offset, int sign, sk_rank_of rank_of,
                     void *grid)
{
    int there[SK_MOST_DIMS];
    for (int d = 0; d < x->n_dim; d++) {
        int place = here[d] + sign * offset[d], size = x->dims[d];
        if (d < x->n_finite && (place < 0 || place >= size))
            return -1;
        there[d] = (place % size + size) % size;
    }
    return rank_of(grid, there);
}

static struct sk_lists with_room(int n)
{
    struct sk_lists lists = {0};
    lists.destinations = sk_alloc((size_t)n * sizeof(int));
    lists.sources = sk_alloc((size_t)n * sizeof(int));
    return lists;
}

static struct sk_lists of_grid(const struct sk_neighbourhood *x, int rank, sk_rank_of rank_of, void *grid)
{
    int here[SK_MOST_DIMS], offset[SK_MOST_DIMS], n = 0, cube = (int)sk_cube(x->radius, x->n_dim);
    SK_ASSERT(cube <= SK_MOST_NEIGHBOURS);
    int *cells = sk_alloc((size_t)cube * sizeof *cells);
    for (int cell = 0; cell < cube; cell++)
        if (offset_of(x, cell, offset))
            cells[n++] = cell;
    if (x->order == SK_RAND) {
        struct sk_rng rng = sk_rng_seeded(x->seed, (uint64_t)rank);
        sk_rng_shuffle(&rng, cells, n);
    }
    struct sk_lists lists = with_room(n);
    sk_coordinates(x, rank, here);
    for (int i = 0; i < n; i++) {
        offset_of(x, cells[i], offset);
        int to = neighbour(x, here, offset, 1, rank_of, grid), from = neighbour(x, here, offset, -1, rank_of, grid);
        if (to >= 0)
            lists.destinations[lists.n_out++] = to;
        if (from >= 0)
            lists.sources[lists.n_in++] = from;
    }
    sk_free(cells);
    return lists;
}

/* From the own rank on, sources go up and destinations down; rand permutes each by itself. */
static struct sk_lists of_all(const struct sk_neighbourhood *x, int rank)
{
    struct sk_lists lists = with_room(x->p);
    lists.n_in = lists.n_out = x->p;
    for (int i = 0; i < x->p; i++) {
        lists.destinations[i] = (rank - i + x->p) % x->p;
        lists.sources[i] = (rank + i) % x->p;
    }
    if (x->order == SK_RAND) {
        struct sk_rng rng = sk_rng_seeded(x->seed, (uint64_t)rank);
        sk_rng_shuffle(&rng, lists.destinations, x->p);
        sk_rng_shuffle(&rng, lists.sources, x->p);
    }
    return lists;
}

struct sk_lists sk_lists_new(const struct sk_neighbourhood *x, int rank, sk_rank_of rank_of, void *grid)
{
    SK_ASSERT(x->topology != SK_CART && x->topology < SK_TOPOLOGIES);
    return x->topology == SK_FULL ? of_all(x, rank) : of_grid(x, rank, rank_of, grid);
}

void sk_lists_free(struct sk_lists *lists)
{
    sk_free(lists->destinations);
    sk_free(lists->sources);
    *lists = (struct sk_lists){0};
}
