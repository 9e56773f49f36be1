/* Calls that a communication library other than MPI tells of. */
#include "trace/define.h"
#include "trace/kinds.h"
#include "trace/record.h"
#include "trace/scalkit_trace.h"

enum { UNKNOWN = UINT32_MAX }; /* number of a call that began while nothing was recorded */

static bool is_outermost(const struct sk_trace_call *call)
{
    return sk_is_recording && call->number != UNKNOWN && sk_depth == 1;
}

void sk_trace_begin(struct sk_trace_call *call, struct sk_trace_function *function, const void *site, int rank)
{
    struct sk_call begun = { .scope = SK_WORLD, .peer = rank };
    *call = (struct sk_trace_call){ .number = UNKNOWN };
    if (!sk_is_recording)
        return;
    sk_lock();
    if (function->region == 0)
        function->region = sk_define_function(function->name);
    call->outer = sk_enter(&begun, &function->place, function->region, site);
    sk_within(begun.number);
    call->enter = begun.enter;
    call->number = begun.number;
    call->path = begun.path;
    call->rank = rank;
}

void sk_trace_transfer(const struct sk_trace_call *call, unsigned what, int rank, int64_t bytes)
{
    unsigned kind = what & 0xFF;
    int32_t tag = kind == SK_SENT || kind == SK_RECEIVED ? SK_NOTIFICATION : 0;
    if (!is_outermost(call) || rank < 0)
        return;
    struct sk_transfer one = { bytes, call->number, call->number, what, SK_WORLD, rank, tag };
    sk_lock();
    if (!sk_filter_is_on || !sk_filter_transfer(&one))
        sk_buffer_transfer(&one);
    sk_unlock();
}

void sk_trace_complete(const struct sk_trace_call *call, uint32_t begun)
{
    if (!is_outermost(call) || begun == UNKNOWN)
        return;
    sk_lock();
    if (!sk_filter_is_on || !sk_filter_completion(call->number, begun))
        sk_buffer_completion(call->number, begun);
    sk_unlock();
}

void sk_trace_end(const struct sk_trace_call *call)
{
    if (!sk_is_recording || call->number == UNKNOWN)
        return;
    struct sk_call ended = { call->enter, sk_now(), call->number, call->path, SK_WORLD, call->rank };
    sk_lock();
    sk_depth--;
    sk_leave(&ended, call->outer);
}
