/* The calls of the layer as a trace has them. events.c hands them to the recorder, which is then linked; silent.c
 * does not. */
#ifndef SK_ONESIDED_EVENTS_H
#define SK_ONESIDED_EVENTS_H

#include "trace/buffer.h"

#include <mpi.h>
#include <stdint.h>

struct sk1s_event { struct sk_call call; uint32_t outer; };

void sk1s_events_begin(MPI_Comm comm); /* transfers are between ranks of this one */

void sk1s_enter(struct sk1s_event *event, const char *name, const void *site, int peer); /* gives it its number */
void sk1s_leave(struct sk1s_event *event);

/* What a call posted, and what it completed; between enter and leave. `kind` as in trace/kinds.h. */
void sk1s_transferred(const struct sk1s_event *event, uint32_t kind, int peer, int64_t bytes);
void sk1s_completed(const struct sk1s_event *event, uint32_t posted);

#endif
