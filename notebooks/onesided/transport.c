/* The layer as a transport. Functions are not static here, so that call sites in traces have a name. */
#include "onesided/transport.h"

#include "base/alloc.h"
#include "onesided/sk1s.h"
#include "trace/now.h"

#include <string.h>

int64_t sk_completing;

static void *memory;

void *sk_layer_begin(int64_t bytes, const char *truth)
{
    memory = sk_alloc((size_t)bytes);
    sk1s_begin(MPI_COMM_WORLD, memory, bytes, truth);
    return memory;
}

void sk_layer_end(void)
{
    sk1s_end();
    sk_free(memory);
    memory = NULL;
}

void sk_layer_barrier(void)
{
    sk1s_barrier();
}

static struct sk1s_layout all_of(const struct sk1s_layout *there)
{
    return sk1s_contiguous(0, sk1s_total(there));
}

void sk_layer_get(int target, void *local, struct sk1s_layout there)
{
    sk_completing = sk_now();
    sk1s_get(target, local, all_of(&there), there);
}

void sk_layer_put(int target, const void *local, struct sk1s_layout there)
{
    sk_completing = sk_now();
    sk1s_put(target, local, all_of(&there), there);
}

void sk_layer_accumulate(int target, const void *local, struct sk1s_layout there)
{
    sk_completing = sk_now();
    sk1s_accumulate(target, local, all_of(&there), there);
}

int64_t sk_layer_fetch_and_add(int target, int64_t at, int64_t value)
{
    sk_completing = sk_now();
    return sk1s_fetch_and_add(target, at, value);
}

int sk_layer_nbget(int target, void *local, struct sk1s_layout there)
{
    return sk1s_nbget(target, local, all_of(&there), there);
}

void sk_layer_wait(int operation)
{
    sk_completing = sk_now();
    sk1s_wait(operation);
}

void sk_layer_poll(void)
{
    sk1s_poll();
}

const struct sk_transport sk_over_layer = {
    "layer",      sk_layer_begin,      sk_layer_end,           sk_layer_barrier, sk_layer_get,
    sk_layer_put, sk_layer_accumulate, sk_layer_fetch_and_add, sk_layer_nbget,   sk_layer_wait,
    sk_layer_poll,
};

const struct sk_transport *sk_transport(const char *name)
{
    if (strcmp(name, sk_over_rma.name) == 0)
        return &sk_over_rma;
    if (strcmp(name, sk_over_locks.name) == 0)
        return &sk_over_locks;
    return strcmp(name, sk_over_layer.name) == 0 ? &sk_over_layer : NULL;
}
