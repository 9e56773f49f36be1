/* Notifications of ARMCI, which not every version has: this part is linked only into programs that call them. */
#include "trace/scalkit_trace.h"

int armci_notify(int rank);
int armci_notify_wait(int rank, int *n);
int parmci_notify(int rank);
int parmci_notify_wait(int rank, int *n);

int armci_notify(int rank)
{
    static struct sk_trace_function function = { .name = "armci_notify" };
    struct sk_trace_call call;
    SK_TRACE_BEGIN(&call, &function, rank);
    SK_TRACE_TRANSFER(&call, SK_TRACE_NOTIFY, rank, 0);
    int result = parmci_notify(rank);
    SK_TRACE_END(&call);
    return result;
}

int armci_notify_wait(int rank, int *n)
{
    static struct sk_trace_function function = { .name = "armci_notify_wait" };
    struct sk_trace_call call;
    SK_TRACE_BEGIN(&call, &function, rank);
    int result = parmci_notify_wait(rank, n);
    SK_TRACE_TRANSFER(&call, SK_TRACE_NOTIFIED | SK_TRACE_BLOCKING, rank, 0);
    SK_TRACE_END(&call);
    return result;
}
