#define _GNU_SOURCE
#include "virtual/stream.h"

#include "virtual/messages.h"
#include "virtual/shared.h"
#include "virtual/turn.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How many bytes may wait for the network card of a process: it is never idle, and memory stays bounded. */
enum { BACKLOG = 4 << 20, FEWEST_GAPS = 256 };

static struct sk_stream *at(uint32_t stream)
{
    return &sk_shared->streams[stream];
}

static struct sk_message *message_at(sk_at place)
{
    return sk_shared_at(place);
}

void sk_stream_bind(uint32_t stream, int from, int to)
{
    *at(stream) = (struct sk_stream){.key = at(stream)->key, .from = from, .to = to, .reader = -1};
}

/* ---- the inbox --------------------------------------------------------------------------------------------------- */

static bool comes_before(const struct sk_message *one, const struct sk_message *other)
{
    if (one->arrival != other->arrival)
        return one->arrival < other->arrival;
    return at(one->stream)->from < at(other->stream)->from;
}

/* Puts a message behind all that arrive before it or at the same time. */
static void put(struct sk_process *to, struct sk_message *message)
{
    struct sk_message *before = message_at(to->inbox_end);
    bool passes_unready = false;
    sk_at place = sk_shared_place(message);
    while (before && comes_before(message, before)) {
        passes_unready = passes_unready || sk_shared_place(before) == to->unready;
        before = message_at(before->previous);
    }
    message->previous = sk_shared_place(before);
    message->next = before ? before->next : to->inbox;
    if (message->next)
        message_at(message->next)->previous = place;
    else
        to->inbox_end = place;
    if (before)
        before->next = place;
    else
        to->inbox = place;
    if (!to->unready || passes_unready)
        to->unready = place;
}

static void take_out(struct sk_process *from, struct sk_message *message)
{
    if (from->unready == sk_shared_place(message))
        from->unready = message->next;
    if (message->previous)
        message_at(message->previous)->next = message->next;
    else
        from->inbox = message->next;
    if (message->next)
        message_at(message->next)->previous = message->previous;
    else
        from->inbox_end = message->previous;
}

struct sk_message *sk_stream_first(void)
{
    return message_at(sk_self.at->inbox);
}

struct sk_message *sk_stream_next(const struct sk_message *message)
{
    return message_at(message->next);
}

bool sk_stream_is_first(const struct sk_message *message)
{
    return at(message->stream)->first == sk_shared_place(message);
}

/* What the network card of the receiver makes of an arrival. */
static sk_ps ready_after(const struct sk_message *message, sk_ps busy_until)
{
    const struct sk_network *network = &sk_shared->machine.network[message->place];
    sk_ps lasts = network->gap + sk_network_bytes(network, message->length);
    sk_ps after = message->length > 0 && !message->is_free ? busy_until + lasts : 0;
    return after > message->arrival ? after : message->arrival;
}

sk_ps sk_stream_earliest(const struct sk_message *message)
{
    return message->ready != SK_NEVER ? message->ready : ready_after(message, sk_self.at->received[message->place]);
}

void sk_stream_rank_arrivals(void)
{
    struct sk_process *me = sk_self.at;
    struct sk_message *one = message_at(me->unready);
    for (; one && one->arrival <= me->settled; one = message_at(one->next)) {
        one->ready = ready_after(one, me->received[one->place]);
        if (one->length > 0 && !one->is_free)
            me->received[one->place] = one->ready;
        me->unready = one->next;
    }
}

/* ---- sending ----------------------------------------------------------------------------------------------------- */

bool sk_stream_has_room(uint32_t out, sk_ps *when)
{
    enum sk_place place = sk_machine_place(&sk_shared->machine, sk_self.rank, at(out)->to);
    const struct sk_network *network = &sk_shared->machine.network[place];
    sk_ps gaps = FEWEST_GAPS * network->gap, bytes = sk_network_bytes(network, BACKLOG);
    *when = sk_self.at->card[place] - (gaps > bytes ? gaps : bytes);
    return *when <= sk_self.at->clock;
}

