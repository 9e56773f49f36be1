/* What calls of ARMCI began and has not ended yet, so that waits and fences can say what they waited for. */
#ifndef SK_TRACE_ARMCI_PENDING_H
#define SK_TRACE_ARMCI_PENDING_H

#include "trace/scalkit_trace.h"

#include <stdint.h>

/* A transfer that was complete here when its call returned, or that a wait for `handle` (NULL: for all) completes. */
void sk_armci_did(const struct sk_trace_call *call, unsigned what, int rank, int64_t bytes);
void sk_armci_began(const struct sk_trace_call *call, unsigned what, int rank, int64_t bytes, const void *handle);

void sk_armci_waited(const struct sk_trace_call *call, const void *handle);
void sk_armci_waited_for(const struct sk_trace_call *call, int rank); /* all without a handle; -1: of all targets */
void sk_armci_fenced(const struct sk_trace_call *call, int rank);     /* puts are there; -1: at all targets */
void sk_armci_met(void); /* the same, but the call waited for calls of others, not for progress */

#endif
