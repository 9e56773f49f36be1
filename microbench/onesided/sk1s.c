#include "onesided/sk1s.h"

#include "base/alloc.h"
#include "base/check.h"
#include "onesided/events.h"
#include "onesided/serve.h"
#include "onesided/served.h"
#include "trace/kinds.h"

#include <string.h>

/* An operation that somebody will wait for; `answer` is -1 if it was to oneself and is complete. */
struct operation { void *local; struct sk1s_layout here; uint32_t posted; int answer; bool is_live, wants_data; };

static const uint32_t kinds[] = { [SK1S_PUT] = SK_PUT, [SK1S_GET] = SK_GET, [SK1S_ACCUMULATE] = SK_ACCUMULATE };

static MPI_Comm comm = MPI_COMM_NULL;
static char *memory;
static int64_t room, *notified, n_barriers;
static int rank, size, n_operations;
static struct operation *operations;

void sk1s_begin(MPI_Comm whose, void *own, int64_t bytes, const char *truth)
{
    SK_MPI(MPI_Comm_dup(whose, &comm)); /* seen by the recorder, so that a trace knows its ranks */
    SK_MPI(PMPI_Comm_rank(comm, &rank));
    SK_MPI(PMPI_Comm_size(comm, &size));
    memory = own;
    room = bytes;
    n_barriers = 0;
    notified = sk_alloc((size_t)size * sizeof *notified);
    sk1s_served_begin(truth, rank);
    sk1s_events_begin(comm);
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
    SK_MPI(MPI_Comm_free(&comm));
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
static int post(const struct sk1s_event *event, enum sk1s_request kind, int target, void *local,
                const struct sk1s_layout *here, const struct sk1s_layout *there, uint32_t flags)
{
    int at = new_operation();
    bool gets = kind == SK1S_GET;
    SK_ASSERT(target >= 0 && target < size && sk1s_total(here) == sk1s_total(there));
    operations[at] = (struct operation){ local, *here, event->call.number, -1, true, gets };
    sk1s_transferred(event, kinds[kind] | sk1s_kind(there) | flags, target, sk1s_total(there));
    if (target == rank) {
        to_oneself(kind, local, here, there);
        return at;
    }
    void *data = gets ? NULL : packed(local, here);
    sk1s_ask(target, kind, event->call.number, there, 0, data);
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

static void blocking(const char *name, const void *site, enum sk1s_request kind, int target, void *local,
                     const struct sk1s_layout *here, const struct sk1s_layout *there)
{
    struct sk1s_event event;
    sk1s_enter(&event, name, site, target);
    finish(post(&event, kind, target, local, here, there, SK_BLOCKING));
    sk1s_serve_present();
    sk1s_leave(&event);
}

static int posted(const char *name, const void *site, enum sk1s_request kind, int target, void *local,
                  const struct sk1s_layout *here, const struct sk1s_layout *there)
{
    struct sk1s_event event;
    sk1s_enter(&event, name, site, target);
    int at = post(&event, kind, target, local, here, there, 0);
    sk1s_serve_present();
    sk1s_leave(&event);
    return at;
}

#define SITE __builtin_return_address(0)

void sk1s_put(int target, const void *local, struct sk1s_layout here, struct sk1s_layout there)
{
    blocking("sk1s_put", SITE, SK1S_PUT, target, (void *)(uintptr_t)local, &here, &there);
}

void sk1s_get(int target, void *local, struct sk1s_layout here, struct sk1s_layout there)
{
    blocking("sk1s_get", SITE, SK1S_GET, target, local, &here, &there);
}

void sk1s_accumulate(int target, const void *local, struct sk1s_layout here, struct sk1s_layout there)
{
    blocking("sk1s_accumulate", SITE, SK1S_ACCUMULATE, target, (void *)(uintptr_t)local, &here, &there);
}

int sk1s_nbput(int target, const void *local, struct sk1s_layout here, struct sk1s_layout there)
{
    return posted("sk1s_nbput", SITE, SK1S_PUT, target, (void *)(uintptr_t)local, &here, &there);
}

int sk1s_nbget(int target, void *local, struct sk1s_layout here, struct sk1s_layout there)
{
    return posted("sk1s_nbget", SITE, SK1S_GET, target, local, &here, &there);
}

int sk1s_nbaccumulate(int target, const void *local, struct sk1s_layout here, struct sk1s_layout there)
{
    return posted("sk1s_nbaccumulate", SITE, SK1S_ACCUMULATE, target, (void *)(uintptr_t)local, &here, &there);
}

int64_t sk1s_fetch_and_add(int target, int64_t at, int64_t value)
{
    struct sk1s_event event;
    struct sk1s_layout there = sk1s_contiguous(at, sizeof value);
    int64_t was, sum;
    SK_ASSERT(target >= 0 && target < size);
    sk1s_enter(&event, "sk1s_fetch_and_add", SITE, target);
    sk1s_transferred(&event, SK_RMW | SK_BLOCKING, target, sizeof value);
    if (target == rank) {
        SK_ASSERT(sk1s_is_within(&there, room));
        sk1s_pack(&was, memory, &there);
        sum = was + value;
        sk1s_unpack(memory, &there, &sum);
    } else {
        sk1s_ask(target, SK1S_ADD, event.call.number, &there, value, NULL);
        int answer = sk1s_await(target, sizeof value);
        sk1s_serve_until(sk1s_has_answered, answer);
        memcpy(&was, sk1s_answer(answer), sizeof was);
        sk1s_forget(answer);
    }
    sk1s_serve_present();
    sk1s_leave(&event);
    return was;
}

void sk1s_wait(int operation)
{
    struct sk1s_event event;
    SK_ASSERT(operation >= 0 && operation < n_operations && operations[operation].is_live);
    sk1s_enter(&event, "sk1s_wait", SITE, -1);
    finish(operation);
    sk1s_completed(&event, operations[operation].posted);
    sk1s_serve_present();
    sk1s_leave(&event);
}

void sk1s_wait_all(void)
{
    struct sk1s_event event;
    sk1s_enter(&event, "sk1s_wait_all", SITE, -1);
    for (int at = 0; at < n_operations; at++)
        if (operations[at].is_live) {
            finish(at);
            sk1s_completed(&event, operations[at].posted);
        }
    sk1s_serve_present();
    sk1s_leave(&event);
}

void sk1s_notify(int target)
{
    struct sk1s_event event;
    sk1s_enter(&event, "sk1s_notify", SITE, target);
    sk1s_transferred(&event, SK_SENT | SK_BLOCKING, target, 0);
    sk1s_ask(target, SK1S_NOTIFY, event.call.number, NULL, 0, NULL);
    sk1s_serve_present();
    sk1s_leave(&event);
}

static bool is_notified(int64_t origin)
{
    return sk1s_notifications((int)origin) > notified[origin];
}

void sk1s_notify_wait(int origin)
{
    struct sk1s_event event;
    sk1s_enter(&event, "sk1s_notify_wait", SITE, origin);
    sk1s_serve_until(is_notified, origin);
    notified[origin]++;
    sk1s_transferred(&event, SK_RECEIVED | SK_BLOCKING, origin, 0);
    sk1s_serve_present();
    sk1s_leave(&event);
}

static bool has_arrived(int64_t round)
{
    return sk1s_arrivals((int)round) >= n_barriers;
}

void sk1s_barrier(void)
{
    struct sk1s_event event;
    sk1s_enter(&event, "sk1s_barrier", SITE, -1);
    n_barriers++;
    for (int round = 0, distance = 1; distance < size; round++, distance *= 2) {
        sk1s_ask((rank + distance) % size, SK1S_BARRIER, 0, NULL, round, NULL);
        sk1s_serve_until(has_arrived, round);
    }
    sk1s_serve_present();
    sk1s_leave(&event);
}

void sk1s_poll(void)
{
    struct sk1s_event event;
    sk1s_enter(&event, "sk1s_poll", SITE, -1);
    sk1s_serve_present();
    sk1s_leave(&event);
}
