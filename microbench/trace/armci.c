/* A function for each line of armci.def: it tells the recorder, and calls PARMCI. To be linked before ARMCI. */
#include <armci.h>

#include "trace/armci_pending.h"
#include "trace/scalkit_trace.h"

/* Bytes of all pieces. */
static int64_t strided_bytes(const int *count, int levels)
{
    int64_t bytes = count[0];
    for (int level = 1; level <= levels; level++)
        bytes *= count[level];
    return bytes;
}

/* Whether pieces lie one behind the other. */
static unsigned strided_layout(const int *strides, const int *count, int levels)
{
    int64_t whole = count[0];
    for (int level = 0; level < levels; level++) {
        if (strides[level] != whole && count[level + 1] > 1)
            return SK_TRACE_STRIDED;
        whole *= count[level + 1];
    }
    return 0;
}

static int64_t vector_bytes(const armci_giov_t *pieces, int n)
{
    int64_t bytes = 0;
    for (int k = 0; k < n; k++)
        bytes += (int64_t)pieces[k].bytes * pieces[k].ptr_array_len;
    return bytes;
}

static unsigned vector_layout(const armci_giov_t *pieces, int n)
{
    return n == 1 && pieces[0].ptr_array_len == 1 ? 0 : SK_TRACE_VECTOR;
}

#define DID(what, bytes) sk_armci_did(&call, SK_TRACE_##what, rank, (int64_t)(bytes));
#define DID_STRIDED(what, there) \
    sk_armci_did(&call, SK_TRACE_##what | strided_layout(there, count, levels), rank, strided_bytes(count, levels));
#define DID_VECTOR(what) sk_armci_did(&call, SK_TRACE_##what | vector_layout(pieces, n), rank, vector_bytes(pieces, n));
#define BEGAN(what, bytes) sk_armci_began(&call, SK_TRACE_##what, rank, (int64_t)(bytes), handle);
#define BEGAN_STRIDED(what, there) \
    sk_armci_began(&call, SK_TRACE_##what | strided_layout(there, count, levels), rank, strided_bytes(count, levels), \
                   handle);
#define BEGAN_VECTOR(what) \
    sk_armci_began(&call, SK_TRACE_##what | vector_layout(pieces, n), rank, vector_bytes(pieces, n), handle);

#define BEGIN(text, rank) \
    static struct sk_trace_function function = { .name = text }; \
    struct sk_trace_call call; \
    SK_TRACE_BEGIN(&call, &function, rank);

#define SK_ARMCI(type, name, parameters, arguments, rank, after) \
    type ARMCI_##name parameters \
    { \
        BEGIN("ARMCI_" #name, rank) \
        type result = PARMCI_##name arguments; \
        after \
        SK_TRACE_END(&call); \
        return result; \
    }

#define SK_ARMCI_VOID(name, parameters, arguments, rank, after) \
    void ARMCI_##name parameters \
    { \
        BEGIN("ARMCI_" #name, rank) \
        PARMCI_##name arguments; \
        after \
        SK_TRACE_END(&call); \
    }

#include "trace/armci.def"

#ifdef ARMCI_MPI
void armci_msg_barrier(void)
{
    BEGIN("armci_msg_barrier", -1)
    parmci_msg_barrier();
    SK_TRACE_END(&call);
}

void armci_msg_group_barrier(ARMCI_Group *group)
{
    BEGIN("armci_msg_group_barrier", -1)
    parmci_msg_group_barrier(group);
    SK_TRACE_END(&call);
}
#endif
