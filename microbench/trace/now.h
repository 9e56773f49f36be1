/* The clock of the recorder, in ns: CLOCK_MONOTONIC, or the simulated time, which reading does not move. */
#ifndef SK_TRACE_NOW_H
#define SK_TRACE_NOW_H

#include <stdint.h>

#ifdef SK_SIMULATED

double simgrid_get_clock(void);

static inline int64_t sk_now(void)
{
    return (int64_t)(simgrid_get_clock() * 1e9 + 0.5);
}

#else

#include <time.h>

static inline int64_t sk_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif

/* Under a simulator all processes are threads of one; it keeps their static variables apart, not thread-local ones. */
#ifdef SK_SIMULATED
#define SK_PER_THREAD
#else
#define SK_PER_THREAD __thread __attribute__((tls_model("initial-exec")))
#endif

#endif