static void wake_if_free(struct sk_process *to)
{
    __atomic_add_fetch(&to->bell, 1, __ATOMIC_ACQ_REL);
    if (to->mode == SK_FREE || to->mode == SK_ABSENT)
        syscall(SYS_futex, &to->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* When bytes that leave now arrive. The end of a stream costs nothing. */
static sk_ps arrival_of(int to, enum sk_place place, int64_t bytes)
{
    struct sk_process *me = sk_self.at;
    const struct sk_network *network = &sk_shared->machine.network[place];
    sk_ps latency = network->latency + sk_machine_further(&sk_shared->machine, sk_self.rank, to);
    if (!sk_self_is_timed())
        return sk_shared->joined == sk_shared->machine.processes ? sk_shared->horizon + sk_self.lookahead : 0;
    if (bytes == 0)
        return (me->card[place] > me->clock ? me->card[place] : me->clock) + network->overhead + latency;
    me->clock += network->overhead;
    sk_ps start = me->card[place] > me->clock ? me->card[place] : me->clock;
    sk_ps passed = start + sk_network_bytes(network, bytes);
    me->card[place] = passed + network->gap;
    return passed + latency;
}

static void require_cause(const struct sk_process *to, sk_ps arrival)
{
    if (sk_shared->machine.check && sk_self_is_timed() && to->mode == SK_TIMED && arrival <= to->settled)
        sk_over("a message would arrive in the past of its receiver; this is a defect of scalkit, please report it");
}

static struct sk_message *send_locked(uint32_t out, const struct iovec *parts, int n, int64_t bytes)
{
    struct sk_stream *stream = at(out);
    struct sk_process *to = &sk_shared->processes[stream->to];
    struct sk_message *message = sk_shared_message(bytes);
    sk_at place = sk_shared_place(message);
    enum sk_place where = sk_machine_place(&sk_shared->machine, sk_self.rank, stream->to);
    message->ready = SK_NEVER;
    message->stream = out;
    message->place = (int16_t)where;
    message->is_free = !sk_self_is_timed();
    sk_ps began = sk_self.at->clock;
    message->arrival = arrival_of((int)stream->to, where, bytes);
    require_cause(to, message->arrival);
    sk_shared_copy_in(message, parts, n);
    if (stream->last)
        message_at(stream->last)->after = place;
    else
        stream->first = place;
    stream->last = place;
    put(to, message);
    if (to->hears && message->arrival < sk_shared->next[stream->to])
        sk_shared->next[stream->to] = message->arrival;
    if (sk_self_is_timed() && bytes > 0) {
        sk_self.at->messages++;
        sk_self.at->bytes += bytes;
        sk_messages_sent(stream->to, bytes, began, message->arrival);
    }
    sk_shared->events++;
    wake_if_free(to);
    return message;
}

void sk_stream_knock(uint32_t out)
{
    send_locked(out, NULL, 0, 0)->is_knock = 1;
}

bool sk_stream_send(uint32_t out, const struct iovec *parts, int n, int64_t bytes)
{
    sk_shared_lock();
    bool open = !at(out)->is_closed;
    if (open)
        send_locked(out, parts, n, bytes);
    sk_shared_unlock();
    sk_self.empty = sk_self.rooms = sk_self.readings = 0;
    return open;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Takes the first message of a stream away. */
static void drop(struct sk_stream *stream)
{
    struct sk_message *message = message_at(stream->first);
    take_out(&sk_shared->processes[stream->to], message);
    stream->first = message->after;
    if (!stream->first)
        stream->last = 0;
    sk_shared_drop(message);
}

void sk_stream_accept(uint32_t stream, int reader)
{
    const struct sk_message *first = message_at(at(stream)->first);
    at(stream)->reader = reader;
    if (first && first->is_knock)
        drop(at(stream));
}

static int64_t readable(uint32_t in)
{
    const struct sk_message *message = message_at(at(in)->first);
    if (!message || (sk_self_is_timed() && (message->ready == SK_NEVER || message->ready > sk_self.at->clock)))
        return -1;
    return message->length - message->taken;
}

int64_t sk_stream_readable(uint32_t in)
{
    sk_shared_lock();
    int64_t found = readable(in);
    sk_shared_unlock();
    return found;
}

static int64_t copy_out(const struct sk_message *message, const struct iovec *parts, int n)
{
    int64_t done = 0, left = message->length - message->taken;
    for (int i = 0; i < n && done < left; i++) {
        int64_t some = left - done < (int64_t)parts[i].iov_len ? left - done : (int64_t)parts[i].iov_len;
        if (some > 0)
            sk_shared_copy_out(message, message->taken + done, parts[i].iov_base, some);
        done += some;
    }
    return done;
}

int64_t sk_stream_read(uint32_t in, const struct iovec *parts, int n, bool peeks)
{
    sk_shared_lock();
    int64_t found = readable(in);
    if (found > 0) {
        struct sk_message *message = message_at(at(in)->first);
        sk_ps cost = message->is_free ? 0 : sk_shared->machine.network[message->place].overhead;
        found = copy_out(message, parts, n);
        message->taken += peeks ? 0 : found;
        if (message->taken == message->length) {
            drop(at(in));
            if (sk_self_is_timed())
                sk_self.at->clock += cost;
        }
        sk_self.empty = sk_self.readings = 0;
    }
    sk_shared_unlock();
    return found;
}

void sk_stream_end(uint32_t out, uint32_t in)
{
    sk_shared_lock();
    if (!at(out)->is_closed && at(out)->to >= 0)
        send_locked(out, NULL, 0, 0);
    at(in)->is_closed = 1;
    while (at(in)->first)
        drop(at(in));
    sk_shared_unlock();
}
