/* Numbers in the tables of a trace; scalkit/trace/tables.py has the same. */
#ifndef SK_TRACE_KINDS_H
#define SK_TRACE_KINDS_H

enum sk_kind { SK_PUT = 1, SK_GET, SK_ACCUMULATE, SK_RMW, SK_SENT, SK_RECEIVED };
enum { SK_STRIDED = 1 << 8, SK_VECTOR = 2 << 8, SK_SYNCHRONOUS = 1 << 16, SK_BLOCKING = 1 << 17,
       SK_EXCLUSIVE = 1 << 30 };

#endif
