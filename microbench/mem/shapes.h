/* In which order the processes of MPI_COMM_WORLD stand in a new communicator. */
#ifndef SK_MEM_SHAPES_H
#define SK_MEM_SHAPES_H

#include <stdint.h>

enum sk_shape { SK_IDENTITY, SK_REVERSE, SK_STRIDE, SK_RANDOM, SK_SHAPES };

extern const char *const sk_shape_names[SK_SHAPES];

/* Writes for each new rank the old rank (room for p): identity 0 1 2 ..., reverse ... 2 1 0, stride 0 2 4 ... 1 3 5
 * ..., random any order, the same for equal seeds. From 4 processes on no two neighbours of the old order are
 * neighbours in the random one, because a library stores regular parts of a group in fewer bytes. */
void sk_shape_map(enum sk_shape shape, int p, uint64_t seed, int *map);

#endif
