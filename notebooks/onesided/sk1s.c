#include "onesided/sk1s.h"

#include "base/alloc.h"
#include "base/check.h"
#include "onesided/serve.h"
#include "onesided/served.h"
#include "trace/kinds.h"
#include "trace/scalkit_trace.h"

#include <string.h>

/* An operation that somebody will wait for; `answer` is -1 if it was to oneself and is complete. */
struct operation { void *local; struct sk1s_layout here; uint32_t posted; int answer; bool is_live, wants_data; };

static const uint32_t kinds[] = { [SK1S_PUT] = SK_PUT, [SK1S_GET] = SK_GET, [SK1S_ACCUMULATE] = SK_ACCUMULATE };

static MPI_Comm comm = MPI_COMM_NULL;
static char *memory;
static int64_t room, *notified, n_barriers;
static int rank, size, n_operations, *ranks_of_world;
static struct operation *operations;

/* What the recorder calls the processes. */
static void find_ranks(void)
{
    MPI_Group own, world;
    int *ranks = sk_alloc((size_t)size * sizeof *ranks);
    ranks_of_world = sk_alloc((size_t)size * sizeof *ranks_of_world);
    for (int k = 0; k < size; k++)
        ranks[k] = k;
    SK_MPI(PMPI_Comm_group(comm, &own));
    SK_MPI(PMPI_Comm_group(MPI_COMM_WORLD, &world));
    SK_MPI(PMPI_Group_translate_ranks(own, size, ranks, world, ranks_of_world));
    SK_MPI(PMPI_Group_free(&own));
    SK_MPI(PMPI_Group_free(&world));
    sk_free(ranks);
}

static int world_rank(int one)
{
    SK_ASSERT(one >= 0 && one < size);
    return ranks_of_world[one];
}

void sk1s_begin(MPI_Comm whose, void *own, int64_t bytes, const char *truth)
{
    SK_MPI(PMPI_Comm_dup(whose, &comm));
    SK_MPI(PMPI_Comm_rank(comm, &rank));
    SK_MPI(PMPI_Comm_size(comm, &size));
    find_ranks();
    memory = own;
    room = bytes;
    n_barriers = 0;
    notified = sk_alloc((size_t)size * sizeof *notified);
    sk1s_served_begin(truth, rank);
    sk1s_serve_begin(comm, own, bytes);
    SK_MPI(PMPI_Barrier(comm)); /* all listen */
}

void sk1s_end(void)
{
    sk1s_wait_all(); /* else requests could come after nobody listens any more */
    sk1s_barrier();
    sk1s_serve_end();
    sk1s_served_end();
    sk_free(notified);
    sk_free(operations);
    operations = NULL;
    n_operations = 0;
    sk_free(ranks_of_world);
    SK_MPI(PMPI_Comm_free(&comm));
}

static int new_operation(void)
{
    int at = 0;
    while (at < n_operations && operations[at].is_live)
        at++;
    if (at == n_operations) {
        size_t before = (size_t)n_operations * sizeof *operations;
        operations = sk_grow(operations, before, before + sizeof *operations);
        n_operations++;
    }
    return at;
}

static void *packed(const void *local, const struct sk1s_layout *here)
{
    void *data = sk_alloc((size_t)sk1s_total(here));
    sk1s_pack(data, local, here);
    return data;
}

static void to_oneself(enum sk1s_request kind, void *local, const struct sk1s_layout *here,
                       const struct sk1s_layout *there)
{
    void *data = kind == SK1S_GET ? packed(memory, there) : packed(local, here);
    SK_ASSERT(sk1s_is_within(there, room));
    if (kind == SK1S_GET)
        sk1s_unpack(local, here, data);
    else if (kind == SK1S_PUT)
        sk1s_unpack(memory, there, data);
    else
        sk1s_add(memory, there, data);
    sk_free(data);
}

/* Posts a transfer within a call that has begun; returns its place among the operations. */
static int post(const struct sk_trace_call *call, enum sk1s_request kind, int target, void *local,
                const struct sk1s_layout *here, const struct sk1s_layout *there, uint32_t flags)
{
    int at = new_operation();
    bool gets = kind == SK1S_GET;
    SK_ASSERT(target >= 0 && target < size && sk1s_total(here) == sk1s_total(there));
    operations[at] = (struct operation){ local, *here, call->number, -1, true, gets };
    SK_TRACE_TRANSFER(call, kinds[kind] | sk1s_kind(there) | flags, world_rank(target), sk1s_total(there));
    if (target == rank) {
        to_oneself(kind, local, here, there);
        return at;
    }
    void *data = gets ? NULL : packed(local, here);
    sk1s_ask(target, kind, call->number, there, 0, data);
    sk_free(data);
    operations[at].answer = sk1s_await(target, gets ? sk1s_total(there) : 0);
    return at;
}

/* Serves others until an operation is complete. */
static void finish(int at)
{
    struct operation one = operations[at];
    if (one.answer >= 0) {
        sk1s_serve_until(sk1s_has_answered, one.answer);
        if (one.wants_data)
            sk1s_unpack(one.local, &one.here, sk1s_answer(one.answer));
        sk1s_forget(one.answer);
    }
    operations[at].is_live = false;
}

static void blocking(const struct sk_trace_call *call, enum sk1s_request kind, int target, void *local,
                     const struct sk1s_layout *here, const struct sk1s_layout *there)
{
    finish(post(call, kind, target, local, here, there, SK_BLOCKING));
    sk1s_serve_present();
}

static int posted(const struct sk_trace_call *call, enum sk1s_request kind, int target, void *local,
                  const struct sk1s_layout *here, const struct sk1s_layout *there)
{
    int at = post(call, kind, target, local, here, there, 0);
    sk1s_serve_present();
    return at;
}

