/* The adaptive grid: every dimension cut into windows where its histogram changes, and which of them are dense.
 *
 * A dimension is cut into `bins` equal bins from its least to its greatest value, these into at most `windows` equal
 * windows. The height of a window is that of its highest bin. From left to right a window joins the one before it when
 * their heights differ by at most `beta` of the higher one. A dimension that became one window is cut into `uniform`
 * equal ones. A window is dense when it holds more than `alpha` times the points that it would hold if they were spread
 * evenly. A dimension in which all values are equal has no windows.
 */
#ifndef SK_MAFIA_GRID_H
#define SK_MAFIA_GRID_H

#include "mafia/points.h"
#include "mafia/units.h"

enum { SK_MAFIA_BLOCK = 64 }; /* bit maps are whole blocks of this many words */

struct sk_grid_rules {
    int bins, windows, uniform;
    double alpha, beta;
};

struct sk_dense_window {
    int dim, first_bin, end_bin; /* the end is not inside */
    double threshold;            /* a unit with this window is dense when it holds more points than that */
    uint64_t *points;            /* bit map: bit i % 64 of word i / 64 is 1 when point i is inside */
};

struct sk_grid {
    struct sk_dense_window *dense; /* by dimension, then by place */
    int n;
    size_t words; /* of each bit map */
};

/* Returns the grid; the caller frees it. Ends the process when there are more dense windows than a unit can name. */
struct sk_grid sk_grid_made(const struct sk_points *points, const struct sk_grid_rules *rules);
void sk_grid_free(struct sk_grid *grid);

#endif
