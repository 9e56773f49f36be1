/* The four functions that are measured. Each handles one step from units of dimensionality s to s + 1.
 *
 * All memory that they use grows in their arguments and stays there: repeated on the same data they allocate nothing.
 * Each adds what it did to *operations; docs/mafia.md says what counts.
 */
#ifndef SK_MAFIA_KERNELS_H
#define SK_MAFIA_KERNELS_H

#include "mafia/grid.h"

/* gen: joins every two dense units that share all but one window and differ in the dimension of the other one. What is
 * made of s + 1 dense units is made (s + 1) * s / 2 times. */
struct sk_gen {
    struct sk_gen_entry *table;   /* hash table of what is left of a unit without one window */
    struct sk_gen_member *members; /* the units that it is left of, linked */
    size_t table_room, members_room;
};
void sk_gen(struct sk_gen *gen, const struct sk_grid *grid, const struct sk_units *dense, struct sk_units *candidates,
            uint64_t *operations);
void sk_gen_free(struct sk_gen *gen);

/* dedup: leaves one of equal candidates, in ascending order, by a balanced search tree (AVL). */
struct sk_dedup { struct sk_dedup_node *nodes; size_t room; };
void sk_dedup(struct sk_dedup *dedup, const struct sk_units *candidates, struct sk_units *distinct,
              uint64_t *operations);
void sk_dedup_free(struct sk_dedup *dedup);

/* pcount: counts the points of each candidate in the conjunction of its bit maps, and keeps the dense ones. */
void sk_pcount(const struct sk_grid *grid, const struct sk_units *distinct, struct sk_units *dense,
               uint64_t *operations);

/* unjoin: keeps those of the ascending `dense` that are part of none of `higher`, which have one window more. */
struct sk_unjoin { bool *absorbed; size_t room; };
void sk_unjoin(struct sk_unjoin *unjoin, const struct sk_units *dense, const struct sk_units *higher,
               struct sk_units *terminal, uint64_t *operations);
void sk_unjoin_free(struct sk_unjoin *unjoin);

#endif
