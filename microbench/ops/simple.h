/* Local calls, without communication: SKaMPI's simple pattern. They are shorter than a clock can tell, so each function
 * makes SK_SIMPLE_CALLS of them one after the other, as the names in the run file say: [x1000]. Each takes struct
 * sk_operands and returns MPI's error code; MPI_ERR_OTHER where a call returns what cannot be. */
#ifndef SK_OPS_SIMPLE_H
#define SK_OPS_SIMPLE_H

enum { SK_SIMPLE_CALLS = 1000 };

int sk_simple_wtime(const void *operands);
int sk_simple_comm_rank(const void *operands);
int sk_simple_comm_group(const void *operands);  /* and MPI_Group_free */
int sk_simple_type_size(const void *operands);
int sk_simple_type_vector(const void *operands); /* MPI_Type_vector, _commit, _free; every second element of a block */
int sk_simple_iprobe(const void *operands);      /* there is no message */

#endif
