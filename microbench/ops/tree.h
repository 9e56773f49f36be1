/* A broadcast from process 0 along a binary tree, in point-to-point messages: the litmus test of a measurement. Its
 * depth is known, floor(log2 p), whatever the MPI library chooses for its own broadcast. */
#ifndef SK_OPS_TREE_H
#define SK_OPS_TREE_H

#include <mpi.h>

/* Every process of `comm` must call it with its rank and size. Returns MPI's error code. */
int sk_tree_bcast(void *buffer, int count, MPI_Datatype type, MPI_Comm comm, int rank, int size);

#endif
