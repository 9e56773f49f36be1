/* Units: hyperboxes of the adaptive grid, each a set of dense windows, at most one in a dimension.
 *
 * A window is its number in the list of dense windows, which ascends by dimension. A unit is written as its windows in
 * ascending order; lists hold units of one dimensionality, one after the other.
 */
#ifndef SK_MAFIA_UNITS_H
#define SK_MAFIA_UNITS_H

#include <stddef.h>
#include <stdint.h>

typedef uint16_t sk_window;

struct sk_units {
    sk_window *windows; /* n * dim of them */
    size_t n;
    size_t room; /* windows that fit; only grows, so that a repetition allocates nothing */
    int dim;
};

/* Makes the list empty, for units of `dim` windows; keeps its memory. */
void sk_units_clear(struct sk_units *units, int dim);
void sk_units_free(struct sk_units *units);

/* Appends a unit and returns where its windows are to be written; valid until the next call. */
sk_window *sk_units_append(struct sk_units *units);

static inline const sk_window *sk_units_at(const struct sk_units *units, size_t i)
{
    return units->windows + i * (size_t)units->dim;
}

/* Returns the order of two units of `dim` windows, as memcmp does; adds the windows compared to *operations. */
static inline int sk_units_compare(const sk_window *a, const sk_window *b, int dim, uint64_t *operations)
{
    int i = 0;
    while (i < dim && a[i] == b[i])
        i++;
    *operations += (uint64_t)(i < dim ? i + 1 : dim);
    return i == dim ? 0 : a[i] < b[i] ? -1 : 1;
}

#endif