/* A function that the recorder hears of: `call` is its call. */
#define BEGIN(text, rank) \
    static struct sk_trace_function function = { .name = text }; \
    struct sk_trace_call call; \
    SK_TRACE_BEGIN(&call, &function, rank)

void sk1s_put(int target, const void *local, struct sk1s_layout here, struct sk1s_layout there)
{
    BEGIN("sk1s_put", world_rank(target));
    blocking(&call, SK1S_PUT, target, (void *)(uintptr_t)local, &here, &there);
    SK_TRACE_END(&call);
}

void sk1s_get(int target, void *local, struct sk1s_layout here, struct sk1s_layout there)
{
    BEGIN("sk1s_get", world_rank(target));
    blocking(&call, SK1S_GET, target, local, &here, &there);
    SK_TRACE_END(&call);
}

void sk1s_accumulate(int target, const void *local, struct sk1s_layout here, struct sk1s_layout there)
{
    BEGIN("sk1s_accumulate", world_rank(target));
    blocking(&call, SK1S_ACCUMULATE, target, (void *)(uintptr_t)local, &here, &there);
    SK_TRACE_END(&call);
}

int sk1s_nbput(int target, const void *local, struct sk1s_layout here, struct sk1s_layout there)
{
    BEGIN("sk1s_nbput", world_rank(target));
    int operation = posted(&call, SK1S_PUT, target, (void *)(uintptr_t)local, &here, &there);
    SK_TRACE_END(&call);
    return operation;
}

int sk1s_nbget(int target, void *local, struct sk1s_layout here, struct sk1s_layout there)
{
    BEGIN("sk1s_nbget", world_rank(target));
    int operation = posted(&call, SK1S_GET, target, local, &here, &there);
    SK_TRACE_END(&call);
    return operation;
}

int sk1s_nbaccumulate(int target, const void *local, struct sk1s_layout here, struct sk1s_layout there)
{
    BEGIN("sk1s_nbaccumulate", world_rank(target));
    int operation = posted(&call, SK1S_ACCUMULATE, target, (void *)(uintptr_t)local, &here, &there);
    SK_TRACE_END(&call);
    return operation;
}

int64_t sk1s_fetch_and_add(int target, int64_t at, int64_t value)
{
    struct sk1s_layout there = sk1s_contiguous(at, sizeof value);
    int64_t was, sum;
    SK_ASSERT(target >= 0 && target < size);
    BEGIN("sk1s_fetch_and_add", world_rank(target));
    SK_TRACE_TRANSFER(&call, SK_RMW | SK_BLOCKING, world_rank(target), sizeof value);
    if (target == rank) {
        SK_ASSERT(sk1s_is_within(&there, room));
        sk1s_pack(&was, memory, &there);
        sum = was + value;
        sk1s_unpack(memory, &there, &sum);
    } else {
        sk1s_ask(target, SK1S_ADD, call.number, &there, value, NULL);
        int answer = sk1s_await(target, sizeof value);
        sk1s_serve_until(sk1s_has_answered, answer);
        memcpy(&was, sk1s_answer(answer), sizeof was);
        sk1s_forget(answer);
    }
    sk1s_serve_present();
    SK_TRACE_END(&call);
    return was;
}

void sk1s_wait(int operation)
{
    SK_ASSERT(operation >= 0 && operation < n_operations && operations[operation].is_live);
    BEGIN("sk1s_wait", -1);
    finish(operation);
    SK_TRACE_COMPLETE(&call, operations[operation].posted);
    sk1s_serve_present();
    SK_TRACE_END(&call);
}

void sk1s_wait_all(void)
{
    BEGIN("sk1s_wait_all", -1);
    for (int at = 0; at < n_operations; at++)
        if (operations[at].is_live) {
            finish(at);
            SK_TRACE_COMPLETE(&call, operations[at].posted);
        }
    sk1s_serve_present();
    SK_TRACE_END(&call);
}

void sk1s_notify(int target)
{
    BEGIN("sk1s_notify", world_rank(target));
    SK_TRACE_TRANSFER(&call, SK_TRACE_NOTIFY, world_rank(target), 0);
    sk1s_ask(target, SK1S_NOTIFY, call.number, NULL, 0, NULL);
    sk1s_serve_present();
    SK_TRACE_END(&call);
}

static bool is_notified(int64_t origin)
{
    return sk1s_notifications((int)origin) > notified[origin];
}

void sk1s_notify_wait(int origin)
{
    BEGIN("sk1s_notify_wait", world_rank(origin));
    sk1s_serve_until(is_notified, origin);
    notified[origin]++;
    SK_TRACE_TRANSFER(&call, SK_TRACE_NOTIFIED | SK_TRACE_BLOCKING, world_rank(origin), 0);
    sk1s_serve_present();
    SK_TRACE_END(&call);
}

static bool has_arrived(int64_t round)
{
    return sk1s_arrivals((int)round) >= n_barriers;
}

void sk1s_barrier(void)
{
    BEGIN("sk1s_barrier", -1);
    n_barriers++;
    for (int round = 0, distance = 1; distance < size; round++, distance *= 2) {
        sk1s_ask((rank + distance) % size, SK1S_BARRIER, 0, NULL, round, NULL);
        sk1s_serve_until(has_arrived, round);
    }
    sk1s_serve_present();
    SK_TRACE_END(&call);
}

void sk1s_poll(void)
{
    BEGIN("sk1s_poll", -1);
    sk1s_serve_present();
    SK_TRACE_END(&call);
}
