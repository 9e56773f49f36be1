/* Who is whose neighbour, in order: the lists that the constructors of graphs get.
 *
 * moore: the cube of side 2 radius + 1 without its centre; vonneumann: those in it whose distances add up to the
 * radius at most. The same place of both lists lies in opposite directions: sources are the coordinatewise inverse
 * of destinations. What lies beyond the border of a dimension that is no ring is left out. full: every process, the
 * own one among them.
 */
#ifndef SK_NBH_LISTS_H
#define SK_NBH_LISTS_H

#include "nbh/dims.h"

#include <stdint.h>

enum sk_topology { SK_CART, SK_VONNEUMANN, SK_MOORE, SK_FULL, SK_TOPOLOGIES, SK_NO_TOPOLOGY = SK_TOPOLOGIES };
enum sk_neighbour_order { SK_FMAJ, SK_LMAJ, SK_RAND, SK_LINEAR, SK_NEIGHBOUR_ORDERS,
                          SK_NO_ORDER = SK_NEIGHBOUR_ORDERS };

extern const char *const sk_topology_names[SK_TOPOLOGIES];
extern const char *const sk_order_names[SK_NEIGHBOUR_ORDERS];

enum { SK_MOST_NEIGHBOURS = 1000000 };

struct sk_neighbourhood {
    enum sk_topology topology;
    int n_dim, n_finite;     /* the first n_finite dimensions are no rings; not of full */
    int dims[SK_MOST_DIMS];
    int p, radius;
    enum sk_neighbour_order order;
    uint64_t seed;           /* of rand; the rank is the stream */
};

/* Returns the rank of the process at coordinates within the grid; `grid` is what the caller passed on. */
typedef int (*sk_rank_of)(void *grid, const int *coordinates);

/* Row-major, the last dimension fastest; `grid` is a struct sk_neighbourhood. */
int sk_rank_in_grid(void *grid, const int *coordinates);
void sk_coordinates(const struct sk_neighbourhood *x, int rank, int *coordinates);

struct sk_lists { int n_out, n_in, *destinations, *sources; };

/* Returns the lists of a process of a moore, vonneumann or full neighbourhood; the caller frees with sk_lists_free. */
struct sk_lists sk_lists_new(const struct sk_neighbourhood *x, int rank, sk_rank_of rank_of, void *grid);
void sk_lists_free(struct sk_lists *lists);

/* Returns the number of offsets of a moore or vonneumann neighbourhood in the cube around it: (2 radius + 1)^n_dim, at
 * most SK_MOST_NEIGHBOURS + 1. */
int64_t sk_cube(int radius, int n_dim);

#endif
