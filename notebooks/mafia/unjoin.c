#include "base/alloc.h"
#include "base/check.h"
#include "mafia/kernels.h"
#include "mafia/points.h"

#include <string.h>

/* Returns the place of a unit in an ascending list. */
static size_t find(const struct sk_units *list, const sk_window *unit, uint64_t *operations)
{
    size_t low = 0, high = list->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = sk_units_compare(unit, sk_units_at(list, middle), list->dim, operations);
        if (order == 0)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return list->n;
}

void sk_unjoin(struct sk_unjoin *unjoin, const struct sk_units *dense, const struct sk_units *higher,
               struct sk_units *terminal, uint64_t *operations)
{
    int dim = dense->dim;
    uint64_t done = dense->n;
    if (dense->n > unjoin->room) {
        unjoin->absorbed = sk_grow(unjoin->absorbed, 0, 2 * dense->n * sizeof(bool));
        unjoin->room = 2 * dense->n;
    }
    memset(unjoin->absorbed, 0, dense->n * sizeof(bool));
    for (size_t u = 0; u < higher->n; u++) {
        const sk_window *unit = sk_units_at(higher, u);
        for (int dropped = 0; dropped <= dim; dropped++) {
            sk_window part[SK_MAFIA_MOST_DIMS];
            for (int i = 0; i < dim; i++)
                part[i] = unit[i + (i >= dropped)];
            done += (uint64_t)dim;
            size_t place = find(dense, part, &done);
            SK_ASSERT(place < dense->n); /* a part of a dense unit holds at least its points */
            unjoin->absorbed[place] = true;
        }
    }
    sk_units_clear(terminal, dim);
    for (size_t u = 0; u < dense->n; u++)
        if (!unjoin->absorbed[u])
            memcpy(sk_units_append(terminal), sk_units_at(dense, u), (size_t)dim * sizeof(sk_window));
    *operations += done;
}

void sk_unjoin_free(struct sk_unjoin *unjoin)
{
    sk_free(unjoin->absorbed);
    *unjoin = (struct sk_unjoin){0};
}
