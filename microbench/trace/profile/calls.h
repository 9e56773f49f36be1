/* A profile: calls, time and bytes of each place that calls a function of MPI, and no trace. The same words as
 * trace/record.h has them, so that wrap.c makes the functions of both.
 *
 * The totals lie in a file that is mapped, so they survive a process that is killed. docs/file-formats.md describes
 * it. */
#ifndef SK_TRACE_PROFILE_CALLS_H
#define SK_TRACE_PROFILE_CALLS_H

#include "trace/functions.h"
#include "trace/now.h"
#include "trace/scalkit_trace.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

struct sk_call { int64_t enter, leave, bytes; struct sk_trace_place *place; const void *site; uint32_t function; };

#define SK_NO_CALL { .bytes = 0 }

extern bool sk_is_recording; /* between the end of MPI_Init and the end of MPI_Finalize */
extern bool sk_counts_ticks; /* of the processor, which takes half as long as reading the clock of the system */
extern SK_PER_THREAD bool sk_is_nested; /* within a function of Fortran, which is counted itself */

void sk_record_begin(int thread_level); /* collective, right after MPI is there */
void sk_record_begun(void);
void sk_record_pause(bool is_paused); /* what is called in a pause is not counted, but how often */
void sk_record_end(void);               /* after MPI is gone; the profile is complete */
void sk_profile_add(const struct sk_call *call);

static inline int64_t sk_record_now(void)
{
#ifdef __x86_64__
    if (sk_counts_ticks)
        return (int64_t)__rdtsc();
#endif
    return sk_now();
}

static inline void sk_record_last(void)
{
    sk_record_pause(false);
}

static inline void sk_lock(void) /* sk_profile_add does, where threads call MPI at the same time */
{
}

static inline uint32_t sk_enter(struct sk_call *call, struct sk_trace_place *place, uint32_t function, const void *site)
{
    call->place = place;
    call->function = function;
    call->site = site;
    call->enter = sk_record_now();
    return 0;
}

static inline void sk_leave(const struct sk_call *call, uint32_t outer)
{
    (void)outer;
    if (sk_is_recording)
        sk_profile_add(call);
}

#endif
