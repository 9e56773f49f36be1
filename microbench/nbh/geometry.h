/* How often one process is another's neighbour, from their places in the grid alone: what lists are checked against. */
#ifndef SK_NBH_GEOMETRY_H
#define SK_NBH_GEOMETRY_H

#include "nbh/lists.h"

/* Returns how many edges lead from a process to another. In a ring of few processes a neighbour is met several
 * times. */
int64_t sk_edges(const struct sk_neighbourhood *x, int from, int to);

/* Returns how many processes have another number of edges to (is_in) or from `rank` than the list of them says: 0 if
 * it is right in any order. Entries below 0 stand for no process. */
int sk_wrong_neighbours(const struct sk_neighbourhood *x, int rank, const int *list, int n, int is_in);

#endif
