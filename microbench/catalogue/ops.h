/* The operations whose time is measured. One call is one indirect function call; the operation itself goes through its
 * MPI_ name, so that preloaded tools are measured. */
#ifndef SK_CATALOGUE_OPS_H
#define SK_CATALOGUE_OPS_H

#include "ops/data.h"

enum sk_op_id {
#define SK_OP(id, name, function, flow, group) SK_OP_##id,
#include "catalogue/ops.def"
#undef SK_OP
    SK_OPS
};

enum sk_op_group {
    SK_PAPER,
    SK_BLOCKING,
    SK_NONBLOCKING,
    SK_OVERLAP,
    SK_POINT_TO_POINT,
    SK_BANDWIDTH,
    SK_PERSISTENT,
    SK_PARTITIONED,
    SK_IN_PLACE,
    SK_FURTHER,
    SK_SUBSTITUTES,
    SK_SEND_MODES,
    SK_RMA,
    SK_SIMPLE,
    SK_OWN,
    SK_OP_GROUPS
};

enum { SK_MOST_OPS = 192 }; /* of one program */

struct sk_op {
    const char *name;
    int (*call)(const void *operands); /* struct sk_operands; returns MPI's error code */
    enum sk_flow flow;
    enum sk_op_group group;
    const void *own;                /* SK_OWN: what `call` and `check` get in place of the operands */
    long (*check)(const void *own); /* SK_OWN: returns how many elements the last call left wrong; may be NULL */
};

extern const struct sk_op sk_ops[SK_OPS];

/* Words that stand for several operations, SK_OWN for all. */
extern const char *const sk_op_group_names[SK_OP_GROUPS];

/* Looks up comma-separated names and groups of `ops` (n of them); writes the indices, without repetition, to `found`
 * (room for n). Returns how many, or -1 with the reason in `why`. */
int sk_ops_choose(const struct sk_op *ops, int n, const char *text, int *found, char *why, size_t room);

/* Calls the operation once, with the operands or with what is its own. Returns MPI's error code. */
int sk_op_call(const struct sk_op *op, const struct sk_operands *operands);

/* Returns whether the value of a repetition is half of what a call lasts: a round trip. */
bool sk_op_is_round_trip(const struct sk_op *op);

/* Returns what the value of a repetition is, in words. */
const char *sk_op_definition(const struct sk_op *op);

#endif
