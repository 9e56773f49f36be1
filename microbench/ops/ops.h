/* The operations whose time is measured. One call is one indirect function call; the operation itself goes through its
 * MPI_ name, so that preloaded tools are measured. */
#ifndef SK_OPS_OPS_H
#define SK_OPS_OPS_H

#include "ops/data.h"

enum sk_op_id {
#define SK_OP(id, name, function, flow) SK_OP_##id,
#include "ops/ops.def"
#undef SK_OP
    SK_OPS
};

struct sk_op {
    const char *name;
    int (*call)(const void *operands); /* struct sk_operands; returns MPI's error code */
    enum sk_flow flow;
};

extern const struct sk_op sk_ops[SK_OPS];
extern const char *const sk_op_names[SK_OPS];

#endif
