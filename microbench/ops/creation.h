/* Communicators and windows, made and freed again: one call of each is both. Each takes struct sk_operands and returns
 * MPI's error code; MPI_ERR_OTHER where what was made is not what was asked for. */
#ifndef SK_OPS_CREATION_H
#define SK_OPS_CREATION_H

int sk_comm_create(const void *operands);             /* of the group of all, in the order that they have */
int sk_comm_dup(const void *operands);
int sk_comm_split(const void *operands);              /* all of one colour, in the order that they have */
int sk_cart_create(const void *operands);             /* two dimensions, as square as can be, both periodic */
int sk_dist_graph_create(const void *operands);       /* a ring; every process names its edge to the next one */
int sk_dist_graph_create_adjacent(const void *operands);
int sk_win_create(const void *operands);              /* over a block that is there */
int sk_win_allocate(const void *operands);            /* one block of every process */

#endif
