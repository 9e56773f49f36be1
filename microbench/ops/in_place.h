/* Collectives with MPI_IN_PLACE: what a process gives lies where it receives, so that repeated sums grow. Each takes
 * struct sk_operands and returns MPI's error code. */
#ifndef SK_OPS_IN_PLACE_H
#define SK_OPS_IN_PLACE_H

#define SK_IN_PLACE_CALL(stem, call) int sk_in_place_##stem(const void *operands);
#include "ops/in_place.def"
#undef SK_IN_PLACE_CALL

#endif
