#include "mafia/units.h"

#include "base/alloc.h"

void sk_units_clear(struct sk_units *units, int dim)
{
    units->n = 0;
    units->dim = dim;
}

void sk_units_free(struct sk_units *units)
{
    sk_free(units->windows);
    *units = (struct sk_units){0};
}

sk_window *sk_units_append(struct sk_units *units)
{
    size_t begin = units->n * (size_t)units->dim, end = begin + (size_t)units->dim;
    if (end > units->room) {
        size_t room = 2 * end + 64;
        units->windows = sk_grow(units->windows, units->room * sizeof(sk_window), room * sizeof(sk_window));
        units->room = room;
    }
    units->n++;
    return units->windows + begin;
}
