/* Begin and end of a recorded call. */
#ifndef SK_TRACE_RECORD_H
#define SK_TRACE_RECORD_H

#include "trace/buffer.h"
#include "trace/now.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* The last call path of a wrapper: most calls come from where the last one came from. */
struct sk_place { const void *site; uint32_t parent, path; };

extern bool sk_is_recording; /* between the end of MPI_Init and the end of MPI_Finalize */

void sk_record_begin(int thread_level); /* collective, right after MPI is there */
void sk_record_end(void);               /* after MPI is gone; the trace is complete */
void sk_record_clock(void);             /* collective: measures the offset of the clocks */

void sk_lock(void); /* only with threads that call MPI at the same time */
void sk_unlock(void);

/* Numbers and times the call that begins now, and returns the call path around it; for sk_leave. Unlocks. */
uint32_t sk_enter(struct sk_call *call, struct sk_place *place, uint32_t function, const void *site);
void sk_leave(const struct sk_call *call, uint32_t outer); /* records it; unlocks */

#endif
