/* Begin and end of a recorded call. */
#ifndef SK_TRACE_RECORD_H
#define SK_TRACE_RECORD_H

#include "trace/buffer.h"
#include "trace/filter.h"
#include "trace/lock.h"
#include "trace/now.h"
#include "trace/scalkit_trace.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

extern bool sk_is_recording; /* between the end of MPI_Init and the end of MPI_Finalize */

void sk_record_begin(int thread_level); /* collective, right after MPI is there */
void sk_record_begun(void);             /* after the call that began MPI, which is never left out */
void sk_record_pause(bool is_paused); /* what is called in a pause is left out, and counted */
void sk_record_last(void);              /* collective, before the end: the call that ends MPI is in no other */
void sk_record_end(void);               /* after MPI is gone; the trace is complete */

static inline int64_t sk_record_now(void)
{
    return sk_now();
}

#define SK_NO_CALL { .scope = -1, .peer = -1 }

/* Numbers and times the call that begins now, and returns the call path around it; for sk_leave. Unlocks. `place` is
 * the last call path of a wrapper: most calls come from where the last one came from. */
uint32_t sk_enter(struct sk_call *call, struct sk_trace_place *place, uint32_t function, const void *site);
void sk_leave(const struct sk_call *call, uint32_t outer); /* records it; unlocks */

extern SK_PER_THREAD bool sk_is_nested; /* within a function of Fortran, which is recorded itself */

/* Calls of libraries other than MPI that this thread is in. What is called within the outermost is part of it. */
extern SK_PER_THREAD unsigned sk_depth;
void sk_within(uint32_t number); /* one more; the call of this number, if it is the outermost */

static inline void sk_record_transfer(const struct sk_transfer *transfer)
{
    if (sk_depth == 0 && !(sk_filter_is_on && sk_filter_transfer(transfer)))
        sk_buffer_transfer(transfer);
}

static inline void sk_record_completion(uint32_t call, uint32_t posted)
{
    if (sk_depth == 0 && !(sk_filter_is_on && sk_filter_completion(call, posted)))
        sk_buffer_completion(call, posted);
}

#endif
