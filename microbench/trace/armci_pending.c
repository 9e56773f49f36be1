#include "trace/armci_pending.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Operations that somebody will wait for, and of each target the last one that a fence waits for: earlier ones are
 * complete before it. */
static struct began { const void *handle; uint32_t call; int rank; } *began;
static struct last { uint32_t call; bool is_there; } *last;
static int n_began, began_room, n_ranks;

static void *grown(void *memory, int room, size_t size)
{
    memory = realloc(memory, (size_t)room * size);
    if (!memory) {
        fprintf(stderr, "scalkit trace: no memory for %d operations of ARMCI.\n", room);
        abort();
    }
    return memory;
}

static void keep_last(uint32_t call, unsigned what, int rank)
{
    unsigned kind = what & 0xFF;
    if (rank < 0 || (kind != SK_TRACE_PUT && kind != SK_TRACE_ACCUMULATE))
        return;
    if (rank >= n_ranks) {
        last = grown(last, 2 * rank + 16, sizeof *last);
        while (n_ranks < 2 * rank + 16)
            last[n_ranks++].is_there = false;
    }
    last[rank] = (struct last){ call, true };
}

void sk_armci_did(const struct sk_trace_call *call, unsigned what, int rank, int64_t bytes)
{
    SK_TRACE_TRANSFER(call, what | SK_TRACE_BLOCKING, rank, bytes);
    keep_last(call->number, what, rank);
}

void sk_armci_began(const struct sk_trace_call *call, unsigned what, int rank, int64_t bytes, const void *handle)
{
    SK_TRACE_TRANSFER(call, what, rank, bytes);
    keep_last(call->number, what, rank);
    if (n_began == began_room) {
        began_room = 2 * began_room + 64;
        began = grown(began, began_room, sizeof *began);
    }
    began[n_began++] = (struct began){ handle, call->number, rank };
}

/* Completes what was begun with a handle, to one target or (-1) to all, and forgets it. */
static void complete(const struct sk_trace_call *call, const void *handle, int rank)
{
    int kept = 0;
    for (int k = 0; k < n_began; k++)
        if (began[k].handle == handle && (rank < 0 || began[k].rank == rank))
            SK_TRACE_COMPLETE(call, began[k].call);
        else
            began[kept++] = began[k];
    n_began = kept;
}

void sk_armci_waited(const struct sk_trace_call *call, const void *handle)
{
    complete(call, handle, -1);
}

void sk_armci_waited_for(const struct sk_trace_call *call, int rank)
{
    complete(call, NULL, rank);
}

void sk_armci_fenced(const struct sk_trace_call *call, int rank)
{
    for (int k = 0; k < n_ranks; k++)
        if (last[k].is_there && (rank < 0 || rank == k)) {
            SK_TRACE_COMPLETE(call, last[k].call);
            last[k].is_there = false;
        }
}

void sk_armci_met(void)
{
    for (int k = 0; k < n_ranks; k++)
        last[k].is_there = false;
}
