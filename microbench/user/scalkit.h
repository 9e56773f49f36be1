/* What a function of your own must look like to be measured:
 *
 *     scalkit measure --function ./my_bcast.c -n 2,4,8
 *
 * The file defines, for its own name:
 *
 *     int  my_bcast(struct sk_call *call);            needed: what is timed; 0 or the error code of MPI
 *     int  my_bcast_setup(struct sk_call *call);      optional: once, before all; 0, or else the launch ends
 *     long my_bcast_check(struct sk_call *call);      optional: after a call, not timed; returns how many elements are
 *                                                     wrong on this process
 *     int  my_bcast_teardown(struct sk_call *call);   optional: once, after all
 *
 * Every process calls them. docs/measurement.md has an example. */
#ifndef SCALKIT_H
#define SCALKIT_H

#include <mpi.h>
#include <stddef.h>

struct sk_call {
    MPI_Comm comm;         /* a duplicate of MPI_COMM_WORLD, of this function alone; errors are returned */
    int rank, size;        /* in it */
    size_t bytes;          /* --size: the message */
    int count;             /* the same in elements of `type` */
    MPI_Datatype type;     /* --datatype; bytes are MPI_UINT8_T, which can be summed */
    void *send, *receive;  /* room for `size` messages each, zeros at first */
    void *own;             /* yours: what setup makes and teardown frees */
};

#endif
