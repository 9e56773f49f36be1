#include "onesided/events.h"

void sk1s_events_begin(MPI_Comm comm)
{
    (void)comm;
}

void sk1s_enter(struct sk1s_event *event, const char *name, const void *site, int peer)
{
    static uint32_t numbers;
    (void)name, (void)site;
    *event = (struct sk1s_event){ .call = { .number = numbers++, .peer = peer } };
}

void sk1s_leave(struct sk1s_event *event)
{
    (void)event;
}

void sk1s_transferred(const struct sk1s_event *event, uint32_t kind, int peer, int64_t bytes)
{
    (void)event, (void)kind, (void)peer, (void)bytes;
}

void sk1s_completed(const struct sk1s_event *event, uint32_t posted)
{
    (void)event, (void)posted;
}
