/* The non-blocking collectives: sk_ibcast is the call and MPI_Wait; sk_ibcast_overlap is the call, local work without
 * any MPI call, and MPI_Wait. Each takes struct sk_operands and returns MPI's error code. */
#ifndef SK_OPS_NONBLOCKING_H
#define SK_OPS_NONBLOCKING_H

#define SK_NONBLOCKING(stem, call)                                                                                     \
    int sk_##stem(const void *operands);                                                                               \
    int sk_##stem##_overlap(const void *operands);
#include "ops/nonblocking.def"
#undef SK_NONBLOCKING

#endif
