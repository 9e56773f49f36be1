/* What data types of MPI say of a transfer. */
#ifndef SK_TRACE_TYPES_H
#define SK_TRACE_TYPES_H

#include <mpi.h>
#include <stdint.h>

/* Bytes of so many elements, and how they lie: SK_STRIDED, SK_VECTOR or 0. Types are remembered until one is freed. */
int64_t sk_types_bytes(int64_t n, MPI_Datatype type, uint32_t *layout);
void sk_types_clear(void);

#endif
