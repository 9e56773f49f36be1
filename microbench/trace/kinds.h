/* Numbers in the tables of a trace; scalkit/trace/files/tables.py has the same. */
#ifndef SK_TRACE_KINDS_H
#define SK_TRACE_KINDS_H

#include "trace/scalkit_trace.h"

enum sk_kind {
    SK_PUT = SK_TRACE_PUT, SK_GET = SK_TRACE_GET, SK_ACCUMULATE = SK_TRACE_ACCUMULATE, SK_RMW = SK_TRACE_RMW,
    SK_SENT = SK_TRACE_NOTIFY, SK_RECEIVED = SK_TRACE_NOTIFIED,
    SK_COLLECTIVE /* what a process gives to a collective operation, or to each other one */
};
enum {
    SK_STRIDED = SK_TRACE_STRIDED, SK_VECTOR = SK_TRACE_VECTOR, SK_SYNCHRONOUS = 1 << 16,
    SK_BLOCKING = SK_TRACE_BLOCKING, SK_EXCLUSIVE = 1 << 30,
    SK_NOTIFICATION = 0x7FFFFFFE /* tag of notifications, which no message has */
};

#endif
