/* The experiments of a launch, read from a table: CSV, one row each, columns by name in any order. */
#ifndef SK_NBH_EXPERIMENT_H
#define SK_NBH_EXPERIMENT_H

#include "nbh/lists.h"
#include "ops/data.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who gets what: on a topology, or from all processes. */
enum sk_nbh_kind { SK_NBH_GATHER, SK_NBH_EXCHANGE, SK_NBH_IGATHER, SK_NBH_IEXCHANGE, SK_NBH_ALL_GATHER,
                   SK_NBH_ALL_EXCHANGE, SK_NBH_CREATE, SK_NBH_WORK };

enum sk_nbh_op {
#define SK_NBH(id, name, kind, call) SK_NBH_OP_##id,
#include "nbh/operations.def"
#undef SK_NBH
    SK_NBH_OPS
};

enum sk_constructor { SK_BY_CART, SK_BY_GRAPH, SK_BY_ADJACENT, SK_CONSTRUCTORS, SK_NOT_BUILT = SK_CONSTRUCTORS };

extern const char *const sk_nbh_names[SK_NBH_OPS];
extern const enum sk_nbh_kind sk_nbh_kinds[SK_NBH_OPS];
extern const char *const sk_constructor_names[SK_CONSTRUCTORS];

struct sk_experiment {
    int line;                 /* of the table */
    int64_t number;           /* of the experiment, the same in every order of the rows */
    enum sk_nbh_op op;
    enum sk_datatype datatype;
    int64_t size;             /* bytes to or from each neighbour; 0 where nothing is sent */
    int64_t repetitions, work;
    enum sk_topology topology;
    int n_dim, n_finite, radius, reorder;
    enum sk_constructor constructor;
    enum sk_neighbour_order order;
};

struct sk_table { struct sk_experiment *rows; int n; };

/* Reads a table for `p` processes; `text` is changed. Returns true, or false with the reason, which begins with
 * `name`, the line and the column. The caller frees with sk_table_free either way. */
bool sk_table_read(struct sk_table *table, const char *name, char *text, int p, int64_t repetitions, char *why,
                   size_t room);
void sk_table_free(struct sk_table *table);

/* Whether the operation runs on a topology with neighbours, and whether it is a call that returns at once. */
bool sk_experiment_has_neighbours(const struct sk_experiment *x);
bool sk_experiment_is_nonblocking(const struct sk_experiment *x);

/* Returns the neighbourhood of an experiment with a topology, its grid balanced. */
struct sk_neighbourhood sk_experiment_neighbourhood(const struct sk_experiment *x, int p, uint64_t seed);

#endif
