/* Persistent operations: a request is made in the first call, by MPI_Allreduce_init and the like, and kept; what is
 * timed after that is MPI_Start and MPI_Wait. Each takes struct sk_operands, the same in every call, and returns MPI's
 * error code; without MPI 4 (ops/mpi4.h) only the round trip of persistent messages can be called. */
#ifndef SK_OPS_PERSISTENT_H
#define SK_OPS_PERSISTENT_H

#include <stdbool.h>

#define SK_PERSISTENT(stem, call) int sk_persistent_##stem(const void *operands);
#include "ops/persistent.def"
#undef SK_PERSISTENT

/* A round trip between the first and the last process with requests of MPI_Send_init and MPI_Recv_init; the same with
 * messages of up to 8 partitions, MPI_Psend_init, MPI_Precv_init and an MPI_Pready for each. */
int sk_persistent_round_trip(const void *operands);
int sk_partitioned_round_trip(const void *operands);

/* Frees the requests, if there are any, before the operands are freed. Every process must call it. */
void sk_persistent_close(void);

#endif
