#include "mafia/kernels.h"

#include <string.h>

static uint64_t count_points(const struct sk_grid *grid, const sk_window *unit, int dim)
{
    uint64_t inside = 0;
    for (size_t begin = 0; begin < grid->words; begin += SK_MAFIA_BLOCK) {
        uint64_t both[SK_MAFIA_BLOCK];
        memcpy(both, grid->dense[unit[0]].points + begin, sizeof both);
        for (int i = 1; i < dim; i++) {
            const uint64_t *next = grid->dense[unit[i]].points + begin;
            for (int w = 0; w < SK_MAFIA_BLOCK; w++)
                both[w] &= next[w];
        }
        for (int w = 0; w < SK_MAFIA_BLOCK; w++)
            inside += (uint64_t)__builtin_popcountll(both[w]);
    }
    return inside;
}

static bool is_dense(const struct sk_grid *grid, const sk_window *unit, int dim, uint64_t inside)
{
    for (int i = 0; i < dim; i++)
        if (!((double)inside > grid->dense[unit[i]].threshold))
            return false;
    return true;
}

void sk_pcount(const struct sk_grid *grid, const struct sk_units *distinct, struct sk_units *dense,
               uint64_t *operations)
{
    int dim = distinct->dim;
    sk_units_clear(dense, dim);
    for (size_t i = 0; i < distinct->n; i++) {
        const sk_window *unit = sk_units_at(distinct, i);
        if (is_dense(grid, unit, dim, count_points(grid, unit, dim)))
            memcpy(sk_units_append(dense), unit, (size_t)dim * sizeof(sk_window));
    }
    *operations += distinct->n * (uint64_t)dim * grid->words;
}
