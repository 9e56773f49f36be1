/* Collectives programmed with simpler calls, as an application would. Each takes struct sk_operands, with process 0 as
 * the root, and returns MPI's error code. Memory that they need is allocated within the call: part of their price. */
#ifndef SK_SUBST_COLLECTIVES_H
#define SK_SUBST_COLLECTIVES_H

int sk_gather_send_recv(const void *operands);
int sk_gather_isend_irecv_waitall(const void *operands);
int sk_bcast_send_recv(const void *operands);
int sk_bcast_allgatherv(const void *operands);
int sk_allreduce_reduce_bcast(const void *operands);
int sk_allgather_gather_bcast(const void *operands);
int sk_alltoall_isend_irecv_waitall(const void *operands);
int sk_reduce_scatter_allreduce(const void *operands);
int sk_reduce_scatter_reduce_scatter(const void *operands);
int sk_scan_send_recv(const void *operands);

#endif
