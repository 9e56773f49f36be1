#include "onesided/events.h"

#include "trace/define.h"
#include "trace/now.h"
#include "trace/record.h"

static int32_t scope = -1;

void sk1s_events_begin(MPI_Comm comm)
{
    scope = sk_scope_of_comm(comm);
}

void sk1s_enter(struct sk1s_event *event, const char *name, const void *site, int peer)
{
    struct sk_place place = { NULL, 0, 0 };
    event->call = (struct sk_call){ .scope = scope, .peer = peer };
    if (!sk_is_recording)
        return;
    sk_lock();
    event->outer = sk_enter(&event->call, &place, sk_define_region(name), site);
}

void sk1s_leave(struct sk1s_event *event)
{
    if (!sk_is_recording)
        return;
    event->call.leave = sk_now();
    sk_lock();
    sk_leave(&event->call, event->outer);
}

void sk1s_transferred(const struct sk1s_event *event, uint32_t kind, int peer, int64_t bytes)
{
    uint32_t number = event->call.number;
    struct sk_transfer one = { bytes, number, number, kind, scope, peer, 0 };
    if (!sk_is_recording || scope < 0)
        return;
    sk_lock();
    sk_buffer_transfer(&one);
    sk_unlock();
}

void sk1s_completed(const struct sk1s_event *event, uint32_t posted)
{
    if (!sk_is_recording)
        return;
    sk_lock();
    sk_buffer_completion(event->call.number, posted);
    sk_unlock();
}
