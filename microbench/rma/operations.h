/* One-sided operations, completed as programs do: process 0 works on the memory of process p - 1, a process alone on
 * its own. Each takes struct sk_operands, whose windows are open, and returns MPI's error code.
 *
 *   flush  the call and MPI_Win_flush, within an epoch of MPI_Win_lock_all that is not timed; p - 1 has nothing to do
 *   lock   MPI_Win_lock (shared), the call, MPI_Win_unlock; p - 1 has nothing to do
 *   fence  MPI_Win_fence, the call, MPI_Win_fence; all processes take part
 *   pscw   MPI_Win_post and _wait at p - 1, MPI_Win_start, the call and MPI_Win_complete at process 0
 */
#ifndef SK_RMA_OPERATIONS_H
#define SK_RMA_OPERATIONS_H

#define SK_OP(id, name, function, flow, group) int function(const void *operands);
#include "rma/operations.def"
#undef SK_OP

#endif
