/* What goes into an operation and what must come out: buffers, known contents, check. */
#ifndef SK_OPS_DATA_H
#define SK_OPS_DATA_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who ends with what. Process 0 is the root. */
enum sk_flow {
    SK_FLOW_NONE,        /* no data */
    SK_FLOW_OBJECT,      /* no data, no barrier: an object is made, or calls are local and look at what they return */
    SK_FLOW_ROOT_TO_ALL, /* the root's block */
    SK_FLOW_SUM_TO_ROOT, /* the sum of all blocks, on the root */
    SK_FLOW_SUM_TO_ALL,
    SK_FLOW_ALL_TO_ROOT, /* every process' block, on the root */
    SK_FLOW_ALL_TO_ALL,  /* every process' block, everywhere */
    SK_FLOW_EXCHANGE,    /* from every process the block meant for this one */
    SK_FLOW_ROOT_TO_EACH, /* the block that the root has for this process */
    SK_FLOW_SUM_TO_EACH, /* the sum of the blocks meant for this process */
    SK_FLOW_SUM_UP_TO,   /* the sum of the blocks of processes 0 to this one */
    SK_FLOW_SUM_BEFORE,  /* the same without this one; process 0 receives nothing */
    SK_FLOW_SUM_ONTO,    /* the own block, added onto the next process' block, which is there already */
    SK_FLOW_SUM_TO_EACH_IN_PLACE, /* SK_FLOW_SUM_TO_EACH, of blocks that lie in the receive buffer */
    SK_FLOW_ENDS,        /* processes 0 and p - 1 have each other's block */
    SK_FLOW_WINDOW,      /* process p - 1 has the block of process 0 as often as there are messages */
    SK_FLOW_WINDOWS_BOTH_WAYS, /* the same from 1 to p - 1, and back; of two processes from 0. To 0, those that look on
                                  send when they are done, while it is still busy */
    SK_FLOW_WINDOWS_OF_PAIRS, /* each process of the second half that of its partner in the first */
    /* one-sided, on a window of process p - 1 (rma/windows.h): */
    SK_FLOW_PUT,         /* the window has the block of process 0 */
    SK_FLOW_GET,         /* process 0 has what lies in the window */
    SK_FLOW_ACCUMULATE,  /* the block of process 0 is added to what lies in the window */
    SK_FLOW_GET_ACCUMULATE, /* and process 0 has what lay there before */
    SK_FLOW_FETCH_AND_OP,   /* the same with one integer of 8 bytes */
    SK_FLOW_COMPARE_AND_SWAP /* one integer of 8 bytes is exchanged for that of process 0 */
};

enum sk_datatype { SK_BYTE, SK_INT, SK_DOUBLE, SK_DATATYPES };

extern const char *const sk_datatype_names[SK_DATATYPES];
size_t sk_datatype_bytes(enum sk_datatype datatype);

/* Bytes are summed as MPI_UINT8_T. */
struct sk_operands {
    MPI_Comm comm;
    int rank, size;
    int grid[2];            /* a grid of all processes, as square as can be */
    enum sk_datatype datatype;
    int count;              /* elements of a block */
    MPI_Datatype type;      /* of an element */
    MPI_Datatype sum_type;  /* of an element, in reductions */
    void *send, *receive;   /* as many blocks as there is room for */
    size_t sheet_bytes;     /* of the send buffer, where it shows a sheet (ops/sheet.h); 0 where it is plain memory */
    int *counts, *places;   /* elements and first element of each process' block */
    int64_t work;           /* rounds of sk_work beside a non-blocking operation */
    struct sk_windows *windows; /* of one-sided operations; NULL where they are not measured */
};

/* Sets element i of a buffer to a small value; returns whether it is that value. */
void sk_element_set(enum sk_datatype datatype, void *buffer, size_t i, int value);
bool sk_element_is(enum sk_datatype datatype, const void *buffer, size_t i, int value);

enum { SK_WINDOW_MESSAGES = 64 }; /* of a process to its partner in a call; names in the run file say so */

/* Where a process sends its messages, and where it receives some from; -1: nowhere. */
struct sk_stream { int to, from; };

/* Returns this for process `rank` of `size`; nowhere for flows without a window. */
struct sk_stream sk_stream_of(enum sk_flow flow, int rank, int size);

/* How many blocks a process has room for. */
struct sk_blocks { int send, receive; };

/* Returns what process `rank` of `size` needs for operations of this flow: a block for or from every process, or 1. */
struct sk_blocks sk_flow_room(enum sk_flow flow, int rank, int size);

/* The caller frees with sk_operands_free. `bytes` is a multiple of the datatype's size, at least one element.
 * Operations that need more than `room` must not be called. */
struct sk_operands sk_operands_new(MPI_Comm comm, enum sk_datatype datatype, size_t bytes, struct sk_blocks room);
void sk_operands_free(struct sk_operands *operands);

/* Fills the send buffer with known values, and the receive buffer with values that are all wrong. */
void sk_operands_fill(const struct sk_operands *operands, enum sk_flow flow);

/* After filling: puts what this process sends where an operation with MPI_IN_PLACE takes it from. */
void sk_operands_put_in_place(const struct sk_operands *operands, enum sk_flow flow);

/* Returns how many elements of the receive buffer are not what `flow` must give; 0 where nothing is received. */
size_t sk_operands_wrong(const struct sk_operands *operands, enum sk_flow flow);

#endif
